"""Shows a grid of measured places as an interactive map."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eifel.papers.artefact import Measured
from eifel.report.chart import figure
from eifel.report.columns import Packer


@dataclass(frozen=True)
class Axis:
    """One axis of the grid: a key of the rows, and its values in ascending order."""

    name: str
    title: str
    key: str
    """The key of the scenario."""
    values: tuple[float, ...]
    labels: tuple[str, ...]
    """The displayed form of each value."""
    scale: float = 1
    """The factor from the axis to the scenario."""


@dataclass(frozen=True)
class Point:
    """A case of a paper as a place of the grid."""

    name: str
    place: Mapping[str, float]
    """Its value on each axis."""
    lossy: bool


@dataclass(frozen=True)
class Cases:
    """Named places of a paper, their common title, and the map's initial place."""

    title: str
    points: Sequence[Point]
    start: Mapping[str, float]
    sides: tuple[str, str]
    """The axes shown initially: across, and down."""


def atlas(measured: Measured, axes: Sequence[Axis], families: Mapping[str, str], cases: Cases) -> str:
    """Returns the element that the page's script turns into a map.

    The artefact's rows are the grid, with the last axis fastest. Its columns are the competitors,
    in units of 1000. `families` gives the colour of each.
    """
    packer = Packer()
    competitors = []
    for column in measured.artefact.columns:
        means = [row.means[column.name] for row in measured.rows]
        found = packer.add(np.rint([1000 * mean.mean for mean in means]))
        spread = packer.add(np.rint([1000 * (mean.half_width or 0) for mean in means]))
        family = families[column.name]
        competitors.append({"name": column.name, "family": family, "mean": found, "spread": spread})
    description: dict[str, Any] = {
        "axes": [{"title": axis.title, "labels": list(axis.labels)} for axis in axes],
        "sides": [[axis.name for axis in axes].index(name) for name in cases.sides],
        "competitors": competitors,
        "title": cases.title,
        "points": [{"name": point.name, "at": _at(axes, point.place)} for point in cases.points],
        "start": _at(axes, cases.start),
    }
    return figure("atlas", description, packer, measured.artefact.title)


def _at(axes: Sequence[Axis], place: Mapping[str, float]) -> list[int]:
    return [list(axis.values).index(place[axis.name]) for axis in axes]
