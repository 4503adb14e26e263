"""A receiver's gain from the best lie that a search finds: its goodput over an honest one's, by detector."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Row, Setting, Studied
from eifel.papers.study import Effort, Progress, Study
from eifel.runs import Runs
from eifel.statistics import Mean
from eifel.studies import cheating, liar_search
from eifel.studies.cheating import DEFAULT, DETECTORS, DURATION_S, LOSSES, PLAIN, scenario

RUNS = 2000
BOUND = 1.05
GRANTS = ("once-a-round-trip", "always")
SENDERS = tuple((detect, grant, loss) for detect in DETECTORS for grant in GRANTS for loss in LOSSES)


def _find(effort: Effort) -> Mapping[str, Any]:
    """Searches for each sender and loss rate, and judges the findings with other runs."""

    def one(number: int, progress: Progress) -> dict[str, Any]:
        detect, grant, loss = SENDERS[number]
        honest = scenario(detect, "rfc4015", grant, loss, "none")
        liar, lying = liar_search.best(honest, RUNS, effort, progress)
        goodput = liar_search.judged([honest, lying], effort)
        return {
            "sender": np.full(goodput.shape[1], number),
            "honest_bps": goodput[0],
            "lying_bps": goodput[1],
            "liar": np.full(goodput.shape[1], liar),
        }

    definition = {"senders": SENDERS, "runs": RUNS, "scenario": scenario(DEFAULT, "rfc4015", "always", 0, "none")}
    return effort.parts("liars found", definition, [RUNS] * len(SENDERS), one)


def _measure(_: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    return cheating.gains(runs, "sender", len(SENDERS))


def _most(measured: Measured, detect: str) -> float:
    return max(row.means["gain"].mean for row in measured.rows if row.row.keys["detect"] == detect)


ARTEFACT = Artefact(
    id="detectors.liars_found",
    title="Goodput of the best liar that a search finds, over an honest receiver's",
    source="this project; docs/internals/liars.md",
    columns=(Column("gain", "Gain", digits=2),),
    rows=tuple(Row({"detect": detect, "grant": grant, "loss": loss}) for detect, grant, loss in SENDERS),
    method=Studied(
        Study(_find, {"senders": SENDERS, "runs": RUNS}, (cheating, liar_search)),
        measure=_measure,
        repetitions=40,
        long=True,
    ),
    fitted=(
        Setting("path", "10 Mbit/s, 100 ms, 80 packets, random loss", "that of detectors.liars"),
        Setting("transfer", f"{DURATION_S} s", "hundreds of losses"),
        Setting("search", f"{RUNS} runs a row, half at random, half uphill", "minutes in all"),
    ),
    claims=(
        Claim(
            "no liar that 2000 runs of search find gains 5 % against the default, or with the second ACK"
            " (eifel-or-f-rto), with an undo a round trip or as many as there are",
            lambda m: all(_most(m, detect) <= BOUND for detect in (DEFAULT, "eifel-or-f-rto")),
        ),
        Claim(
            "the same search finds a liar that more than doubles its goodput against RFC 3522's plain comparison, and"
            " one against DSACK",
            lambda m: all(_most(m, detect) > 2 for detect in (PLAIN, "dsack")),
        ),
    ),
)
