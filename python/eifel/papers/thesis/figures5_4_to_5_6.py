"""Figures 5-4 to 5-6: a packet that six others overtake, and the Eifel algorithm.

It responds to a spurious timeout (5-5), and to a spurious fast retransmit, without and with a burst
pacer (5-6).
"""

import numpy as np

from eifel.papers.artefact import Claim, Setting
from eifel.papers.claims import of
from eifel.papers.published import numbers
from eifel.papers.thesis import traces
from eifel.papers.thesis.hiccup import BURST_PACER, LOAD, PACKET_S, hiccup_of, transfer
from eifel.papers.thesis.traced_figure import OPEN, figure
from eifel.result import Result

PRINTED_4 = numbers("thesis", "figure5_4")
OVERTAKEN_4 = 79
"""The segment that leaves within a packet time of the call of `hiccup`."""
PRINTED_5 = numbers("thesis", "figure5_5")
MARKS = {"one bit each way": "bits", "timestamps on retransmissions only": "timestamps"}
"""The alternatives of section 5.2.1."""
LONGER_S = (hiccup_of(5)[0], 64.0)
"""Without timestamps on every segment, the timer gets one sample per round trip, and would not
expire in the printed hiccup.
"""
PRINTED_6 = numbers("thesis", "figure5_6")
OVERTAKEN_6 = 84
PACED = "with a burst pacer"


def held_s(result: Result, segment: int) -> float:
    """Returns the time at which the original of the overtaken segment leaves, in seconds."""
    return traces.seconds(traces.sent(result, segment=segment, kind="new"))


def _halves(result: Result) -> bool:
    """Returns whether the flight size one round trip after recovery is half of that before."""
    end = traces.first_ack_of_retransmission(result)
    before = traces.flight_segments(result, traces.retransmitted_at(result) - 0.001)
    return before == LOAD and traces.flight_segments(result, end + 0.001) == LOAD / 2


def _intervals(result: Result) -> bool:
    """Returns whether the times from held packet to fast retransmit, and to the end of recovery, are as printed."""
    held, again, over = (
        held_s(result, OVERTAKEN_4),
        traces.retransmitted_at(result),
        traces.first_ack_of_retransmission(result),
    )
    waited = PRINTED_4["fast_retransmit_s"] - PRINTED_4["held_s"]
    recovered = PRINTED_4["recovered_s"] - PRINTED_4["fast_retransmit_s"]
    return traces.near(again - held, waited) and traces.near(over - again, recovered)


def _answers_the_original(result: Result) -> bool:
    """Returns whether the deciding ACK echoes the first held packet, which left when the hiccup began."""
    again = traces.sent(result, kind="retransmission")
    original = traces.sent(result, kind="new").where(start=int(again["start"][0]))
    came = traces.acks(result)
    at = came.rows(came["t_ns"] == round(traces.first_ack_of_retransmission(result) * 1e9))
    left_ms = int(original["t_ns"][0]) // 1_000_000
    return int(at["echo"][0]) == left_ms and traces.near(left_ms / 1e3, PRINTED_5["hiccup_starts_s"])


def _burst(result: Result) -> int:
    """Returns the most segments after the verdict that leave within half a segment time of the line."""
    after = traces.between(traces.sent(result), traces.first_ack_of_retransmission(result), np.inf)
    instants = after["t_ns"] / 1e9
    later = np.searchsorted(instants, instants + PACKET_S / 2)
    return int((later - np.arange(len(instants))).max())


def _delivered(result: Result) -> int:
    return int(traces.acks(result)["cumulative"].max())


FIGURE_5_4 = figure(
    4,
    "The effect of packet re-ordering",
    {"drawn": transfer(overtaken=OVERTAKEN_4)},
    (36, 52),
    Claim(
        "the packet of second 37.7 is held",
        lambda m: traces.near(held_s(m.result(), OVERTAKEN_4), PRINTED_4["held_s"]),
    ),
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
        of(_intervals),
    ),
    Claim(
        "the load decrease costs nothing: after it the receiver is never idle (the thesis: almost never)",
        lambda m: traces.idle_share(m.result(), traces.retransmitted_at(m.result()), 70) == 0,
    ),
    Claim("the sender halves its load", of(_halves)),
    overtaken=OVERTAKEN_4,
)
FIGURE_5_5 = figure(
    5,
    "Response after a spurious timeout",
    {
        "drawn": transfer(hiccup_s=hiccup_of(5), eifel=True),
        "without Eifel": transfer(hiccup_s=hiccup_of(5)),
        **{name: transfer(hiccup_s=LONGER_S, eifel=True, marks=marks) for name, marks in MARKS.items()},
    },
    (41, 71),
    Claim(
        "the retransmission leaves at second 54.7, within a packet on the line, the only one before the hiccup ends",
        lambda m: (
            traces.near(traces.retransmitted_at(m.result()), PRINTED_5["retransmission_s"])
            and traces.one_retransmission_during(m.result())
        ),
    ),
    Claim(
        "the first ACK for it carries the timestamp of the original, from when the hiccup began",
        of(_answers_the_original),
    ),
    Claim("cwnd and ssthresh are restored", traces.window_restored),
    Claim(
        "no go-back-N: sending goes on with the next unsent segment, and nothing else is retransmitted",
        lambda m: m.mean("retransmissions", run="drawn") == 1,
    ),
    Claim(
        "without Eifel the same hiccup has everything outstanding retransmitted",
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
FIGURE_5_6 = figure(
    6,
    "Response after a spurious fast retransmit",
    {
        "drawn": transfer(overtaken=OVERTAKEN_6, eifel=True),
        PACED: transfer(overtaken=OVERTAKEN_6, eifel=True, pace=BURST_PACER),
        "without Eifel": transfer(overtaken=OVERTAKEN_6),
    },
    (39, 54),
    Claim(
        "the packet of second 40.5 is held",
        lambda m: traces.near(held_s(m.result(), OVERTAKEN_6), PRINTED_6["held_s"]),
    ),
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
            traces.retransmitted_at(m.result()) - held_s(m.result(), OVERTAKEN_6),
            PRINTED_6["fast_retransmit_s"] - PRINTED_6["held_s"],
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
        Setting("burst pacer", "bursts of 2, the rest at cwnd / SRTT", "the thesis only asks for one"),
    ),
    panels={"as in the thesis": "drawn", PACED: PACED},
    overtaken=OVERTAKEN_6,
)
