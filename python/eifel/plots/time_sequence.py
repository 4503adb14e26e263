"""Draws the time-sequence graph: every segment and whether it was needed, every ACK, every drop."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.plots import Axes, style
from eifel.result import Result
from eifel.tables import Frame


def draw(axes: Axes, result: Result, flow: int = 0) -> None:
    """Draws one flow. Segments are numbered from 1, as in the papers."""
    sent = result.of("transmissions", flow)
    if not len(sent) and "arrivals" in result.tables:
        _arrivals(axes, result, flow)
        return
    size = segment_size(sent)
    style.shade(axes, result, flow)
    again = sent["kind"] == "retransmission"
    layers = (
        ("segment", sent["kind"] == "new", style.SENT, "o", 5.0),
        ("probe", sent["kind"] == "probe", style.PROBE, "v", 14.0),
        ("retransmission, needed", again & (sent["needed"] != "spurious"), style.NEEDED, "s", 12.0),
        ("retransmission, spurious", again & (sent["needed"] == "spurious"), style.SPURIOUS, "D", 12.0),
    )
    for label, mask, colour, marker, area in layers:
        look = (colour, marker, area if len(sent) < 2000 else area / 3)
        how = {"zorder": 3 if label == "segment" else 4, **style.dense(int(mask.sum()))}
        style.marks(axes, sent["t_ns"][mask], number(sent["start"][mask], size), label, look, **how)
    acks(axes, result, flow, size)
    _drops(axes, result, flow, sent, size)
    axes.set_ylabel("Segment number")


def _arrivals(axes: Axes, result: Result, flow: int) -> None:
    """Draws the arrivals of a run that was recorded at its receiver."""
    arrived = result.of("arrivals", flow)
    size = segment_size(arrived)
    in_order, fresh = arrived["in_order"], arrived["new_bytes"] > 0
    for label, mask, colour, marker in (
        ("arrived in order", in_order, style.SENT, "o"),
        ("arrived beyond a gap, or into one", ~in_order & fresh, style.SACK, "s"),
        ("had arrived before", ~in_order & ~fresh, style.SPURIOUS, "D"),
    ):
        places, dense = number(arrived["start"][mask], size), style.dense(int(mask.sum()))
        style.marks(axes, arrived["t_ns"][mask], places, label, (colour, marker, 9), **dense)
    axes.set_ylabel("Segment number")


def segment_size(sent: Frame) -> int:
    """Returns the payload of a full segment in bytes: the largest one sent."""
    lengths = sent["len"]
    return max(int(lengths.max()), 1) if len(lengths) else 1


def number(position: NDArray[Any], size: int) -> NDArray[Any]:
    """Returns the number of the segment that begins at a position. The first byte has position 1."""
    return (position - 1) / size + 1


def acks(axes: Axes, result: Result, flow: int, size: int, names: tuple[str, str] = ("ACK", "SACK")) -> None:
    """Draws the cumulative ACKs and the blocks above them under these names. `size` is the positions of a segment."""
    if "acks" not in result.tables:
        return
    heard = result.of("acks", flow)
    if not len(heard):
        return
    instants = heard["t_ns"] / 1e9
    # `cumulative` is the first position not covered, so this is the last segment that the ACK covers.
    covered = number(heard["cumulative"], size) - 1
    axes.step(
        instants,
        covered,
        where="post",
        color=style.ACK,
        linewidth=0.9,
        label=names[0],
        zorder=2,
        **style.dense(len(heard)),
    )
    if len(heard) > 1 and "sack1_start" in heard:
        lines_x, lines_y = [], []
        for block in (1, 2, 3):
            start, end = heard[f"sack{block}_start"], heard[f"sack{block}_end"]
            there = start >= 0
            lines_x.append(np.stack([instants[there]] * 2 + [np.full(there.sum(), np.nan)], 1).ravel())
            bars = [number(start[there], size), number(end[there], size) - 1, np.full(there.sum(), np.nan)]
            lines_y.append(np.stack(bars, 1).ravel())
        x, y = np.concatenate(lines_x), np.concatenate(lines_y)
        if len(x):
            look = {"color": style.SACK, "linewidth": 0.8, "alpha": 0.6, "zorder": 1.5, **style.dense(len(x))}
            axes.plot(x, y, label=names[1], **look)


def _drops(axes: Axes, result: Result, flow: int, sent: Frame, size: int) -> None:
    if "drops" not in result.tables:
        return
    drops = result.of("drops", flow)
    order = np.argsort(sent["tx"], kind="stable")
    found = np.searchsorted(sent["tx"][order], drops["tx"])
    known = found < len(order)
    known[known] &= sent["tx"][order][found[known]] == drops["tx"][known]  # dropped ACKs have no number
    places = number(sent["start"][order][found[known]], size)
    style.marks(axes, drops["t_ns"][known], places, "drop", (style.DROP, "x", 22), zorder=5, **style.CROSS)
