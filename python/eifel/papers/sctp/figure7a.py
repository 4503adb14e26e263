"""Figure 7 (a): Eifel on a spurious fast retransmit."""

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts, micro, settings

_RUNS = {
    "drawn": micro.reordered(settings.EIFEL),
    "plain": micro.reordered(settings.PLAIN),
    "dup-tsn": micro.reordered(settings.DUP_TSN),
}

ARTEFACT = micro.figure(
    "7a",
    "A reordered packet: Eifel (one path)",
    _RUNS,
    Claim("the fast retransmit is told to be spurious", facts.number("detected_spurious", lambda count: count == 1)),
    Claim("the window is restored", facts.number("undos", lambda count: count == 1)),
    Claim(
        "goodput increases significantly compared to plain SCTP: by 5 % at least in these 10 s",
        lambda m: m.mean("segments_sent", run="drawn") > 1.05 * m.mean("segments_sent", run="plain"),
    ),
    Claim(
        "it decides before the DupTSN report comes",
        lambda m: facts.verdict_s(m.result(run="drawn")) < facts.verdict_s(m.result(run="dup-tsn")),
    ),
)
