"""Figure 10 (a): a short spike over two paths: plain SCTP."""

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts, micro, settings

ARTEFACT = micro.figure(
    "10a",
    "A short spike over two paths: plain SCTP",
    {
        "drawn": micro.association(settings.PLAIN, settings.SHORT_SPIKE_S, paths=2),
    },
    Claim("the timer expires once, needlessly", facts.number("spurious_timeouts", lambda count: count == 1)),
    Claim("the N chunks outstanding are sent again, needlessly", facts.of(facts.window_sent_again)),
)
