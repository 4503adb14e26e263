"""The judged detectors: side by side in the same runs, or each alone if they ask for probes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from eifel.papers import rfc3522
from eifel.studies import judged
from eifel.studies.mix import Situation
from eifel.studies.watchers import acting, watching

if TYPE_CHECKING:
    from collections.abc import Callable

    from eifel.papers.study import Effort

BATCH = 50
"""The number of points that are run before their results are stored."""


RUNS = (
    watching({name: name for name in ("eifel-timestamps", "eifel-bit", "dsack", "dual-rtt", "min-rtt")}),
    # Equal to the runs above, packet by packet, since observers change nothing. A registry name can
    # observe only once per run.
    watching(
        {
            "eifel-timestamps (plain)": dict(rfc3522.PLAIN),
            "min-rtt (half SRTT)": {"name": "min-rtt", "limit": "half-srtt"},
        }
    ),
    acting("f-rto"),
    acting("f-rto-sack"),
    acting("eifel-or-f-rto"),
)
SIDE_BY_SIDE = tuple(RUNS[0].detectors)
"""The detectors that can be each other's fallback, since they saw the same episodes."""
DETECTORS = tuple(name for runs in RUNS for name in runs.detectors)
"""All detectors, in the order of the codes in the column `detector`."""


def episodes(
    effort: Effort, title: str, situations: Sequence[Situation], asked: Mapping[str, Any] | None = None
) -> judged.Columns:
    """Returns every episode of every point of these situations, with every detector's verdict.

    The rows are those of `judged.judged` with the columns `situation` and `point`. More repetitions
    are more points. `asked` identifies the stored results, and defaults to `design`.
    """
    batches = [
        (place, range(first, min(first + BATCH, situation.points * effort.repetitions)))
        for place, situation in enumerate(situations)
        for first in range(0, situation.points * effort.repetitions, BATCH)
    ]
    threads = effort.threads or os.cpu_count() or 1

    def find(number: int, tell: Callable[[int], object]) -> judged.Columns:
        place, points = batches[number]
        done = []
        with ThreadPoolExecutor(threads) as pool:
            for rows in pool.map(lambda point: point_columns(situations[place], effort.seed, point), points):
                done.append(rows)
                tell(len(done))
        columns = {name: np.concatenate([rows[name] for rows in done]) for name in done[0]}
        return {"situation": np.full(len(columns["point"]), place, np.int8), **columns}

    table = effort.parts(title, asked or design(situations), [len(points) for _, points in batches], find)
    return {name: table[name].to_numpy() for name in table.column_names}


def design(situations: Sequence[Situation]) -> dict[str, Any]:
    """Returns a short description of what the episodes depend on, with the first two scenarios of each situation."""
    return {
        "points": {situation.name: situation.points for situation in situations},
        "runs": [{"sender": dict(runs.sender), "detectors": dict(runs.detectors)} for runs in RUNS],
        "examples": [situation.scenario(1, point, {}) for situation in situations for point in (0, 1)],
    }


def point_columns(situation: Situation, seed: int, point: int) -> judged.Columns:
    """Returns the verdicts of all detectors in the scenario of a point."""
    from eifel.runs import run

    parts = []
    there = [runs.there(situation.scenario(seed, point, runs.sender)) for runs in RUNS]
    for runs in (runs for runs in there if runs.detectors):
        result = run(situation.scenario(seed, point, runs.sender), record=judged.TABLES)
        columns = judged.judged(result, runs.detectors)
        codes = np.array([DETECTORS.index(name) for name in runs.detectors], np.int8)
        parts.append({**columns, "detector": codes[columns["detector"]]})
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return {"point": np.full(len(joined["detector"]), point, np.int32), **joined}
