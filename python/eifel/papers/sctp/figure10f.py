"""Figure 10 (f): a long spike over two paths: DupTSN."""

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts, micro, settings

ARTEFACT = micro.figure(
    "10f",
    "A long spike over two paths: DupTSN",
    {
        "drawn": micro.association(settings.DUP_TSN, settings.LONG_SPIKE_S, paths=2),
        "eifel": micro.association(settings.EIFEL_OR_DUP_TSN, settings.LONG_SPIKE_S, paths=2),
    },
    Claim("the timeout is told to be spurious", facts.number("detected_spurious", lambda count: count == 1)),
    Claim(
        "it is identical to figure 10 (d), but for 12 bytes of user data in a chunk: as many are sent again",
        lambda m: abs(m.mean("retransmissions", run="drawn") - m.mean("retransmissions", run="eifel")) <= 1,
    ),
)
