"""Figure 10 (b): a long spike over two paths: plain SCTP."""

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts, micro, settings

ARTEFACT = micro.figure(
    "10b",
    "A long spike over two paths: plain SCTP",
    {
        "drawn": micro.association(settings.PLAIN, settings.LONG_SPIKE_S, paths=2),
    },
    Claim("the timer expires once, needlessly", facts.number("spurious_timeouts", lambda count: count == 1)),
    Claim(
        "retransmissions arrive before the originals",
        facts.of(lambda result: facts.overtaken(result)[0] > 0),
    ),
)
