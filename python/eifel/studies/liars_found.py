"""A receiver's gain from the best lie that a search finds: its goodput over an honest one's, by detector."""

from collections.abc import Mapping
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Column, Row, Setting, Studied
from eifel.papers.study import Effort, Study
from eifel.studies import cheating, liar_search
from eifel.studies.cheating import DEFAULT, DETECTORS, LOSSES, PLAIN, scenario

RUNS = 2000
GRANTS = ("once-a-round-trip", "always")
SENDERS = tuple((detect, grant, loss) for detect in DETECTORS for grant in GRANTS for loss in LOSSES)


_DESIGN = {"senders": SENDERS, "scenario": scenario(DEFAULT, "rfc4015", "always", 0.01, "none")}


def _find(effort: Effort) -> Mapping[str, Any]:
    honest = [scenario(detect, "rfc4015", grant, loss, "none") for detect, grant, loss in SENDERS]
    return liar_search.find(effort, "liars found", honest, RUNS, _DESIGN)


ARTEFACT = Artefact(
    id="detectors.liars_found",
    title="Goodput of the best liar that a search finds, over an honest receiver's",
    source="this project; docs/internals/liars.md",
    columns=(Column("gain", "Gain", digits=2),),
    rows=tuple(Row({"detect": detect, "grant": grant, "loss": loss}) for detect, grant, loss in SENDERS),
    method=Studied(
        Study(_find, {**_DESIGN, "runs": RUNS}, (cheating, liar_search)),
        measure=cheating.gains,
        repetitions=40,
        long=True,
    ),
    fitted=(
        *cheating.LEFT_OPEN,
        Setting("search", f"{RUNS} runs a row, half at random, half uphill", "minutes in all"),
    ),
    claims=(
        Claim(
            "no liar that 2000 runs of search find gains 5 % against the default, or with the second ACK"
            " (eifel-or-f-rto), with an undo a round trip or as many as there are",
            lambda m: all(cheating.most(m, detect=detect) <= cheating.BOUND for detect in (DEFAULT, "eifel-or-f-rto")),
        ),
        Claim(
            "the same search finds a liar that more than doubles its goodput against RFC 3522's plain comparison, and"
            " one against DSACK",
            lambda m: all(cheating.most(m, detect=detect) > 2 for detect in (PLAIN, "dsack")),
        ),
    ),
)
