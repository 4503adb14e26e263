"""Draws means with their intervals: a line per variant, or a row of marks for each group."""

from collections.abc import Mapping, Sequence

from eifel.plots import Axes
from eifel.statistics import Mean

LOOKS = (
    ("#d0312d", "o-"),
    ("#3b6fb6", "s-"),
    ("#2f8f6b", "^--"),
    ("#e08a00", "v:"),
    ("#8a5fbf", "D-."),
    ("#5f6b7a", "P--"),
    ("#b0479a", "X-"),
    ("#7a5c3e", "*:"),
)
"""The colour, mark and line of each variant. Several variants may coincide."""

Series = Mapping[str, Sequence["Mean"]]
"""Means by the name in the legend, one for each place on the horizontal axis."""


def lines(axes: Axes, places: Sequence[float], series: Series) -> None:
    """Draws a line for each series through its means, with a bar for each interval."""
    for (name, means), (colour, look) in zip(series.items(), LOOKS[: len(series)], strict=True):
        axes.errorbar(places, *_heights(means), color=colour, label=name, fmt=look, markersize=3, capsize=2)


def marks(axes: Axes, names: Sequence[str], series: Series) -> None:
    """Draws the means above the names of their places, with several series side by side and without lines."""
    for number, ((label, means), (colour, look)) in enumerate(zip(series.items(), LOOKS[: len(series)], strict=True)):
        beside = 0.2 * (number - (len(series) - 1) / 2)
        places = [place + beside for place in range(len(names))]
        axes.errorbar(places, *_heights(means), color=colour, label=label, fmt=look[0], markersize=5, capsize=4)
    axes.set_xticks(range(len(names)), names)


def _heights(means: Sequence[Mean]) -> tuple[list[float], list[list[float]]]:
    """Returns the means, and the distances to the ends of their intervals (0 for a single run)."""
    ends = [mean.interval or (mean.mean, mean.mean) for mean in means]
    below = [mean.mean - low for mean, (low, _) in zip(means, ends, strict=True)]
    above = [high - mean.mean for mean, (_, high) in zip(means, ends, strict=True)]
    return [mean.mean for mean in means], [below, above]
