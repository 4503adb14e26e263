"""Figure 10 (e): a short spike over two paths: DupTSN."""

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts, micro, settings

ARTEFACT = micro.figure(
    "10e",
    "A short spike over two paths: DupTSN",
    {
        "drawn": micro.association(settings.DUP_TSN, settings.SHORT_SPIKE_S, paths=2),
    },
    Claim("the timeout is told to be spurious", facts.number("detected_spurious", lambda count: count == 1)),
    Claim("go-back-N is not avoided", facts.of(facts.window_sent_again)),
)
