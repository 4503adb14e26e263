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
    known=(
        "New data on the primary path overtakes what waits on the alternate. So RFC 3708's detector sees later data "
        "acknowledged before all duplicates are reported, and a round trip later it calls the episode genuine.",
    ),
)
