"""Common parts of figures 5-1 to 5-6."""

from collections.abc import Mapping
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Recorded, Row, Setting, counts
from eifel.papers.thesis.hiccup import BUFFER_PACKETS, DELAY_MS, LOAD, PACKET_BYTES, PACKET_S, RATE_BPS
from eifel.papers.thesis.transfers import SOURCE
from eifel.plots import Figure
from eifel.plots.both_traces import both_traces_figure

COLUMNS = (
    *counts(
        "retransmissions",
        "spurious_retransmissions",
        "spurious_timeouts",
        "fast_retransmits",
        "spurious_fast_retransmits",
    ),
    Column("drops", "Packets dropped", digits=0),
)

DRAWN = {"": "drawn"}
OPEN = (
    Setting(
        "packet time",
        f"{PACKET_S:.3f} s: {PACKET_BYTES} bytes at {RATE_BPS // 1000} kbit/s",
        "four packets pass between the third duplicate ACK and the end of recovery in figure 5-4, 2.2 s",
        rows=("all rows: the instants that the text gives for figure 5-4",),
    ),
    Setting(
        "load",
        f"{LOAD} segments, by the receiver's window",
        "the round trip before the third duplicate ACK in figures 5-4 and 5-6: 7.0 and 5.8 s, less three packets",
        rows=("all rows: the instants that the text gives for figures 5-4 and 5-6",),
    ),
    Setting("propagation", f"{DELAY_MS} ms", "a serial line in one room; next to nothing of the round trip"),
    Setting("interface buffer", f"{BUFFER_PACKETS} packets", "FreeBSD's; figure 5-3 has its own"),
    Setting(
        "timer",
        "RFC 6298 with a clock of 500 ms and at least 1 s",
        "the gains and the granularity of section 5.3's; `lite` itself expires 0.5 to 0.8 s sooner in figure 5-5, at "
        "53.5 to 53.8 s for the printed 54.7, and by its heartbeat also in second 2, while slow start fills the queue",
        rows=("all rows: the expiry that the text gives for figure 5-5",),
    ),
    Setting("recovery", "reno, bugfix off, no Limited Transmit", "TCP-Lite, as the text describes it"),
)


def figure(
    number: int,
    title: str,
    runs: Mapping[str, Mapping[str, Any]],
    shown_s: tuple[float, float],
    *claims: Claim,
    fitted: tuple[Setting, ...] = OPEN,
    panels: Mapping[str, str] = DRAWN,
    **how: Any,
) -> Artefact:
    """Returns a figure of sections 5.1 and 5.2, drawn over an interval. The first run is the one of the text.

    `panels` are the drawn runs by the names of their panels. `how` is passed to the drawing.
    """

    def draw(measured: Measured) -> Figure:
        drawn = {name: measured.result(run=run) for name, run in panels.items()}
        return both_traces_figure(drawn, shown_s, title=measured.artefact.title, **how)

    return Artefact(
        id=f"thesis.figure5_{number}",
        title=title,
        source=f"{SOURCE}, figure 5-{number}",
        columns=COLUMNS,
        rows=tuple(Row({"run": run}, scenario) for run, scenario in runs.items()),
        claims=claims,
        fitted=fitted,
        method=Recorded(draw),
    )
