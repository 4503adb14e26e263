"""Figures 5-1 to 5-3: go-back-N after a spurious timeout.

Figure 5-1 is caused by a reliable link layer, and seen from the sender. Figure 5-3 is figure 5-2
with a small interface buffer, which go-back-N overflows.
"""

from typing import Any

import numpy as np

from eifel.papers.artefact import Claim, Setting
from eifel.papers.claims import of
from eifel.papers.published import numbers
from eifel.papers.thesis import traces
from eifel.papers.thesis.hiccup import RATE_BPS as LINE_BPS
from eifel.papers.thesis.hiccup import hiccup_of, transfer
from eifel.papers.thesis.traced_figure import figure
from eifel.result import Result
from eifel.tables import Frame

PRINTED_1 = numbers("thesis", "figure5_1")
RATE_BPS = 9600
PACKET_BYTES = 576
DELAY_MS = 200
LOAD = 8
HELD_S = (7.0, 13.95)
PRINTED_3 = numbers("thesis", "figure5_3")


def _scenario() -> dict[str, Any]:
    """Returns the transfer of the other figures over a slower line, with the hiccup on the line itself."""
    scenario = transfer(hiccup_s=HELD_S)
    line = {"rate_bps": RATE_BPS, "delay_ms": DELAY_MS}
    scenario["link"] = [link | line if link["name"] != "hiccup" else link for link in scenario["link"]]
    scenario["spike"] = [scenario["spike"][0] | {"links": ["line"], "holds": "sending"}]
    scenario["flow"][0]["tcp"] |= {"mss_bytes": PACKET_BYTES - 40, "receive_window_segments": LOAD}
    return scenario | {"duration_s": 40}


def _sooner_than_possible(result: Result) -> bool:
    """Returns whether the first ACK comes before any round trip could end, and at the printed time."""
    waited = traces.first_ack_of_retransmission(result) - traces.retransmitted_at(result)
    samples = result.of("timer")["rtt_ns"]
    shortest = float(samples[samples > 0].min()) / 1e9
    return waited < shortest and abs(waited - PRINTED_1["first_ack_after_s"]) < 0.05


def _two_by_two(result: Result) -> bool:
    """Returns whether each of the first three ACKs after the timeout triggers two retransmissions."""
    again = traces.sent(result, kind="retransmission", cause="timeout")
    first = traces.first_ack_of_retransmission(result)
    came = traces.between(traces.acks(result), first, np.inf)["t_ns"][:3]
    return [int((again["t_ns"] == at).sum()) for at in came] == [2, 2, 2]


def _originals_first(result: Result) -> bool:
    """Returns whether the first ACK after the timeout arrives before any retransmission reaches the receiver."""
    again = sorted(traces.arrivals_of(result, "retransmission").tolist())
    arrived = result.of("arrivals").where(tx=again[0])
    return traces.first_ack_of_retransmission(result) < traces.seconds(arrived)


def _at_twice_the_rate(result: Result) -> bool:
    """Returns whether slow start after the timeout's own retransmission sends at twice the line's rate."""
    again = traces.sent(result, kind="retransmission", cause="timeout")
    instants, lengths = again["t_ns"][1:], again["len"][1:]
    steps = np.unique(instants)
    # The packets of the last step have the time until the next ACK, which equals the previous
    # interval.
    seconds = float(steps[-1] - steps[0]) / 1e9 * len(steps) / (len(steps) - 1)
    return 1.7 <= float(lengths.sum()) * 8 / seconds / LINE_BPS <= 2.3


def _dropped(result: Result) -> Frame:
    """Returns the transmissions that overflowed the buffer."""
    return traces.sent(result).rows(np.isin(traces.sent(result)["tx"], result.of("drops")["tx"]))


def _drops(result: Result) -> tuple[int, int, int]:
    """Returns the numbers of all drops, of dropped spurious retransmissions, and of dropped originals."""
    lost = _dropped(result)
    return len(lost), len(lost.where(kind="retransmission", needed="spurious")), len(lost.where(kind="new"))


