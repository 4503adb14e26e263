"""Figure 7: Reno over a spike with losses. Go-back-N retransmits the lost segments."""

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts
from eifel.papers.spikes import drawn

ARTEFACT = drawn.figure(
    7,
    "TCP Reno in a delay spike with packet loss (bug fix on)",
    {"drawn": drawn.lossy("reno"), "no losses": drawn.lossy("reno", "spike")},
    Claim("at the end of the spike 60 segments are released", facts.of(lambda result: drawn.held(result) == 60)),
    Claim("10 segments are dropped by the queue", facts.number("drops", lambda count: count == 10)),
    Claim("there is a timeout during the spike", facts.number("spurious_timeouts", lambda count: count == 1)),
    Claim("go-back-N recovers the lost segments", facts.of(drawn.lost_come_again_by_timeout)),
    Claim("the loss has not much effect: a tenth of what is delivered at most", drawn.costs_little),
)
