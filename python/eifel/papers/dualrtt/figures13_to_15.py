"""Figures 13 to 15: the segments delivered in a session, by the rate of the wireless link and of the bottleneck."""

from collections.abc import Sequence

from eifel.papers import published
from eifel.papers.artefact import Artefact, Claim, Draw, Measured, Row, Studied
from eifel.papers.dualrtt import left_open, parking_lot, sessions, settings
from eifel.papers.study import Study
from eifel.plots import Figure, intervals, style

_PRINTED = published.numbers("dualrtt", "saturation")


def _above_eifel(measured: Measured, over: str, rates: Sequence[float]) -> bool:
    """Returns whether DualRTT delivers more than Eifel at each of these rates, by whole intervals."""
    means = [measured.row(protocol="dualrtt", **{over: rate}).means["over_eifel"] for rate in rates]
    return all((mean.interval or (0, 0))[0] > 0 for mean in means)


def _draw(over: str, label: str) -> Draw:
    def draw(measured: Measured) -> Figure:
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


def _figure(number: int, title: str, bottleneck_mbps: float | None, *claims: Claim) -> Artefact:
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
        fitted=left_open.PARKING_LOT,
        claims=(sessions.ABOVE_RENO, *claims),
    )


FIGURE_13 = _figure(
    13,
    "Segments delivered behind a bottleneck of 0.2 Mbit/s",
    0.2,
    Claim("DualRTT delivers at least what Eifel does", lambda m: sessions.not_below(m, "eifel", "dualrtt")),
    Claim("above 200 kbit/s Eifel's and DualRTT's falls", lambda m: sessions.falls_above(m, 200)),
)
"""Behind a faster wireless link, the segments held by a spike reach the bottleneck all at once, and
some are lost. This costs Eifel and DualRTT, as the paper says. The bottleneck's queue was fitted to
that fall. With 21 or 22 packets, Eifel and DualRTT deliver less, but still more than Reno. With 23
and more, nothing is lost. With 20 and fewer, they lose their whole gain at 1000 kbit/s and more.
"""
FIGURE_14 = _figure(
    14,
    "Segments delivered behind a bottleneck of 1.5 Mbit/s",
    1.5,
    Claim(
        "where the link is the limit, up to 31.2 kbit/s, DualRTT delivers more than Eifel",
        lambda m: _above_eifel(m, "wireless_kbps", (15.6, 21.4, 31.2)),
    ),
    Claim("nothing falls above 200 kbit/s: losses after a spike are rare", lambda m: not sessions.falls_above(m, 200)),
    Claim(
        "by the paper's formula (computed, not run) the window limits Reno and DualRTT to 32.9 kbit/s, and Eifel with "
        "its timestamps to 33.6",
        lambda m: all(round(sessions.saturation_kbps(name), 1) == printed for name, printed in _PRINTED.items()),
    ),
    Claim(
        "at no rate of the link does a protocol deliver more than that",
        lambda m: all(
            row.means["segments"].mean <= sessions.saturated_segments(str(row.row.keys["protocol"]))
            for row in m.rows
            if row.row.keys["protocol"] in _PRINTED
        ),
    ),
    Claim(
        "near 31.2 kbit/s the window becomes the limit: up to there more is gained than above",
        lambda m: all(
            2 * m.mean("segments", protocol=protocol, wireless_kbps=31.2)
            > m.mean("segments", protocol=protocol, wireless_kbps=15.6)
            + m.mean("segments", protocol=protocol, wireless_kbps=1500)
            for protocol in ("eifel", "dualrtt")
        ),
    ),
)
"""From 42.8 to 200 kbit/s, Eifel is ahead of DualRTT by up to three segments in 750. There the window
is the limit, not the link. Twelve bytes of header then cost nothing, but DualRTT's needless
retransmissions do.
"""
FIGURE_15 = _figure(
    15,
    "Segments delivered behind different bottlenecks",
    None,
    Claim("DualRTT delivers at least what Eifel does", lambda m: sessions.not_below(m, "eifel", "dualrtt")),
    Claim("below 1 Mbit/s DualRTT delivers more than Eifel", lambda m: _above_eifel(m, "bottleneck_mbps", (0.2, 0.5))),
)
