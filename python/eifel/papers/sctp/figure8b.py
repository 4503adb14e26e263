"""Figure 8 (b): DupTSN on a spurious timeout."""

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts, micro, settings

ARTEFACT = micro.figure(
    "8b",
    "A spurious timeout: DupTSN (one path)",
    {
        "drawn": micro.association(settings.DUP_TSN, settings.SHORT_SPIKE_S),
        "eifel": micro.association(settings.EIFEL, settings.SHORT_SPIKE_S),
    },
    Claim("the timeout is told to be spurious", facts.number("detected_spurious", lambda count: count == 1)),
    Claim("go-back-N is not avoided", facts.of(facts.window_sent_again)),
    Claim(
        "less of the window is restored than with Eifel",
        lambda m: facts.restored(m.result(run="drawn")) < facts.restored(m.result(run="eifel")),
    ),
)