def _lost_and_repaired(result: Result) -> bool:
    """Returns whether exactly the lost original is retransmitted out of need."""
    lost = _dropped(result).where(kind="new")["start"]
    needed = traces.sent(result, kind="retransmission", needed="needed")["start"]
    return bool(np.array_equal(np.unique(needed), lost))


FIGURE_5_1 = figure(
    1,
    "Go-back-N after a spurious timeout (sender trace)",
    {"drawn": _scenario()},
    (4, 21),
    Claim(
        "the timeout comes at second 14.5, within a packet on the line",
        lambda m: (
            abs(traces.retransmitted_at(m.result()) - PRINTED_1["timeout_s"]) < PACKET_BYTES * 8 / RATE_BPS
            and m.mean("drops", run="drawn") == 0
        ),
    ),
    Claim(
        "the first ACK after it comes about 400 ms later, within 50 ms, sooner than any round trip could be",
        of(_sooner_than_possible),
    ),
    Claim("each of the ACKs of originals has two segments retransmitted", of(_two_by_two)),
    Claim("this goes on until the entire window has been retransmitted", of(traces.goes_back_n)),
    fitted=(
        Setting(
            "standstill of the line",
            f"{HELD_S[0]:g} to {HELD_S[1]:g} s",
            "a timeout at second 14.5 and an ACK 0.4 s later",
            rows=("all rows: the instants that the text gives for figure 5-1",),
        ),
        Setting(
            "line",
            f"{RATE_BPS / 1000:g} kbit/s, {DELAY_MS} ms, packets of {PACKET_BYTES} bytes",
            "the trace is from another author's measurement over a cellular data link; these are usual there",
        ),
        Setting("load", f"{LOAD} segments", "the text does not say; only how long the go-back-N is depends on it"),
        Setting("timer and recovery", "as in figure 5-2", "TCP-Lite, as the text describes it"),
    ),
    receiver=False,
)
FIGURE_5_2 = figure(
    2,
    "Go-back-N after a spurious timeout (sender and receiver traces)",
    {"drawn": transfer(hiccup_s=hiccup_of(2))},
    (28, 58),
    Claim(
        "while packets are held, all outstanding segments are acknowledged, and each ACK clocks out a new one",
        of(traces.acked_and_clocked_out),
    ),
    Claim("one retransmission leaves before the hiccup ends", of(traces.one_retransmission_during)),
    Claim(
        "the timeout is spurious, and nothing is lost at all",
        lambda m: m.mean("spurious_timeouts", run="drawn") == 1 and m.mean("drops", run="drawn") == 0,
    ),
    Claim("the first ACK after it is that of the original", of(_originals_first)),
    Claim(
        "the load decrease costs next to nothing: from the hiccup's end on the receiver is idle for less than 0.5 % of"
        " the time (the thesis: almost no idle times)",
        lambda m: traces.idle_share(m.result(), traces.hiccup(m.result())[1], 58) < 0.005,
    ),
    Claim("everything outstanding is retransmitted: go-back-N", of(traces.goes_back_n)),
    Claim(
        "the receiver's duplicate ACKs trigger a spurious fast retransmit",
        lambda m: m.mean("spurious_fast_retransmits", run="drawn") == 1,
    ),
)
FIGURE_5_3 = figure(
    3,
    "Go-back-N after a spurious timeout causing a real packet drop",
    {"drawn": transfer(hiccup_s=hiccup_of(2), buffer_packets=int(PRINTED_3["buffer_packets"]))},
    (38, 61),
    Claim("retransmissions leave at twice the line's rate", of(_at_twice_the_rate)),
    Claim("the interface buffer overflows four times", lambda m: _drops(m.result())[0] == PRINTED_3["drops"]),
    Claim(
        "three spurious retransmissions and one original are dropped",
        lambda m: (
            _drops(m.result())[1:] == (PRINTED_3["dropped_spurious_retransmissions"], PRINTED_3["dropped_originals"])
        ),
    ),
    Claim("that original is really lost, and has to be retransmitted", of(_lost_and_repaired)),
)
