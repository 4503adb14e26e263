"""The judged detectors: side by side in the same runs, or each alone if they ask for probes."""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from eifel.papers import rfc3522
from eifel.papers.study import Effort
from eifel.runs import run
from eifel.studies import judged
from eifel.studies.mix import Situation

BATCH = 50
"""The number of points that are run before their results are stored."""
BY_TIMESTAMPS = ("eifel-timestamps", "eifel-or-f-rto")
"""The detectors that a connection without timestamps refuses."""


@dataclass(frozen=True)
class Runs:
    """Runs that judge detectors: the sender's algorithms, and the registry names of the detectors by displayed name."""

    sender: Mapping[str, Any]
    detectors: Mapping[str, str]

    def there(self, scenario: Mapping[str, Any]) -> "Runs":
        """Returns the runs without the detectors that need timestamps, if the scenario has none."""
        if scenario["flow"][0]["tcp"].get("timestamps", True):
            return self
        names = {shown: name for shown, name in self.detectors.items() if name not in BY_TIMESTAMPS}
        watchers = self.sender.get("observers", ())
        left = [one for one in watchers if (one if isinstance(one, str) else one["name"]) not in BY_TIMESTAMPS]
        return Runs({**self.sender, **({"observers": left} if watchers else {})}, names)


def watching(detectors: Mapping[str, Any]) -> Runs:
    """Returns runs in which these detectors observe and none acts. Each registry name occurs at most once."""
    names = {shown: entry if isinstance(entry, str) else entry["name"] for shown, entry in detectors.items()}
    return Runs({"detect": "none", "observers": list(detectors.values())}, names)


def acting(name: str) -> Runs:
    """Returns runs in which one detector acts and gets its probes. Its verdict only ends retransmissions."""
    return Runs({"detect": name}, {name: name})


@dataclass(frozen=True)
class Panel:
    """The runs over a situation that judge all detectors of a study."""

    runs: tuple[Runs, ...]

    @property
    def detectors(self) -> tuple[str, ...]:
        """All detectors, in the order of the codes in the column `detector`."""
        return tuple(name for runs in self.runs for name in runs.detectors)

    def episodes(
        self, effort: Effort, title: str, situations: Sequence[Situation], asked: Mapping[str, Any] | None = None
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

        def find(number: int, progress: Callable[[int], object]) -> judged.Columns:
            place, points = batches[number]
            done = []
            with ThreadPoolExecutor(threads) as pool:
                for rows in pool.map(partial(self.point_columns, situations[place], effort.seed), points):
                    done.append(rows)
                    progress(len(done))
            columns = _joined(done)
            return {"situation": np.full(len(columns["point"]), place, np.int8), **columns}

        return effort.parts(title, asked or self.design(situations), [len(points) for _, points in batches], find)

    def design(self, situations: Sequence[Situation]) -> dict[str, Any]:
        """Returns a short description of what the episodes depend on, with two scenarios of each situation."""
        return {
            "points": {situation.name: situation.points for situation in situations},
            "runs": [{"sender": dict(runs.sender), "detectors": dict(runs.detectors)} for runs in self.runs],
            "examples": [situation.scenario(1, point, {}) for situation in situations for point in (0, 1)],
        }

    def point_columns(self, situation: Situation, seed: int, point: int) -> judged.Columns:
        """Returns the episodes of one point of a situation, with every detector's verdict."""
        parts = []
        there = [runs.there(situation.scenario(seed, point, runs.sender)) for runs in self.runs]
        for runs in (runs for runs in there if runs.detectors):
            result = run(situation.scenario(seed, point, runs.sender), record=judged.TABLES)
            columns = judged.judged(result, runs.detectors)
            codes = np.array([self.detectors.index(name) for name in runs.detectors], np.int8)
            parts.append({**columns, "detector": codes[columns["detector"]]})
        joined = _joined(parts)
        return {"point": np.full(len(joined["detector"]), point, np.int32), **joined}

    def by_detector(self, columns: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Returns the rows of `episodes` apart, by detector."""
        return {name: kept(columns, columns["detector"] == code) for code, name in enumerate(self.detectors)}


def kept(columns: Mapping[str, Any], keep: Any) -> dict[str, Any]:
    """Returns the rows that the mask `keep` selects."""
    return {name: values[keep] for name, values in columns.items()}


def _joined(parts: Sequence[judged.Columns]) -> judged.Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


PANEL = Panel(
    (
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
)
SIDE_BY_SIDE = tuple(PANEL.runs[0].detectors)
"""The detectors that can be each other's fallback, since they saw the same episodes."""
