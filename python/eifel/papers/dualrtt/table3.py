"""Tables II and III: RTO, RTT, NRTT and MinRTT over time in figure 2's run.

The printed times are whole ticks, rounded down, and at least one. The MinRTT of 2.8 s is the
handshake's, without payload.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from eifel.papers.artefact import Claim
from eifel.papers.dualrtt import figure as of
from eifel.papers.dualrtt import nrtt, settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from eifel.papers.measured import Measured

PUBLISHED = {43.004: 0.1, 43.102: 0.1, 43.791: 0.2, 43.890: 0.3, 43.988: 0.3, 44.481: 0.4, 44.579: 0.4}
"""NRTT by the time of the ACK, both in seconds."""


def _is(instant: float, published: float, measured: Measured) -> bool:
    return nrtt.in_ticks(nrtt.at(measured.result(), instant)) == published


def _draw(measured: Measured) -> Figure:
    from eifel.plots import style

    result = measured.result()
    figure, axes = style.new_figure(1, (6.4, 3.6))
    instants, values = nrtt.series(result)
    style.shade(axes[0], result, 0)
    axes[0].plot(instants, values, ".", markersize=3, color=style.SENT, label="NRTT")
    timer = result.of("timer", 0)
    axes[0].step(timer["t_ns"] / 1e9, timer["rto_ns"] / 1e9, where="post", color=style.NEEDED, label="RTO")
    minimum = nrtt.minimum_before(result, settings.SPIKE_S[1])
    axes[0].axhline(minimum, color=style.LIMIT, linewidth=0.9, label="MinRTT")
    axes[0].axhline(minimum / 10, color=style.LIMIT, linewidth=0.9, linestyle=":", label="0.1 MinRTT")
    axes[0].set_yscale("log")
    axes[0].set_ylabel("RTO and NRTT, s")
    return style.finish(figure, axes, measured.artefact.title)


ARTEFACT = of.drawn(
    "table3",
    "RTO, NRTT and MinRTT during a delay spike",
    settings.spike(),
    *(
        Claim(
            f"at {instant} s NRTT is {published} s",
            partial(_is, instant, published),
        )
        for instant, published in PUBLISHED.items()
    ),
    Claim("MinRTT is 2.8 s", lambda m: round(nrtt.minimum_before(m.result(), 40), 1) == 2.8),
    Claim("at 42.905 s NRTT is 13.9 s", lambda m: of.near(nrtt.at(m.result(), 42.905), 13.9)),
    source="tables II and III",
    known=(nrtt.KNOWN,),
    draw=_draw,
)
