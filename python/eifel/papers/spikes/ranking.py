"""The ranking in table I: each sender's share of the best, over equal spikes for all senders."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.papers import published
from eifel.papers.artefact import Artefact, Row
from eifel.papers.spikes import settings
from eifel.papers.study import Effort
from eifel.runs import Runs
from eifel.statistics import Mean, mean_interval
from eifel.tables import Frame

_BANDS = {"low": settings.LOW_KBPS, "high": settings.HIGH_KBPS}
PRINTED = {tuple(keys): order for *keys, order in published.table("spikes", "table1")["rows"]}
"""The senders of each cell, best first."""
GRID = [
    (case, band, window, kbps, sender)
    for case, band, window in PRINTED
    for kbps in _BANDS[band]
    for sender in settings.SENDERS
]
_OWN = -1
"""The repetition number of the run over the paper's own spike."""


def find(effort: Effort) -> Mapping[str, NDArray[Any]]:
    """Runs each sender in each case, over the paper's own spike and over drawn ones. Returns the delivered bytes."""
    from eifel.runs import run_many

    def scenarios(spike: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [
            {**settings.scenario(sender, kbps, window, case, spike=spike), "seed": effort.seed}
            for case, _, window, kbps, sender in GRID
        ]

    own = run_many(scenarios(settings.one_spike()), repetitions=1, threads=effort.threads)
    drawn = run_many(
        scenarios(settings.drawn_spike()),
        repetitions=effort.repetitions,
        threads=effort.threads,
        progress=effort.progress,
    )
    return {
        "scenario": np.concatenate([own["scenario"], drawn["scenario"]]),
        "repetition": np.concatenate([np.full(len(GRID), _OWN), drawn["repetition"]]),
        "bytes": np.concatenate([own["bytes"], drawn["bytes"]]),
    }


def measure(artefact: Artefact, found: Runs) -> list[dict[str, Mean]]:
    """Returns, for each cell and band, means of each repetition's share of the best mean delivery."""
    runs = Frame(found.columns)
    drawn, own = runs.rows(found["repetition"] != _OWN), runs.rows(found["repetition"] == _OWN)
    return [
        {**_row(row, drawn), **{f"own_{name}": mean for name, mean in _row(row, own).items() if name != "lead"}}
        for row in artefact.rows
    ]


def _row(row: Row, runs: Frame) -> dict[str, Mean]:
    """Returns the share of a row of the table, and among the paper's three its rank and its lead over the next."""

    def segments(cell: tuple[str, str, str, float, str]) -> NDArray[Any]:
        found: NDArray[Any] = runs["bytes"][runs["scenario"] == GRID.index(cell)] / settings.PAYLOAD_BYTES
        return found

    def shares(case: str, band: str, window: str, sender: str) -> NDArray[Any]:
        each = []
        for kbps in _BANDS[band]:
            best = max(segments((case, band, window, kbps, other)).mean() for other in settings.PAPERS)
            each.append(100 * segments((case, band, window, kbps, sender)) / best)
        mean: NDArray[Any] = np.mean(each, axis=0)
        return mean

    keys = {name: str(value) for name, value in row.keys.items()}
    cell, sender = (keys["case"], keys["bandwidth"], keys["window"]), keys["sender"]
    share = shares(*cell, sender)
    means = {"share": mean_interval(share)}
    order = PRINTED[cell]
    if sender in order:
        papers = sorted(order, key=lambda other: -float(shares(*cell, other).mean()))
        means["rank"] = mean_interval([papers.index(sender) + 1])
        following = order.index(sender) + 1
        if following < len(order):
            means["lead"] = mean_interval(share - shares(*cell, order[following]))
    return means
