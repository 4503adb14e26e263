"""Draws TSNs over time, with a colour for each path, SACKs, and each path's window below."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from eifel.flows import flows_of
from eifel.plots import Axes, style, time_sequence
from eifel.result import Result

COLOURS = (style.SENT, style.NEEDED, style.ACK, style.PROBE)
"""Colours by path, primary first. They repeat after the last one."""
_SACKS = ("cumulative TSN", "gap ack blocks")


def draw(sequence: Axes, window: Axes, result: Result, flow: int = 0) -> None:
    """Draws an SCTP flow: originals as dots, retransmissions as diamonds, drops as crosses, SACKs, and cwnd below.

    A packet that a spike holds at the sender is drawn twice: when it is buffered, and as a bar when the spike ends
    and it is sent.
    """
    sent = result.of("transmissions", flow)
    windows = result.of("window", flow)
    style.shade(sequence, result, flow)
    time_sequence.acks(sequence, result, flow, 1, _SACKS)
    for path in sorted({int(path) for path in windows["path"]}):
        colour, on = COLOURS[path % len(COLOURS)], sent["path"] == path
        again = sent["kind"] == "retransmission"
        for what, mask, marker, area in (("", on & ~again, "o", 5.0), (", again", on & again, "D", 12.0)):
            label, look = f"path {path + 1}{what}", (colour, marker, area)
            style.marks(sequence, sent["t_ns"][mask], sent["start"][mask], label, look)
        for start_ns, end_ns in _held(result, flow, path):
            mask = on & (sent["t_ns"] >= start_ns) & (sent["t_ns"] < end_ns)
            released: NDArray[np.int64] = np.full(int(mask.sum()), end_ns)
            label = f"path {path + 1}, buffered until here"
            style.marks(sequence, released, sent["start"][mask], label, (colour, "_", 16.0), **style.CROSS)
        of = windows.rows(windows["path"] == path)
        window.step(of["t_ns"] / 1e9, of["cwnd"] / 1000, where="post", color=colour, label=f"path {path + 1}")
    lost = sent["fate"] == "dropped"
    style.marks(sequence, sent["t_ns"][lost], sent["start"][lost], "drop", (style.DROP, "x", 22), **style.CROSS)
    sequence.set_ylabel("TSN, from 0")
    window.set_ylabel("cwnd, kB")


def _held(result: Result, flow: int, path: int) -> Iterator[tuple[int, int]]:
    """Yields begin and end of each spike at the sender's own link of a path, if it ends within the run."""
    if "spikes" not in result.tables:
        return
    settings = result.source.settings
    repeated = [entry for entry in settings["flow"] for _ in range(int(entry.get("repeat", 1)))]
    others = (str(alternate["from"]) for alternate in repeated[flow].get("alternates", ()))
    sender = [flows_of(settings)[flow].sender, *others][path]
    links = {link.get("name") for link in settings.get("link", []) if link["from"] == sender}
    spikes = result.frame("spikes")
    ends = int(settings["duration_s"] * 1e9)
    for link, start_ns, end_ns in zip(spikes["link"], spikes["start_ns"], spikes["end_ns"], strict=True):
        if link in links and end_ns < ends:
            yield int(start_ns), int(end_ns)
