"""Draws the progress of several transfers in one picture: their segments over time."""

from collections.abc import Sequence

from eifel.plots import Figure, style, time_sequence
from eifel.plots.prediction import SIZE_IN
from eifel.result import Result

COLOURS = (style.NEEDED, style.SENT)
MARKERS = ("s", "o")


def progress_figure(
    runs: Sequence[tuple[str, Result]], between_s: tuple[float, float], *, title: str = "", acks: bool = False
) -> Figure:
    """Draws each run's segments in an interval. `acks` draws single segments, retransmissions and ACKs."""
    figure, axes = style.new_figure(1, SIZE_IN)
    place, (from_s, to_s) = axes[0], between_s
    for (name, result), colour, marker in zip(runs, COLOURS, MARKERS, strict=True):
        sent = result.of("transmissions")
        size = time_sequence.segment_size(sent)
        sent = sent.rows((sent["t_ns"] >= from_s * 1e9) & (sent["t_ns"] <= to_s * 1e9))
        new, again = sent.where(kind="new"), sent.where(kind="retransmission")
        base = int(new["start"].min())
        number = time_sequence.number(new["start"] - base + 1, size)
        how = {"linestyle": "none", "marker": marker, "markersize": 4} if acks else {"linewidth": 1.3}
        place.plot(new["t_ns"] / 1e9, number, color=colour, label=name, **how)
        if not acks:
            continue
        heights = time_sequence.number(again["start"] - base + 1, size)
        look = (style.SPURIOUS if colour == COLOURS[0] else style.DROP, "x", 26)
        style.marks(place, again["t_ns"], heights, f"{name}, retransmitted", look, zorder=4, **style.CROSS)
        came = result.of("acks")
        came = came.rows((came["t_ns"] >= from_s * 1e9) & (came["t_ns"] <= to_s * 1e9))
        covered = time_sequence.number(came["cumulative"] - base + 1, size) - 1
        place.step(came["t_ns"] / 1e9, covered, where="post", color=colour, linewidth=0.8, alpha=0.7)
        place.plot(came["t_ns"] / 1e9, covered, "|", color=colour, markersize=5, alpha=0.7)
    place.set_ylabel(f"Segment, counted from {from_s:g} s")
    style.finish(figure, axes, title)
    place.set_xlim(from_s, to_s)
    place.legend(loc="upper left", fontsize=8, framealpha=0.9)
    return figure
