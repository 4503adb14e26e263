"""The style of all pictures. Colours have meanings, match the report, and are safe for the colour-blind."""

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.plots import SCREEN_IN, Axes, Figure
from eifel.result import Result

SENT = "#3b6fb6"
NEEDED = "#e08a00"
SPURIOUS = "#d0312d"
PROBE = "#8a5fbf"
ACK = "#5f6b76"
SACK = "#8a5fbf"
DROP = "#000000"
EPISODE = "#f3d9a4"
SPIKE = "#d9dee4"
OUTAGE = "#a3acb7"
LIMIT = "#2f8f6b"

PANEL_SHARE = 0.5
"""The height of a panel of one run in a paper, as a share of the figure's width."""
CURVES = (SENT, SPURIOUS, LIMIT, NEEDED, PROBE, ACK)
DASHES = ("-", (0, (4, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))
DENSE = 20_000
"""A layer with more marks is drawn as pixels inside an SVG or PDF."""
TITLE_LETTERS_PER_IN = 13
"""The letters of a title that fit an inch of the figure's width."""


def new_figure(
    count: int, size_in: tuple[float, float], *, share: bool = True, heights: Sequence[float] | None = None
) -> tuple[Figure, list[Axes]]:
    """Makes a figure without pyplot, which would keep it in a global list and open a window.

    Its axes are stacked and share the horizontal axis if `share`. They are equally high, unless
    `heights` gives relative heights.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as NewFigure

    figure = NewFigure(figsize=size_in, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(count, 1, sharex=share, squeeze=False, height_ratios=heights)[:, 0]
    return figure, list(axes)


def finish(figure: Figure, axes: list[Axes], title: str, x: str = "Time, s") -> Figure:
    """Adds grids, legends, the label of the shared horizontal axis, and the title."""
    for place in axes:
        dress(place)
    axes[-1].set_xlabel(x)
    if axes[0].get_xscale() == "linear":
        axes[0].set_xlim(left=0)
    if title:
        figure.suptitle(textwrap.fill(title, int(TITLE_LETTERS_PER_IN * figure.get_figwidth())), fontsize=10)
    return figure


def dress(axes: Axes, columns: int = 2) -> None:
    """Adds a grid and a legend with this many columns."""
    axes.grid(True, color="#e6e9ed", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        axes.legend(handles, labels, loc="best", fontsize=7, frameon=True, framealpha=0.85, ncols=columns)


def look(number: int, count: int) -> dict[str, Any]:
    """Returns colour, width and dashes of the curve with this number among several.

    Later curves are thinner and have gaps, so that a curve below them stays visible where they coincide.
    """
    width = 1.0 + 0.9 * (count - 1 - number) if count <= 4 else 1.2
    return {
        "color": CURVES[number % len(CURVES)],
        "linewidth": width,
        "linestyle": DASHES[number % len(DASHES)] if number else "-",
    }


def paper(columns: int | None) -> Any:
    """Returns matplotlib's settings for a figure of one or two columns of a paper; none for a screen."""
    if columns is None:
        return {}
    return {"font.size": 8, "axes.labelsize": 8, "xtick.labelsize": 7, "ytick.labelsize": 7, "pdf.fonttype": 42}


def width_in(columns: int | None) -> float:
    """Returns the width of a figure: one or two columns of the IEEE's and ACM's papers, or for a screen."""
    return SCREEN_IN if columns is None else {1: 3.4, 2: 7.0}[columns]


def shade(axes: Axes, result: Result, flow: int) -> None:
    """Draws spikes and episodes as bands in the background."""
    end_s = last_s(result)
    if "spikes" in result.tables:
        spikes = result.frame("spikes")
        # A spike in both directions gets one band, named after its first link.
        bands: dict[tuple[float, float], str] = {}
        for link, start, end in zip(spikes["link"], spikes["start_ns"], spikes["end_ns"], strict=True):
            if start / 1e9 <= end_s:
                bands.setdefault((start / 1e9, min(end / 1e9, end_s)), str(link))
        for (start, end), link in sorted(bands.items()):
            # An outage would hide the spikes inside it, so it is drawn as a strip.
            hides = any(start <= first and last <= end and (first, last) != (start, end) for first, last in bands)
            label = f"{link} stands still" if hides else "spike"
            low, colour = (0.97, OUTAGE) if hides else (0, SPIKE)
            axes.axvspan(start, end, ymin=low, color=colour, zorder=0, label=once(axes, label), linewidth=0)
    if "episodes" in result.tables:
        episodes = result.of("episodes", flow).where(cause="timeout")
        for opened, closed in zip(episodes["opened_ns"], episodes["closed_ns"], strict=True):
            until = closed / 1e9 if closed >= 0 else end_s
            axes.axvspan(
                opened / 1e9, until, ymax=0.03, color=EPISODE, zorder=0.5, label=once(axes, "episode"), linewidth=0
            )


def last_s(result: Result) -> float:
    """Returns the time of a flow's last recorded event, in seconds."""
    last = 0
    for name in ("transmissions", "acks", "window"):
        if name in result.tables and len(result.frame(name)):
            last = max(last, int(np.max(result.frame(name)["t_ns"])))
    return last / 1e9


def once(axes: Axes, label: str) -> str | None:
    """Returns the label at its first use in these axes, else None, so that the legend has it once."""
    return None if label in axes.get_legend_handles_labels()[1] else label


def marks(
    axes: Axes, t_ns: NDArray[Any], heights: NDArray[Any], label: str, look: tuple[str, str, float], **more: Any
) -> None:
    """Draws marks at these times, if there are any. `look` is their colour, their marker and their area."""
    if len(t_ns):
        colour, marker, area = look
        how = {"linewidths": 0, "label": label, **more}
        axes.scatter(t_ns / 1e9, heights, s=area, color=colour, marker=marker, **how)


CROSS = {"linewidths": 1.0}
"""The options of marks that are lines."""


def dense(marks: int) -> dict[str, Any]:
    """Returns the drawing options for a layer with this many marks."""
    return {"rasterized": marks > DENSE}
