"""Figure 9: SCTP over a spike with losses. Go-back-N retransmits the lost chunks."""

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts
from eifel.papers.spikes import drawn

ARTEFACT = drawn.figure(
    9,
    "SCTP in a delay spike with packet loss",
    {"drawn": drawn.lossy("sctp"), "no losses": drawn.lossy("sctp", "spike")},
    Claim("10 segments are dropped by the queue", facts.number("drops", lambda count: count == 10)),
    Claim("go-back-N recovers the lost segments", facts.of(drawn.lost_come_again_by_timeout)),
    Claim("the loss has not much effect: a tenth of what is delivered at most", drawn.costs_little),
)
