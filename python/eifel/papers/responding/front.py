"""The front of the sweep over tables 1-4's open values: the trade-off between times and retransmissions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eifel.papers.artefact import Artefact, Claim, Column, Row, Studied
from eifel.papers.responding import known, settings, swept, tried
from eifel.papers.responding.calibration import results
from eifel.statistics import Mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from eifel.papers.measured import Measured
    from eifel.runs import Runs

BOUNDS = (0.06, 0.08, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6)
"""Bounds of the mean distance in time: |log (here / print)|."""
NAMES = {"behind": "behind the queue", "before": "before the queue", "before-data": "before it, data alone"}
LOOKS = {"behind": ("#3b6fb6", "o-"), "before": ("#2f8f6b", "^--"), "before-data": ("#e08a00", "s:")}


def _measure(_artefact: Artefact, found: Runs) -> list[dict[str, Mean]]:
    found_all = [one for one in results(found.columns) if one.stage in ("screen", "steps")]
    points = np.array([one.distances() for one in found_all])
    made = []
    for hold in tried.AXES["hold"]:
        of_hold = np.array([one.values["hold"] == hold for one in found_all])
        for bound in BOUNDS:
            near = points[of_hold & (points[:, 0] <= bound)]
            values = {"settings": float(len(near))}
            if len(near):
                values |= {"again": float(near[:, 1].min()), "timeouts": float(near[:, 2].min())}
            made.append({name: Mean(value, None, 1) for name, value in values.items()})
    return made


def _draw(measured: Measured) -> Figure:
    from eifel.plots import style

    figure, (axes,) = style.new_figure(1, (6.4, 4.0))
    for hold, (colour, look) in LOOKS.items():
        rows = [row for row in measured.rows if row.row.keys["held"] == hold and "again" in row.means]
        at = [float(row.row.keys["time within"]) for row in rows]
        axes.plot(at, [row.means["again"].mean for row in rows], look, color=colour, markersize=3, label=NAMES[hold])
    axes.axvline(float(np.log(1.1)), color="#888", linewidth=0.8, linestyle=":")
    axes.axhline(float(np.log(1.15)), color="#888", linewidth=0.8, linestyle=":")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("Sent again: least distance from print")
    style.finish(figure, [axes], measured.artefact.title, "Time: distance from print of at most")
    return figure


def _least(measured: Measured, hold: str) -> float:
    found = [row.means["again"].mean for row in measured.rows if row.row.keys["held"] == hold and "again" in row.means]
    return min(found)


ARTEFACT = Artefact(
    id="responding.front",
    title="How near tables 1-4 come to print in time and in what is sent again",
    source=f"{settings.SOURCE}, tables 1-4",
    columns=(
        Column("settings", "Settings", digits=0),
        Column("again", "Sent again: least distance", digits=2),
        Column("timeouts", "Timeouts: least distance", digits=2),
    ),
    rows=tuple(Row({"held": hold, "time within": bound}) for hold in tried.AXES["hold"] for bound in BOUNDS),
    method=Studied(swept.STUDY, measure=_measure, long=True, draw=_draw),
    seed=settings.SEED,
    fitted=settings.FITTED,
    claims=(
        Claim(
            "some setting comes within 10 % of the times and 15 % of what is sent again, on average",
            lambda m: any(row.means["again"].mean <= np.log(1.15) for row in m.rows[:3] if "again" in row.means),
        ),
        Claim(
            "a spike that holds before the queue brings what is sent again nearer to print than one behind it",
            lambda m: min(_least(m, "before"), _least(m, "before-data")) < _least(m, "behind"),
        ),
    ),
    known=known.FRONT,
)
