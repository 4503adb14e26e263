"""The ranking in table I: each sender's share of the best, over equal spikes for all senders."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.papers import published
from eifel.papers.artefact import Artefact
from eifel.papers.spikes import settings
from eifel.papers.study import Effort
from eifel.runs import Runs
from eifel.statistics import Mean, mean_interval

_BANDS = {"low": settings.LOW_KBPS, "high": settings.HIGH_KBPS}
PRINTED = {tuple(keys): order for *keys, order in published.table("spikes", "table1")["rows"]}
"""The senders of each cell, best first."""
GRID = [
    (case, band, window, kbps, sender)
    for case, band, window in PRINTED
    for kbps in _BANDS[band]
    for sender in settings.SENDERS
]


def find(effort: Effort) -> Mapping[str, NDArray[Any]]:
    """Runs each sender in each case, and returns the delivered bytes of each run."""
    from eifel.runs import run_many

    scenarios = [
        {**settings.scenario(sender, kbps, window, case), "seed": effort.seed} for case, _, window, kbps, sender in GRID
    ]
    runs = run_many(scenarios, repetitions=effort.repetitions, threads=effort.threads, progress=effort.progress)
    return {"scenario": runs["scenario"], "repetition": runs["repetition"], "bytes": runs["bytes"]}


def measure(artefact: Artefact, found: Runs) -> list[dict[str, Mean]]:
    """Returns, for each cell and band, means of each repetition's share of the best mean delivery."""
    count = int(found["repetition"].max()) + 1
    segments = {
        cell: found["bytes"][found["scenario"] == number] / settings.PAYLOAD_BYTES for number, cell in enumerate(GRID)
    }

    def shares(case: str, band: str, window: str, sender: str) -> NDArray[Any]:
        best = {
            kbps: max(segments[case, band, window, kbps, other].mean() for other in settings.PAPERS)
            for kbps in _BANDS[band]
        }
        each = [100 * segments[case, band, window, kbps, sender] / best[kbps] for kbps in _BANDS[band]]
        mean: NDArray[Any] = np.mean(each, axis=0)
        assert len(mean) == count
        return mean

    measured = []
    for row in artefact.rows:
        keys = {name: str(value) for name, value in row.keys.items()}
        cell, sender = (keys["case"], keys["bandwidth"], keys["window"]), keys["sender"]
        own = shares(*cell, sender)
        means = {"share": mean_interval(own)}
        order = PRINTED[cell]
        if sender in order:
            papers = sorted(order, key=lambda other: -float(shares(*cell, other).mean()))
            means["rank"] = mean_interval([papers.index(sender) + 1])
            following = order.index(sender) + 1
            if following < len(order):
                means["lead"] = mean_interval(own - shares(*cell, order[following]))
        measured.append(means)
    return measured
