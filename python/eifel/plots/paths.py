"""Draws TSNs over time, with a colour for each path, and each path's window below."""

from eifel.plots import Axes, style
from eifel.result import Result

COLOURS = (style.SENT, style.NEEDED, style.ACK, style.PROBE)
"""Colours by path, primary first. They repeat after the last one."""


def draw(sequence: Axes, window: Axes, result: Result, flow: int = 0) -> None:
    """Draws an SCTP flow: originals as dots, retransmissions as diamonds, drops as crosses, and cwnd below."""
    sent = result.of("transmissions", flow)
    windows = result.of("window", flow)
    style.shade(sequence, result, flow)
    for path in sorted({int(path) for path in windows["path"]}):
        colour, on = COLOURS[path % len(COLOURS)], sent["path"] == path
        again = sent["kind"] == "retransmission"
        for what, mask, marker, area in (("", on & ~again, "o", 5.0), (", again", on & again, "D", 12.0)):
            label, look = f"path {path + 1}{what}", (colour, marker, area)
            style.marks(sequence, sent["t_ns"][mask], sent["start"][mask], label, look)
        of = windows.rows(windows["path"] == path)
        window.step(of["t_ns"] / 1e9, of["cwnd"] / 1000, where="post", color=colour, label=f"path {path + 1}")
    lost = sent["fate"] == "dropped"
    style.marks(sequence, sent["t_ns"][lost], sent["start"][lost], "drop", (style.DROP, "x", 22), **style.CROSS)
    sequence.set_ylabel("TSN, from 0")
    window.set_ylabel("cwnd, kB")
