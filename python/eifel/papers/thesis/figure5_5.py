"""Figure 5-5: the Eifel algorithm after a spurious timeout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eifel.papers.artefact import Claim
from eifel.papers.published import numbers
from eifel.papers.thesis import traces
from eifel.papers.thesis.hiccup import hiccup_of, transfer
from eifel.papers.thesis.traced_figure import figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from eifel.papers.measured import Measured
    from eifel.result import Result

PRINTED = numbers("thesis", "figure5_5")
MARKS = {"one bit each way": "bits", "timestamps on retransmissions only": "timestamps"}
"""The alternatives of section 5.2.1."""
LONGER_S = (hiccup_of(5)[0], 64.0)
"""Without timestamps on every segment, the timer gets one sample per round trip, and would not
expire in the printed hiccup.
"""


def _draw(measured: Measured) -> Figure:
    from eifel.plots.both_traces import both_traces_figure

    return both_traces_figure({"": measured.result()}, (41, 71), title=measured.artefact.title)


def _answers_the_original(result: Result) -> bool:
    """Returns whether the deciding ACK echoes the first held packet, which left when the hiccup began."""
    again = traces.sent(result, kind="retransmission")
    original = traces.sent(result, kind="new").where(start=int(again["start"][0]))
    came = traces.acks(result)
    at = came.rows(came["t_ns"] == round(traces.first_ack_of_retransmission(result) * 1e9))
    left_ms = int(original["t_ns"][0]) // 1_000_000
    return int(at["echo"][0]) == left_ms and traces.near(left_ms / 1e3, PRINTED["hiccup_starts_s"])


ARTEFACT = figure(
    5,
    "Response after a spurious timeout",
    {
        "drawn": transfer(hiccup_s=hiccup_of(5), eifel=True),
        "without Eifel": transfer(hiccup_s=hiccup_of(5)),
        **{name: transfer(hiccup_s=LONGER_S, eifel=True, marks=marks) for name, marks in MARKS.items()},
    },
    _draw,
    Claim(
        "the retransmission leaves at second 54.7, within a packet on the line, the only one before the hiccup ends",
        lambda m: (
            traces.near(traces.retransmitted_at(m.result()), PRINTED["retransmission_s"])
            and traces.one_retransmission_during(m.result())
        ),
    ),
    Claim(
        "the first ACK for it carries the timestamp of the original, from when the hiccup began",
        lambda m: _answers_the_original(m.result()),
    ),
    Claim("cwnd and ssthresh are restored", traces.window_restored),
    Claim(
        "no go-back-N: sending goes on with the next unsent segment, and nothing else is sent again",
        lambda m: m.mean("retransmissions", run="drawn") == 1,
    ),
    Claim(
        "without Eifel the same hiccup has everything outstanding sent again",
        lambda m: traces.goes_back_n(m.result(run="without Eifel")),
    ),
    Claim(
        "one bit each way, or timestamps on retransmissions alone, resolve the ambiguity as well",
        lambda m: all(
            m.mean("retransmissions", run=name) == 1
            and len(m.result(run=name).of("episodes").where(verdict="spurious", cause="timeout")) == 1
            for name in MARKS
        ),
    ),
)
