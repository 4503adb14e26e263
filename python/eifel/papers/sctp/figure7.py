"""Figure 7: a spurious fast retransmit with (a) Eifel, (b) DupTSN."""

from eifel.papers.artefact import Claim
from eifel.papers.claims import count
from eifel.papers.sctp import facts, micro, settings

_EIFEL, _DUP_TSN = micro.reordered(settings.EIFEL), micro.reordered(settings.DUP_TSN)
_DETECTED = Claim("the fast retransmit is detected as spurious", count("detected_spurious", 1))

FIGURE_7A = micro.figure(
    "7a",
    "A reordered packet: Eifel (one path)",
    {"drawn": _EIFEL, "plain": micro.reordered(settings.PLAIN), "dup-tsn": _DUP_TSN},
    _DETECTED,
    Claim("the window is restored", count("undos", 1)),
    Claim(
        "goodput increases significantly compared to plain SCTP: by 5 % at least in these 10 s",
        lambda m: m.mean("segments_sent", run="drawn") > 1.05 * m.mean("segments_sent", run="plain"),
    ),
    Claim(
        "it decides before the DupTSN report comes",
        lambda m: facts.verdict_s(m.result(run="drawn")) < facts.verdict_s(m.result(run="dup-tsn")),
    ),
)
FIGURE_7B = micro.figure(
    "7b",
    "A reordered packet: DupTSN (one path)",
    {"drawn": _DUP_TSN, "eifel": _EIFEL},
    _DETECTED,
    Claim("less of the window can be restored than with Eifel, since less is in flight", facts.restores_less("eifel")),
)
