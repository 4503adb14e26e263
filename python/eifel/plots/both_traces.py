"""Draws a sender's trace and the receiver's in one plot: segments sent, held on the way, and received."""

import numpy as np
from numpy.typing import NDArray

from eifel.plots import Axes, Figure, style
from eifel.plots.time_sequence import number, segment_size
from eifel.result import Result
from eifel.tables import Frame

SIZE_IN = (5.2, 4.4)
"""Narrow enough to be readable on a phone."""


def both_traces_figure(
    runs: dict[str, Result],
    shown_s: tuple[float, float],
    *,
    title: str = "",
    overtaken: int | None = None,
    receiver: bool = True,
) -> Figure:
    """Draws one panel per run with its name, over the interval `shown_s`. Marks segment `overtaken` as held."""
    figure, axes = style.new_figure(len(runs), (SIZE_IN[0], SIZE_IN[1] + 2.4 * (len(runs) - 1)))
    for place, (name, result) in zip(axes, runs.items(), strict=True):
        _draw(place, result, shown_s, overtaken, receiver)
        if len(runs) > 1:
            place.set_title(name, fontsize=8, loc="left")
    style.finish(figure, axes, title)
    axes[0].set_xlim(*shown_s)
    for place in axes[1:]:
        if legend := place.get_legend():
            legend.remove()
    return figure


def _draw(axes: Axes, result: Result, shown_s: tuple[float, float], overtaken: int | None, receiver: bool) -> None:
    style.shade(axes, result, 0)
    sent = _shown(result.of("transmissions"), shown_s)
    size = segment_size(sent)
    again = sent["kind"] == "retransmission"
    held = _held(result, sent) | ((sent["segment"] == overtaken) & ~again)
    dropped = np.isin(sent["tx"], result.of("drops")["tx"])
    lowest = _acks(axes, result, shown_s, size)
    if receiver:
        _arrivals(axes, result, shown_s, size)
    for label, mask, colour, marker, area in (
        ("sent", ~again & ~held, style.SENT, "o", 9),
        ("sent, and held", ~again & held, style.SENT, "+", 34),
        ("retransmitted, spurious", again & (sent["needed"] == "spurious"), style.SPURIOUS, "D", 15),
        ("retransmitted, needed", again & (sent["needed"] != "spurious"), style.NEEDED, "s", 17),
        ("dropped", dropped, style.DROP, "x", 46),
    ):
        how = {"linewidths": 1.3 if marker in "+x" else 0, "zorder": 4}
        heights = number(sent["start"][mask], size)
        style.marks(axes, sent["t_ns"][mask], heights, label, (colour, marker, area), **how)
    axes.set_ylim(bottom=lowest - 1)
    axes.locator_params(axis="y", integer=True)
    axes.set_ylabel("Segment number")


def _shown(frame: Frame, shown_s: tuple[float, float]) -> Frame:
    start, end = shown_s
    return frame.rows((frame["t_ns"] >= start * 1e9) & (frame["t_ns"] <= end * 1e9))


def _held(result: Result, sent: Frame) -> NDArray[np.bool_]:
    held = np.zeros(len(sent), bool)
    spikes = result.frame("spikes")
    for start, end in zip(spikes["start_ns"], spikes["end_ns"], strict=True):
        held |= (sent["t_ns"] >= start) & (sent["t_ns"] < end)
    return held


def _acks(axes: Axes, result: Result, shown_s: tuple[float, float], size: int) -> float:
    """Draws the ACKs. Returns the last segment covered at the picture's begin."""
    # Marks each ACK, so that duplicates are visible on the level line.
    acks = _shown(result.of("acks"), (shown_s[0] - 30, shown_s[1]))
    instants, covered = acks["t_ns"] / 1e9, number(acks["cumulative"], size) - 1
    within = instants >= shown_s[0]
    axes.step(instants, covered, where="post", color=style.ACK, linewidth=0.8, zorder=2)
    ticks = instants[within], covered[within]
    axes.scatter(*ticks, s=20, color=style.ACK, marker="|", linewidths=0.9, label="ACK", zorder=2)
    return float(covered[max(int(within.argmax()) - 1, 0)])


def _arrivals(axes: Axes, result: Result, shown_s: tuple[float, float], size: int) -> None:
    arrived = _shown(result.of("arrivals"), shown_s)
    axes.scatter(
        arrived["t_ns"] / 1e9,
        number(arrived["start"], size),
        s=14,
        facecolors="none",
        edgecolors=style.LIMIT,
        linewidths=0.8,
        label="at the receiver",
        zorder=3,
    )
