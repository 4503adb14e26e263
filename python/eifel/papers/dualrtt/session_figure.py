"""Figures 13 to 15 as artefacts: their rows and their drawing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from eifel.papers.artefact import Artefact, Claim, Row, Studied
from eifel.papers.dualrtt import chosen, parking_lot, sessions, settings
from eifel.papers.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from eifel.papers.measured import Measured


def _draw(over: str, label: str) -> Callable[[Measured], Figure]:
    def draw(measured: Measured) -> Figure:
        from eifel.plots import intervals, style

        figure, (axes,) = style.new_figure(1, (6.4, 4.0))
        at = list(dict.fromkeys(float(row.row.keys[over]) for row in measured.rows))
        series = {
            protocol: [row.means["segments"] for row in measured.rows if row.row.keys["protocol"] == protocol]
            for protocol in parking_lot.PROTOCOLS
        }
        intervals.lines(axes, at, series)
        axes.set_xscale("log")
        axes.set_xticks(at, [f"{rate:g}" for rate in at], rotation=45, fontsize=7)
        axes.minorticks_off()
        axes.set_ylabel("Segments delivered in 150 s")
        style.finish(figure, [axes], measured.artefact.title, label)
        axes.set_xlim(at[0] / 1.2, at[-1] * 1.2)
        return figure

    return draw


def figure(
    number: int, title: str, bottleneck_mbps: float | None, *claims: Claim, known: tuple[str, ...] = ()
) -> Artefact:
    """Returns a figure over the wireless link's rate behind one bottleneck, or over the bottleneck's rate if None."""
    over = "bottleneck_mbps" if bottleneck_mbps is None else "wireless_kbps"
    rates = parking_lot.BOTTLENECK_MBPS if bottleneck_mbps is None else parking_lot.WIRELESS_KBPS
    label = "Bottleneck, Mbit/s" if bottleneck_mbps is None else "Wireless link, kbit/s"
    measure = sessions.by_bottleneck if bottleneck_mbps is None else sessions.by_wireless(bottleneck_mbps)
    return Artefact(
        id=f"dualrtt.figure{number}",
        title=title,
        source=f"{settings.SOURCE}, figure {number}",
        columns=sessions.COLUMNS,
        rows=tuple(Row({"protocol": protocol, over: rate}) for protocol in parking_lot.PROTOCOLS for rate in rates),
        method=Studied(
            Study(parking_lot.find, parking_lot.DESIGN, (parking_lot.find,)),
            measure=measure,
            repetitions=parking_lot.RUNS,
            long=True,
            draw=_draw(over, label),
        ),
        fitted=chosen.PARKING_LOT,
        claims=(sessions.ABOVE_RENO, *claims),
        known=known,
    )
