"""Draws time-sequence graphs of several runs above each other, over one time axis."""

from collections.abc import Mapping

from eifel.plots import Figure, time_sequence
from eifel.plots.style import finish, new_figure
from eifel.result import Result


def figure(runs: Mapping[str, Result]) -> Figure:
    """Draws the first flow of each run, under its name."""
    drawn, axes = new_figure(len(runs), (7.6, 3.2 * len(runs)))
    for place, (name, result) in zip(axes, runs.items(), strict=True):
        time_sequence.draw(place, result)
        place.set_title(name, fontsize="medium", loc="left")
    latest = max(place.get_xlim()[1] for place in axes)
    for place in axes:
        place.set_xlim(0, latest)
    return finish(drawn, axes, "")
