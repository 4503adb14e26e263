"""Figure 4: a long spike, and two paths."""

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts, micro, settings
from eifel.result import Result


def _most_overtake(result: Result) -> bool:
    first, sent = facts.overtaken(result)
    return first >= 0.75 * sent


ARTEFACT = micro.figure(
    "4",
    "A spike so long that the alternate path delivers first (plain SCTP)",
    {"drawn": micro.association(settings.PLAIN, settings.LONG_SPIKE_S, paths=2)},
    Claim("all retransmissions go to the alternate path", facts.of(facts.all_on(facts.ALTERNATE))),
    Claim("all of them are needless", facts.of(facts.all_needless)),
    Claim("retransmissions arrive before the originals, three in four at least", facts.of(_most_overtake)),
    known=("In ns-2.35 34 of 35 retransmissions overtake their originals.",),
)
