"""Figure 5-2: go-back-N after a spurious timeout, sender and receiver traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eifel.papers.artefact import Claim
from eifel.papers.thesis import idle, traces
from eifel.papers.thesis.hiccup import hiccup_of, transfer
from eifel.papers.thesis.traced_figure import figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from eifel.papers.measured import Measured
    from eifel.result import Result


def _draw(measured: Measured) -> Figure:
    from eifel.plots.both_traces import both_traces_figure

    return both_traces_figure({"": measured.result()}, (28, 58), title=measured.artefact.title)


def _originals_first(result: Result) -> bool:
    """Returns whether the first ACK after the timeout arrives before any retransmission reaches the receiver."""
    again = sorted(traces.arrivals_of(result, "retransmission").tolist())
    arrived = result.of("arrivals").where(tx=again[0])
    return traces.first_ack_of_retransmission(result) < traces.seconds(arrived)


ARTEFACT = figure(
    2,
    "Go-back-N after a spurious timeout (sender and receiver traces)",
    {"drawn": transfer(hiccup_s=hiccup_of(2))},
    _draw,
    Claim(
        "while packets are held, all outstanding segments are acknowledged, and each ACK clocks out a new one",
        lambda m: traces.acked_and_clocked_out(m.result()),
    ),
    Claim("one retransmission leaves before the hiccup ends", lambda m: traces.one_retransmission_during(m.result())),
    Claim(
        "the timeout is spurious, and nothing is lost at all",
        lambda m: m.mean("spurious_timeouts", run="drawn") == 1 and m.mean("drops", run="drawn") == 0,
    ),
    Claim("the first ACK after it is that of the original", lambda m: _originals_first(m.result())),
    Claim(
        "the load decrease costs next to nothing: from the hiccup's end on the receiver is idle for less than 0.5 % of"
        " the time (the thesis: almost no idle times)",
        lambda m: idle.idle_share(m.result(), traces.hiccup(m.result())[1], 58) < 0.005,
    ),
    Claim("everything outstanding is sent again: go-back-N", lambda m: traces.goes_back_n(m.result())),
    Claim(
        "the receiver's duplicate ACKs trigger a spurious fast retransmit",
        lambda m: m.mean("spurious_fast_retransmits", run="drawn") == 1,
    ),
)
