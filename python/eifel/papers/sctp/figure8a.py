"""Figure 8 (a): Eifel on a spurious timeout."""

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts, micro, settings

_RUNS = {
    "drawn": micro.association(settings.EIFEL, settings.SHORT_SPIKE_S),
    "plain": micro.association(settings.PLAIN, settings.SHORT_SPIKE_S),
    "bit": micro.association(settings.EIFEL_BIT, settings.SHORT_SPIKE_S),
}

ARTEFACT = micro.figure(
    "8a",
    "A spurious timeout: Eifel (one path)",
    _RUNS,
    Claim("the timeout is told to be spurious", facts.number("detected_spurious", lambda count: count == 1)),
    Claim("one chunk is sent again, and no more", facts.number("retransmissions", lambda count: count == 1)),
    Claim(
        "more is sent than by plain SCTP",
        lambda m: facts.sent_after_spike(m, "drawn") > facts.sent_after_spike(m, "plain"),
    ),
    Claim(
        "the retransmit bit, which the paper did not run, does as well",
        lambda m: m.mean("retransmissions", run="bit") == 1 and m.mean("undos", run="bit") == 1,
    ),
)
