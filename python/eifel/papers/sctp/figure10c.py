"""Figure 10 (c): a short spike over two paths: Eifel."""

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts, micro, settings

ARTEFACT = micro.figure(
    "10c",
    "A short spike over two paths: Eifel",
    {
        "drawn": micro.association(settings.EIFEL_OR_DUP_TSN, settings.SHORT_SPIKE_S, paths=2),
        "plain": micro.association(settings.PLAIN, settings.SHORT_SPIKE_S, paths=2),
    },
    Claim("the timeout is told to be spurious", facts.number("detected_spurious", lambda count: count == 1)),
    Claim(
        "few chunks are sent again",
        lambda m: m.mean("retransmissions", run="drawn") < m.mean("retransmissions", run="plain") / 2,
    ),
    Claim(
        "goodput after the spike is more than twice plain SCTP's",
        lambda m: facts.sent_after_spike(m, "drawn") > 2 * facts.sent_after_spike(m, "plain"),
    ),
    Claim(
        "it is more than twice plain SCTP's in the first 4.5 s from the spike on",
        lambda m: facts.sent_after_spike(m, "drawn", 4.5) > 2 * facts.sent_after_spike(m, "plain", 4.5),
    ),
    Claim(
        "the alternate's window does not overgrow",
        lambda m: facts.growth(m.result(run="drawn")) < 0.5 * facts.growth(m.result(run="plain")),
    ),
    known=(
        "The factor depends on the time that the figure shows, which is not stated. From the spike on Eifel sends 96 "
        "new chunks in 2 s and plain SCTP 22, 306 and 137 in 4.5 s, 390 and 215 in 5.5 s, up to 16 s.",
    ),
)
