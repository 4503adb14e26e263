"""Figures 10 and 11: figures 5 and 4 as time lines.

T1 and T2 are the NRTT of segments 131 and 132: T2 decides for DualRTT. The timestamp echoed by the
first ACK decides for Eifel.
"""

from eifel.papers import rfc3522
from eifel.papers.artefact import Claim, Measured
from eifel.papers.dualrtt import figure as of
from eifel.papers.dualrtt import nrtt, settings
from eifel.plots import Figure
from eifel.plots.time_line import time_line_figure
from eifel.result import Result

WINDOW_S = (27.8, 45.5)
"""From the first segment that the spike holds to the ACKs of all held segments."""


def _named(letter: str, segment: int) -> bool:
    """Returns whether the paper labels an arrow: retransmissions of 131 to 133, ACKs, and new data after them."""
    return segment in {"S": (131, 150, 151), "R": (131, 132, 133), "A": (131, 132)}[letter]


def _draw(measured: Measured) -> Figure:
    return time_line_figure(measured.result(), WINDOW_S, _named, measured.artefact.title)


def _verdict_s(result: Result) -> float:
    return of.verdicts_s(result)[0]


def _nrtt_s(m: Measured, acks_before_verdict: int) -> float:
    instants, values = nrtt.series(m.result())
    return float(values[instants <= _verdict_s(m.result()) + 1e-6][-1 - acks_before_verdict])


FIGURE_10 = of.drawn(
    "figure10",
    "Time line of the detection of a spurious timeout by DualRTT",
    settings.spike(settings.dual_rtt()),
    Claim("T1, from the second retransmission of 131 to its ACK, decides nothing", lambda m: _nrtt_s(m, 1) > 0.28),
    Claim("T2, from sending 132 again to its ACK, is below a tenth of MinRTT", lambda m: _nrtt_s(m, 0) < 0.28),
    Claim(
        f"the timeout is detected as spurious at the second ACK: 0.1 s after the first, {of.WITHIN}",
        lambda m: of.near(_verdict_s(m.result()) - of.first_ack_s(m.result())[0], 0.1),
    ),
    source="figure 10",
    draw=_draw,
    chart=False,
)
FIGURE_11 = of.drawn(
    "figure11",
    "Time line of the detection of a spurious timeout by Eifel",
    settings.spike(dict(rfc3522.PLAIN), timestamps=True),
    Claim(
        "the timeout is detected as spurious at the first ACK",
        lambda m: of.verdicts_s(m.result()) == of.first_ack_s(m.result()),
    ),
    Claim(
        "nothing but the first segment that was held is retransmitted", lambda m: len(of.retransmitted(m.result())) == 1
    ),
    *of.DECIDES,
    timestamps=True,
    source="figure 11",
    draw=_draw,
    chart=False,
)
