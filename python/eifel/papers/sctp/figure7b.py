"""Figure 7 (b): DupTSN on a spurious fast retransmit."""

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts, micro, settings

ARTEFACT = micro.figure(
    "7b",
    "A reordered packet: DupTSN (one path)",
    {"drawn": micro.reordered(settings.DUP_TSN), "eifel": micro.reordered(settings.EIFEL)},
    Claim("the fast retransmit is told to be spurious", facts.number("detected_spurious", lambda count: count == 1)),
    Claim(
        "less of the window can be restored than with Eifel, since less is in flight",
        lambda m: facts.restored(m.result(run="drawn")) < facts.restored(m.result(run="eifel")),
    ),
)
