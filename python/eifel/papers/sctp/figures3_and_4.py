"""Figures 3 and 4: a spurious timeout over two paths: an overgrown window, and a faster alternate path."""

from eifel.papers.artefact import Claim
from eifel.papers.claims import of
from eifel.papers.sctp import facts, micro, settings
from eifel.result import Result

_DEAD = {"links": ["path-2", "path-2-back"], "holds": "arriving", "at": [{"start_s": 5, "length_s": 1000}]}
"""An outage here is a spike whose packets would arrive after the run."""
_COMMON = (
    Claim("all retransmissions go to the alternate path", of(facts.all_on(facts.ALTERNATE))),
    Claim("all of them are needless", of(facts.all_needless)),
)


def _run(credit: str = "last-path", protocol: settings.Sctp = settings.PLAIN) -> dict[str, object]:
    choosing = {**protocol, "sender": {**protocol["sender"], "credit": credit}}
    scenario = micro.association(choosing, settings.SHORT_SPIKE_S, paths=2)
    return {**scenario, "spike": [*scenario["spike"], _DEAD]}


def _all_overtake(result: Result) -> bool:
    first, sent = facts.overtaken(result)
    return sent > 0 and first == sent


FIGURE_3 = micro.figure(
    "3",
    "A spike on the primary path while the alternate is dead: the alternate's window overgrows (plain SCTP)",
    {
        "drawn": _run(),
        "unambiguous": _run("unambiguous"),
        "evidence": _run("evidence"),
        "eifel": _run(protocol=settings.EIFEL_OR_DUP_TSN),
    },
    *_COMMON,
    Claim("none of them arrives", of(lambda result: bool((facts.again(result)["arrived_ns"] < 0).all()))),
    Claim(
        "the alternate's congestion window grows on ACKs for the originals, more than fourfold",
        of(lambda result: facts.growth(result) > 4),
    ),
    Claim(
        "Eifel avoids the overgrowth: its alternate grows to a third of plain SCTP's at most",
        lambda m: facts.growth(m.result(run="eifel")) < facts.growth(m.result(run="drawn")) / 3,
    ),
    Claim(
        "without any detection, growth by unambiguous ACKs only avoids it: the alternate does not grow",
        lambda m: facts.growth(m.result(run="unambiguous")) <= 1,
    ),
)
FIGURE_4 = micro.figure(
    "4",
    "A spike so long that the alternate path delivers first (plain SCTP)",
    {"drawn": micro.association(settings.PLAIN, settings.LONG_SPIKE_S, paths=2)},
    *_COMMON,
    Claim("the entire go-back-N arrives before the originals", of(_all_overtake)),
)
