"""Figure 5-1: go-back-N after a spurious timeout caused by a reliable link layer, seen from the sender."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eifel.papers.artefact import Claim, Setting
from eifel.papers.published import numbers
from eifel.papers.thesis import traces
from eifel.papers.thesis.hiccup import transfer
from eifel.papers.thesis.traced_figure import figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from eifel.papers.measured import Measured
    from eifel.result import Result

PRINTED = numbers("thesis", "figure5_1")
RATE_BPS = 9600
PACKET_BYTES = 576
DELAY_MS = 200
LOAD = 8
HELD_S = (7.0, 13.95)


def _scenario() -> dict[str, Any]:
    """Returns the transfer of the other figures over a slower line, with the hiccup on the line itself."""
    scenario = transfer(hiccup_s=HELD_S)
    line = {"rate_bps": RATE_BPS, "delay_ms": DELAY_MS}
    scenario["link"] = [link | line if link["name"] != "hiccup" else link for link in scenario["link"]]
    scenario["spike"] = [scenario["spike"][0] | {"links": ["line"], "holds": "sending"}]
    scenario["flow"][0]["tcp"] |= {"mss_bytes": PACKET_BYTES - 40, "receive_window_segments": LOAD}
    return scenario | {"duration_s": 40}


def _draw(measured: Measured) -> Figure:
    from eifel.plots.both_traces import both_traces_figure

    return both_traces_figure({"": measured.result()}, (4, 21), title=measured.artefact.title, receiver=False)


def _sooner_than_possible(result: Result) -> bool:
    """Returns whether the first ACK comes before any round trip could end, and at the printed time."""
    waited = traces.first_ack_of_retransmission(result) - traces.retransmitted_at(result)
    samples = result.of("timer")["rtt_ns"]
    shortest = float(samples[samples > 0].min()) / 1e9
    return waited < shortest and abs(waited - PRINTED["first_ack_after_s"]) < 0.05


def _two_by_two(result: Result) -> bool:
    """Returns whether each of the first three ACKs after the timeout triggers two retransmissions."""
    again = traces.sent(result, kind="retransmission", cause="timeout")
    first = traces.first_ack_of_retransmission(result)
    came = traces.between(traces.acks(result), first, np.inf)["t_ns"][:3]
    return [int((again["t_ns"] == at).sum()) for at in came] == [2, 2, 2]


ARTEFACT = figure(
    1,
    "Go-back-N after a spurious timeout (sender trace)",
    {"drawn": _scenario()},
    _draw,
    Claim(
        "the timeout comes at second 14.5, within a packet on the line",
        lambda m: (
            abs(traces.retransmitted_at(m.result()) - PRINTED["timeout_s"]) < PACKET_BYTES * 8 / RATE_BPS
            and m.mean("drops", run="drawn") == 0
        ),
    ),
    Claim(
        "the first ACK after it comes about 400 ms later, sooner than any round trip could be",
        lambda m: _sooner_than_possible(m.result()),
    ),
    Claim("each of the ACKs of originals has two segments sent again", lambda m: _two_by_two(m.result())),
    Claim(
        "this goes on until the entire window has been retransmitted",
        lambda m: traces.goes_back_n(m.result()),
    ),
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
            "chosen",
        ),
        Setting(
            "load", f"{LOAD} segments", "the text does not say; only how long the go-back-N is depends on it", "chosen"
        ),
        Setting("timer and recovery", "as in figure 5-2", "TCP-Lite, as the text describes it", "chosen"),
    ),
)
