"""Draws the time line: sender left, receiver right, time downwards, and an arrow for each segment and ACK."""

from collections.abc import Callable
from typing import Literal

from eifel.plots import Axes, Figure, style
from eifel.plots.time_sequence import number, segment_size
from eifel.result import Result

Named = Callable[[str, int], bool]
"""Returns whether an arrow is labelled, by its letter (S: sent, R: retransmitted, A: ACK) and segment number."""


def time_line_figure(result: Result, window_s: tuple[float, float], named: Named, title: str = "") -> Figure:
    """Draws the packets between the two ends in an interval. Each segment of the run must trigger an ACK.

    The label of an ACK is the last segment that it acknowledges.
    """
    figure, (axes,) = style.new_figure(1, (6.4, 7.6))
    axes.axvline(0, color=style.ACK, linewidth=1)
    axes.axvline(1, color=style.ACK, linewidth=1)
    _segments(axes, result, window_s, named)
    _acks(axes, result, window_s, named)
    _marks(axes, result, window_s)
    axes.set_ylim(window_s[1], window_s[0])
    axes.set_xlim(-0.6, 1.2)
    axes.set_xticks([0, 1], ["sender", "receiver"])
    axes.set_ylabel("Time, s")
    axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(title, fontsize=10)
    return figure


def _segments(axes: Axes, result: Result, window_s: tuple[float, float], named: Named) -> None:
    sent = result.of("transmissions", 0)
    size = segment_size(sent)
    labels: list[tuple[float, str]] = []
    for t, arrived, start, kind in zip(sent["t_ns"], sent["arrived_ns"], sent["start"], sent["kind"], strict=True):
        if arrived < 0 or not window_s[0] <= t / 1e9 <= window_s[1]:
            continue
        again = kind == "retransmission"
        name = f"{'R' if again else 'S'}{int(number(start, size))}"
        _arrow(axes, (0, t / 1e9), (1, arrived / 1e9), style.SPURIOUS if again else style.SENT)
        if named(name[0], int(name[1:])):
            labels.append((t / 1e9, name))
    _name(axes, -0.02, "right", labels, window_s)


def _acks(axes: Axes, result: Result, window_s: tuple[float, float], named: Named) -> None:
    # There is an ACK per segment, and none overtakes another: the k-th to arrive is the k-th sent.
    sent = result.of("arrivals", 0)["t_ns"]
    acks = result.of("acks", 0)
    size = segment_size(result.of("transmissions", 0))
    reached = 0
    labels: list[tuple[float, str]] = []
    for left, came, cumulative in zip(sent[: len(acks)], acks["t_ns"], acks["cumulative"], strict=True):
        advances = cumulative > reached
        reached = max(reached, int(cumulative))
        if not window_s[0] <= left / 1e9 or came / 1e9 > window_s[1]:
            continue
        _arrow(axes, (1, left / 1e9), (0, came / 1e9), style.ACK)
        last = int(number(cumulative, size)) - 1
        if advances and named("A", last):
            labels.append((left / 1e9, f"A{last}"))
    _name(axes, 1.02, "left", labels, window_s)


def _name(
    axes: Axes, x: float, side: Literal["left", "right"], labels: list[tuple[float, str]], window_s: tuple[float, float]
) -> None:
    """Writes labels beside their times. Joins labels that would overlap."""
    lines: list[tuple[float, list[str]]] = []
    for t, name in sorted(labels):
        if lines and t - lines[-1][0] < (window_s[1] - window_s[0]) / 60:
            lines[-1][1].append(name)
        else:
            lines.append((t, [name]))
    for t, names in lines:
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
        axes.text(x, t, " ".join(names), fontsize=6, ha=side, va="center", bbox=box)


def _marks(axes: Axes, result: Result, window_s: tuple[float, float]) -> None:
    expired = [float(t) / 1e9 for t in result.of("timer", 0).where(event="expired")["t_ns"]]
    verdicts = [float(t) / 1e9 for t in result.of("episodes", 0).where(verdict="spurious")["verdict_ns"]]
    marks = ("timer expires", expired, style.NEEDED), ("detected as spurious", verdicts, style.LIMIT)
    for text, instants, colour in marks:
        for t in (t for t in instants if window_s[0] <= t <= window_s[1]):
            axes.plot([-0.3, 0], [t, t], color=colour, linewidth=0.8, linestyle=":")
            axes.text(-0.31, t, f"{text}\n{t:.3f} s", fontsize=6, ha="right", va="center", color=colour)


def _arrow(axes: Axes, begin: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 0.7, "mutation_scale": 6, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, begin, arrowprops=arrow, annotation_clip=True)
