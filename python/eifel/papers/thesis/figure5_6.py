"""Figure 5-6: the Eifel algorithm after a spurious fast retransmit, without and with a burst pacer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eifel.papers.artefact import Claim, Setting
from eifel.papers.published import numbers
from eifel.papers.thesis import traces
from eifel.papers.thesis.hiccup import BURST_PACER, PACKET_S, transfer
from eifel.papers.thesis.traced_figure import OPEN, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from eifel.papers.measured import Measured
    from eifel.result import Result

PRINTED = numbers("thesis", "figure5_6")
OVERTAKEN = 84
"""The segment that leaves within a packet time of the call of `hiccup`."""
PACED = "with a burst pacer"


def _draw(measured: Measured) -> Figure:
    from eifel.plots.both_traces import both_traces_figure

    runs = {"as in the thesis": measured.result(), PACED: measured.result(run=PACED)}
    return both_traces_figure(runs, (39, 54), title=measured.artefact.title, overtaken=OVERTAKEN)


def _burst(result: Result) -> int:
    """Returns the most segments after the verdict that leave within half a segment time of the line."""
    after = traces.between(traces.sent(result), traces.first_ack_of_retransmission(result), np.inf)
    instants = after["t_ns"] / 1e9
    later = np.searchsorted(instants, instants + PACKET_S / 2)
    return int((later - np.arange(len(instants))).max())


def _delivered(result: Result) -> int:
    return int(traces.acks(result)["cumulative"].max())


def _held_at(result: Result) -> float:
    return traces.seconds(traces.sent(result, segment=OVERTAKEN, kind="new"))


ARTEFACT = figure(
    6,
    "Response after a spurious fast retransmit",
    {
        "drawn": transfer(overtaken=OVERTAKEN, eifel=True),
        PACED: transfer(overtaken=OVERTAKEN, eifel=True, pace=BURST_PACER),
        "without Eifel": transfer(overtaken=OVERTAKEN),
    },
    _draw,
    Claim("the packet of second 40.5 is held", lambda m: traces.near(_held_at(m.result()), PRINTED["held_s"])),
    Claim(
        "six duplicate ACKs, and a fast retransmit that is detected as spurious",
        lambda m: (
            traces.duplicate_acks(m.result(), traces.first_ack_of_retransmission(m.result())) == 6
            and len(m.result().of("episodes").where(cause="fast-retransmit", verdict="spurious")) == 1
        ),
    ),
    Claim(
        "5.8 s pass until the fast retransmit, within two packets on the line",
        lambda m: traces.near(
            traces.retransmitted_at(m.result()) - _held_at(m.result()),
            PRINTED["fast_retransmit_s"] - PRINTED["held_s"],
            packets=2,
        ),
    ),
    Claim("cwnd and ssthresh are restored", traces.window_restored),
    Claim(
        "this causes a burst: at once as many segments as the late original and its six successors make room for",
        lambda m: _burst(m.result()) == 7 and _burst(m.result(run="without Eifel")) == 2,
    ),
    Claim(
        "with a burst pacer two leave at once and the others spread, and the receiver gets as much",
        lambda m: _burst(m.result(run=PACED)) <= 2 and _delivered(m.result(run=PACED)) == _delivered(m.result()),
    ),
    fitted=(
        *OPEN,
        Setting("burst pacer", "bursts of 2, the rest at cwnd / SRTT", "the thesis only asks for one", "chosen"),
    ),
)
