"""What tables 1-4 leave open, and what no setting meets: the front of the sweep in `swept.py`, judged and drawn.

`eifel reproduce responding.calibration responding.front` measures it. docs/internals/calibration.md has the trials.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Row, Studied
from eifel.papers.responding import distances, settings, swept
from eifel.plots import Figure, style
from eifel.runs import Runs
from eifel.statistics import Mean

NAMES = ("the tables'", "first", "second")
"""The judged settings: the one of the tables, and the two best others of the sweep."""
JUDGES = ("the fit's rows and seed", "other rows", "other seeds", "other rows and seeds")
BOUNDS = (0.06, 0.08, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6)
"""Bounds of the mean distance in time: |log (here / print)|."""
LOOKS = {
    "behind": ("behind the queue", "#3b6fb6", "o-"),
    "before": ("before the queue", "#2f8f6b", "^--"),
    "before-data": ("before it, data alone", "#e08a00", "s:"),
}
"""The places where a spike holds packets: name, colour and line."""
WITHIN = {"time_s": "Time", "retransmissions": "Retransmitted", "spurious_rtos": "Spurious", "genuine_rtos": "Genuine"}


@dataclass(frozen=True)
class Found:
    """The results of one setting with one seed."""

    stage: str
    seed: int
    values: Mapping[str, Any]
    """The setting's values for what is open."""
    means: NDArray[np.float64]

    @property
    def within(self) -> NDArray[np.bool_]:
        return distances.within(self.means)

    def distances(self, rows: NDArray[np.bool_] | None = None) -> tuple[float, float, float]:
        """Returns the mean distances from the printed values, over all rows by default."""
        return distances.distances(self.means, np.ones(len(distances.ROWS), bool) if rows is None else rows)


def results(columns: Mapping[str, NDArray[Any]]) -> Iterator[Found]:
    """Yields the settings of all stages, in their order."""
    each = len(distances.ROWS)
    for at in range(0, len(columns["row"]), each):
        here = {name: values[at : at + each] for name, values in columns.items()}
        values = {axis: here[axis][0] for axis in swept.AXES}
        means = np.stack([here[name] for name in distances.MEASURED], axis=1)
        yield Found(str(here["stage"][0]), int(here["seed"][0]), values, means)


def judged(columns: Mapping[str, NDArray[Any]]) -> list[list[Found]]:
    """Returns the judged settings, the tables' first. Each has results for every seed, the fit's seed first."""
    found: dict[str, list[Found]] = {}
    for one in results(columns):
        if one.stage == "judged":
            found.setdefault(str(one.values), []).append(one)
    earlier = {axis: getattr(settings.EARLIER, axis) for axis in swept.AXES}
    return sorted(found.values(), key=lambda one: dict(one[0].values) != earlier)[: len(NAMES)]


def _measure(_artefact: Artefact, found: Runs) -> list[dict[str, Mean]]:
    made = []
    for setting in judged(found.columns):
        for judge in JUDGES:
            rows = ~distances.IN_FIT if "other rows" in judge else distances.IN_FIT
            seeds = setting[1:] if "seeds" in judge else setting[:1]
            counts = np.array([one.within[rows].sum(axis=0) for one in seeds], float).mean(axis=0)
            means = dict(zip(distances.MEASURED, counts, strict=True)) | {"rows": float(rows.sum())}
            made.append({name: Mean(float(value), None, len(seeds)) for name, value in means.items()})
    return made


def most(measured: Measured, column: str) -> float:
    """Returns the largest number of values within tolerance for a column among the settings.

    Counts all rows, on other seeds.
    """
    return max(
        sum(measured.mean(column, setting=name, judged_by=judge) for judge in ("other seeds", "other rows and seeds"))
        for name in NAMES
    )


CALIBRATION = Artefact(
    id="responding.calibration",
    title="Values of tables 1-4 within their tolerance, by setting, on rows and seeds that the fit has not seen",
    source=f"{settings.SOURCE}, tables 1-4",
    columns=(
        *(Column(name, f"{title} within", digits=1) for name, title in WITHIN.items()),
        Column("rows", "of", digits=0),
    ),
    rows=tuple(Row({"setting": name, "judged_by": judge}) for name in NAMES for judge in JUDGES),
    method=Studied(swept.STUDY, measure=_measure, long=True),
    seed=settings.SEED,
    fitted=settings.FITTED,
    claims=(
        Claim(
            "on seeds that no fit has seen, some setting has the times of 15 of 16 rows within a tenth",
            lambda m: most(m, "time_s") >= 15,
        ),
        Claim(
            "... and some has 28 of 32 counts of timeouts within 15 % or 0.3",
            lambda m: most(m, "spurious_rtos") + most(m, "genuine_rtos") >= 28,
        ),
        Claim("... and some retransmits as often as printed in 12 of 16", lambda m: most(m, "retransmissions") >= 12),
    ),
)


def _measure_front(_artefact: Artefact, found: Runs) -> list[dict[str, Mean]]:
    found_all = [one for one in results(found.columns) if one.stage in ("screen", "steps")]
    points = np.array([one.distances() for one in found_all])
    made = []
    for hold in swept.AXES["hold"]:
        of_hold = np.array([one.values["hold"] == hold for one in found_all])
        for bound in BOUNDS:
            near = points[of_hold & (points[:, 0] <= bound)]
            values = {"settings": float(len(near))}
            if len(near):
                values |= {"again": float(near[:, 1].min()), "timeouts": float(near[:, 2].min())}
            made.append({name: Mean(value, None, 1) for name, value in values.items()})
    return made


def _draw(measured: Measured) -> Figure:
    figure, (axes,) = style.new_figure(1, (6.4, 4.0))
    for hold, (name, colour, look) in LOOKS.items():
        rows = [row for row in measured.rows if row.row.keys["held"] == hold and "again" in row.means]
        at = [float(row.row.keys["time within"]) for row in rows]
        axes.plot(at, [row.means["again"].mean for row in rows], look, color=colour, markersize=3, label=name)
    axes.axvline(float(np.log(1.1)), color="#888", linewidth=0.8, linestyle=":")
    axes.axhline(float(np.log(1.15)), color="#888", linewidth=0.8, linestyle=":")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("Retransmitted: least distance from print")
    style.finish(figure, [axes], measured.artefact.title, "Time: distance from print of at most")
    return figure


def _least(measured: Measured, hold: str) -> float:
    found = [row.means["again"].mean for row in measured.rows if row.row.keys["held"] == hold and "again" in row.means]
    return min(found)


FRONT = Artefact(
    id="responding.front",
    title="How near tables 1-4 come to print in time and in what is sent again",
    source=f"{settings.SOURCE}, tables 1-4",
    columns=(
        Column("settings", "Settings", digits=0),
        Column("again", "Retransmitted: least distance", digits=2),
        Column("timeouts", "Timeouts: least distance", digits=2),
    ),
    rows=tuple(Row({"held": hold, "time within": bound}) for hold in swept.AXES["hold"] for bound in BOUNDS),
    method=Studied(swept.STUDY, measure=_measure_front, long=True, draw=_draw),
    seed=settings.SEED,
    fitted=settings.FITTED,
    claims=(
        Claim(
            "some setting comes within 10 % of the times and 15 % of what is retransmitted, on average",
            lambda m: any(row.means["again"].mean <= np.log(1.15) for row in m.rows[:3] if "again" in row.means),
        ),
        Claim(
            "a spike that holds before the queue brings what is retransmitted nearer to print than one behind it",
            lambda m: min(_least(m, "before"), _least(m, "before-data")) < _least(m, "behind"),
        ),
    ),
)
