"""Figures 5-16 and 5-17: the gain of restarting REXMT precisely where fast retransmit cannot help (measured).

Figure 5-17 is a close-up: the wait of a loss for its timeout.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.papers.artefact import Claim, Measured, Setting
from eifel.papers.published import numbers
from eifel.papers.thesis import transfers
from eifel.papers.thesis.timer_figure import figure
from eifel.plots import Figure
from eifel.plots.progress import progress_figure
from eifel.result import Result

FROM_S, TO_S = 100, 115
PACKET_BYTES = 296
DELAY_MS = 1
DURATION_S = 900
NAMES = {"full": "REXMT$_L$", "age": "REXMT$_E$"}

SIZES_BYTES = (216, 256, 276, 290, 576)
"""Other packet sizes, which are equally plausible on a slow serial line."""
PRINTED = numbers("thesis", "figure5_16")["throughput_gain"]
NEAR = 0.05
"""The tolerance below the printed gain for "almost"."""

_PACKETS = Setting(
    "packets",
    f"{PACKET_BYTES} bytes",
    "what slow serial lines were set to, and a size with a gain; whether there is one depends on it",
    rows=("all rows of figure 5-16: a gain at all",),
)
LEFT_OPEN = (
    _PACKETS,
    Setting("one-way delay", f"{DELAY_MS} ms", "a serial cable"),
    Setting("queue", "one packet waits, and one is in transmission", "the interface buffer of one packet"),
    Setting("ACKs", "one a segment", "not stated"),
    Setting("transfer", f"{DURATION_S} s", "long enough for hundreds of losses"),
    Setting("recovery", "Reno", "FreeBSD's of the time"),
)


def scenario(restart: str, packet_bytes: int = PACKET_BYTES) -> dict[str, Any]:
    """Returns a scenario with at most three segments in flight. A timeout by RTO_L repairs each loss."""
    made = transfers.steady(4, transfers.lite(500, clock="heartbeat", restart=restart))
    flow = made["flow"][0]
    flow["tcp"]["payload_bytes"] = packet_bytes - 40 - transfers.OPTION_BYTES
    flow["sender"]["rto"]["initial_ms"] = 3000
    flow["sender"]["congest"] = {"name": "reno", "initial_window_segments": 1, "grow": "always"}
    queue = {"kind": "drop-tail", "packets": 2}
    return made | {
        "duration_s": DURATION_S,
        "point_to_point": made["point_to_point"] | {"delay_ms": DELAY_MS, "queue": queue},
    }


RUNS: Mapping[str, Mapping[str, Any]] = {restart: scenario(restart) for restart in NAMES} | {
    f"{restart}, {size} bytes": scenario(restart, size) for size in SIZES_BYTES for restart in NAMES
}


def gain(measured: Measured, size: int | None = None) -> float:
    """Returns the relative gain in throughput of precise restarting, optionally for another packet size."""
    full, age = (restart if size is None else f"{restart}, {size} bytes" for restart in ("full", "age"))
    return measured.mean("goodput_bps", run=age) / measured.mean("goodput_bps", run=full) - 1


def _as_printed(found: float) -> bool:
    return PRINTED - NEAR <= found <= PRINTED


def _waits_s(result: Result) -> NDArray[np.float64]:
    """Returns the waits from the first transmission of each lost segment to its needed timeout, in seconds."""
    sent = result.of("transmissions")
    new = sent.where(kind="new")
    episodes = result.of("episodes").where(cause="timeout", truth="genuine")
    found = np.searchsorted(new["start"], episodes["start"], side="right") - 1
    return np.asarray(episodes["opened_ns"] - new["t_ns"][found], dtype=np.float64) / 1e9


def _duplicates_before_timeout(result: Result) -> int:
    """Returns the most duplicate ACKs that arrived for a segment before its timeout."""
    acks, episodes = result.of("acks").where(duplicate=True), result.of("episodes").where(cause="timeout")
    before = [acks["cumulative"][acks["t_ns"] < opened] for opened in episodes["opened_ns"]]
    return max(int(np.sum(seen == start)) for seen, start in zip(before, episodes["start"], strict=True))


def _draw(measured: Measured) -> Figure:
    runs = [(name, measured.result(run=run)) for run, name in NAMES.items()]
    title = f"{measured.artefact.title}: {gain(measured):.0%} more throughput"
    return progress_figure(runs, (0, 300), title=title)


def _draw_near(measured: Measured) -> Figure:
    runs = [(name, measured.result(run=run)) for run, name in NAMES.items()]
    return progress_figure(runs, (FROM_S, TO_S), title=measured.artefact.title, acks=True)


FIGURE_5_16 = figure(
    16,
    "Restarting REXMT_E precisely (measured)",
    RUNS,
    Claim(
        "fast retransmit is out of action: every loss is repaired by a timeout",
        lambda m: all(m.mean("fast_retransmits", run=run) == 0 < m.mean("timeouts", run=run) for run in NAMES),
    ),
    Claim(
        "precise restarting gives almost 30 % more throughput (25 to 30 %) with the packets that are drawn",
        lambda m: _as_printed(gain(m)),
    ),
    Claim("... and with each of the other sizes", lambda m: all(_as_printed(gain(m, size)) for size in SIZES_BYTES)),
    Claim(
        "precise restarting never costs throughput, whatever the packets' size",
        lambda m: all(gain(m, size) >= 0 for size in (None, *SIZES_BYTES)),
    ),
    draw=_draw,
    chosen=LEFT_OPEN,
)
FIGURE_5_17 = figure(
    17,
    "Restarting REXMT_E precisely, from near (measured)",
    RUNS,
    Claim(
        "the timeout comes before a third duplicate ACK would",
        lambda m: all(_duplicates_before_timeout(m.result(run=run)) < 3 for run in NAMES),
    ),
    Claim(
        "a lost segment waits less: by at least a quarter, in the median",
        lambda m: bool(np.median(_waits_s(m.result(run="age"))) < 0.75 * np.median(_waits_s(m.result(run="full")))),
    ),
    draw=_draw_near,
    chosen=LEFT_OPEN,
)
