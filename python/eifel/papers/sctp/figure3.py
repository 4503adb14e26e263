"""Figure 3: a spurious timeout over two paths, and an overgrown window."""

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts, micro, settings

_DEAD = {"links": ["path-2", "path-2-back"], "holds": "arriving", "at": [{"start_s": 5, "length_s": 1000}]}


def _run(credit: str = "last-path", protocol: settings.Sctp = settings.PLAIN) -> dict[str, object]:
    choosing = {**protocol, "sender": {**protocol["sender"], "credit": credit}}
    scenario = micro.association(choosing, settings.SHORT_SPIKE_S, paths=2)
    # An outage here is a spike whose packets would arrive after the run.
    return {**scenario, "spike": [*scenario["spike"], _DEAD]}


ARTEFACT = micro.figure(
    "3",
    "A spike on the primary path while the alternate is dead: the alternate's window overgrows (plain SCTP)",
    {
        "drawn": _run(),
        "unambiguous": _run("unambiguous"),
        "evidence": _run("evidence"),
        "eifel": _run(protocol=settings.EIFEL_OR_DUP_TSN),
    },
    Claim("all retransmissions go to the alternate path", facts.of(facts.all_on(facts.ALTERNATE))),
    Claim("all of them are needless", facts.of(facts.all_needless)),
    Claim(
        "none of them arrives",
        facts.of(lambda result: bool((facts.again(result)["arrived_ns"] < 0).all())),
    ),
    Claim(
        "the alternate's congestion window grows on ACKs for the originals, more than fourfold",
        facts.of(lambda result: facts.growth(result) > 4),
    ),
    Claim(
        "Eifel avoids the overgrowth: its alternate grows to a third of plain SCTP's at most",
        lambda m: facts.growth(m.result(run="eifel")) < facts.growth(m.result(run="drawn")) / 3,
    ),
    Claim(
        "without any detection, growth by unambiguous ACKs only avoids it: the alternate does not grow",
        lambda m: facts.growth(m.result(run="unambiguous")) <= 1,
    ),
    known=("ns-2.35 sends 44 chunks again here, and the alternate's window grows from 4380 to 24 912 bytes.",),
)
