"""Figure 10 (d): a long spike over two paths: Eifel falls back on DupTSN."""

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts, micro, settings

ARTEFACT = micro.figure(
    "10d",
    "A long spike over two paths: Eifel falls back on DupTSN",
    {
        "drawn": micro.association(settings.EIFEL_OR_DUP_TSN, settings.LONG_SPIKE_S, paths=2),
        "plain": micro.association(settings.PLAIN, settings.LONG_SPIKE_S, paths=2),
        "timestamps alone": micro.association(settings.EIFEL, settings.LONG_SPIKE_S, paths=2),
    },
    Claim("the timeout is told to be spurious", facts.number("detected_spurious", lambda count: count == 1)),
    Claim(
        "timestamps alone do not tell it: the ACK of the retransmission comes first",
        lambda m: m.mean("detected_spurious", run="timestamps alone") == 0,
    ),
    Claim(
        "go-back-N cannot be avoided: as many chunks are sent again as by plain SCTP, of 12 bytes less user data each",
        lambda m: abs(m.mean("retransmissions", run="drawn") - m.mean("retransmissions", run="plain")) <= 1,
    ),
)
