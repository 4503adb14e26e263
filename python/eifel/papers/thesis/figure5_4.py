"""Figure 5-4: a packet that six others overtake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eifel.papers.artefact import Claim
from eifel.papers.published import numbers
from eifel.papers.thesis import idle, traces
from eifel.papers.thesis.hiccup import LOAD, transfer
from eifel.papers.thesis.traced_figure import figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from eifel.papers.measured import Measured
    from eifel.result import Result

PRINTED = numbers("thesis", "figure5_4")
OVERTAKEN = 79
"""The segment that leaves within a packet time of the call of `hiccup`."""


def _draw(measured: Measured) -> Figure:
    from eifel.plots.both_traces import both_traces_figure

    shown_s, title = (36, 52), measured.artefact.title
    return both_traces_figure({"": measured.result()}, shown_s, title=title, overtaken=OVERTAKEN)


def _held_at(result: Result) -> float:
    return traces.seconds(traces.sent(result, segment=OVERTAKEN, kind="new"))


def _halves(result: Result) -> bool:
    """Returns whether the flight size one round trip after recovery is half of that before."""
    end = traces.first_ack_of_retransmission(result)
    before = traces.flight_segments(result, traces.retransmitted_at(result) - 0.001)
    return before == LOAD and traces.flight_segments(result, end + 0.001) == LOAD / 2


def _intervals(result: Result) -> bool:
    """Returns whether the times from held packet to fast retransmit, and to the end of recovery, are as printed."""
    held, again, over = _held_at(result), traces.retransmitted_at(result), traces.first_ack_of_retransmission(result)
    waited = PRINTED["fast_retransmit_s"] - PRINTED["held_s"]
    recovered = PRINTED["recovered_s"] - PRINTED["fast_retransmit_s"]
    return traces.near(again - held, waited) and traces.near(over - again, recovered)


ARTEFACT = figure(
    4,
    "The effect of packet re-ordering",
    {"drawn": transfer(overtaken=OVERTAKEN)},
    _draw,
    Claim("the packet of second 37.7 is held", lambda m: traces.near(_held_at(m.result()), PRINTED["held_s"])),
    Claim(
        "six packets overtake it, and the receiver sends six duplicate ACKs",
        lambda m: traces.duplicate_acks(m.result(), traces.first_ack_of_retransmission(m.result())) == 6,
    ),
    Claim(
        "the third triggers a spurious fast retransmit; nothing is lost",
        lambda m: m.mean("spurious_fast_retransmits", run="drawn") == 1 and m.mean("drops", run="drawn") == 0,
    ),
    Claim(
        "7.0 s pass until the fast retransmit, and 2.2 s until recovery is over, within a packet on the line",
        lambda m: _intervals(m.result()),
    ),
    Claim(
        "the load decrease costs nothing: after it the receiver is never idle (the thesis: almost never)",
        lambda m: idle.idle_share(m.result(), traces.retransmitted_at(m.result()), 70) == 0,
    ),
    Claim("the sender halves its load", lambda m: _halves(m.result())),
)
