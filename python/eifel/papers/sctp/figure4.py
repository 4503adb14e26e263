"""Figure 4: a long spike, and two paths."""

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts, micro, settings
from eifel.result import Result


def _all_overtake(result: Result) -> bool:
    first, sent = facts.overtaken(result)
    return sent > 0 and first == sent


ARTEFACT = micro.figure(
    "4",
    "A spike so long that the alternate path delivers first (plain SCTP)",
    {"drawn": micro.association(settings.PLAIN, settings.LONG_SPIKE_S, paths=2)},
    Claim("all retransmissions go to the alternate path", facts.of(facts.all_on(facts.ALTERNATE))),
    Claim("all of them are needless", facts.of(facts.all_needless)),
    Claim("the entire go-back-N arrives before the originals", facts.of(_all_overtake)),
    known=(
        "The paper gives no length of the spike. With 1.8 s, 19 of 45 retransmissions overtake their originals; the "
        "alternate's slow start has sent all of them 1 s after the timeout. ns-2.35 sends 35 again with any of these "
        "lengths, because its spike holds less data, between queue and transmitter (docs/ns2.md).",
    ),
)
