"""Transfers for figure 5-7: a regular cycle, and cycles with a spurious retransmission.

Some begin in the state after that retransmission, and some cause it by a hiccup.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.flows import main_flow
from eifel.model import loss
from eifel.papers.artefact import Measured
from eifel.result import Result

WINDOW = 80
RATIOS = (1.0, 1.25, 1.6, 2.0, 2.5, 3.2, 4.0, 5.0)
SEGMENT_MS = 10
"""The time of a segment on the bottleneck."""
PAYLOAD_BYTES = 1000
KINDS: tuple[loss.Retransmission, ...] = ("fast retransmit", "timeout")
_REGULAR = (WINDOW // 2, WINDOW // 2)
BEGINNINGS = {
    "cycle": _REGULAR,
    "fast retransmit": (WINDOW // 4, WINDOW // 4),
    "timeout": (1, WINDOW // 4),
    "fast retransmit by hiccup": _REGULAR,
    "timeout by hiccup": _REGULAR,
}
"""cwnd and ssthresh in segments. The last two are regular cycles with a spurious retransmission in
their first round.
"""
HELD_S = 8.0
RTO_MS = 5000
"""Long compared with any round trip, and short compared with the hiccup."""


def scenario(ratio: float, beginning: str) -> dict[str, Any]:
    """Returns a transfer with this initial window. The queue holds everything that the pipe does not."""
    cwnd, ssthresh = BEGINNINGS[beginning]
    delay_ms = (WINDOW / ratio - 1) * SEGMENT_MS / 2
    sender = {
        "detect": "none",
        "respond": "none",
        "rto": {"name": "rfc6298", "initial_ms": RTO_MS, "minimum_ms": RTO_MS},
        "recover": "reno",
        "congest": {
            "name": "reno",
            "initial_window_segments": cwnd,
            "initial_ssthresh_bytes": ssthresh * PAYLOAD_BYTES,
            "grow": "always",
        },
    }
    tcp = {"payload_bytes": PAYLOAD_BYTES, "timestamps": False, "sack": False, "delayed_ack_every": 1}
    made: dict[str, Any] = {
        "seed": 1,
        "duration_s": 130,
        "stop": "at-duration",
        "header_bytes": 0,
        "point_to_point": {
            "rate_bps": PAYLOAD_BYTES * 8 * 1000 // SEGMENT_MS,
            "delay_ms": delay_ms,
            "back": {"rate_bps": "unlimited"},
        },
        "flow": [main_flow(handshake=False, application={"kind": "bulk", "endless": True}, tcp=tcp, sender=sender)],
    }
    if beginning == "fast retransmit by hiccup":
        made["point_to_point"]["reorder"] = {"flow": "main", "segments": [WINDOW // 2 + 2], "length": 4}
    if beginning == "timeout by hiccup":
        # Just after the first ACK, so that the second round is held.
        start_s = (WINDOW / ratio + 0.5) * SEGMENT_MS / 1e3
        at = [{"start_s": start_s, "end_s": start_s + HELD_S}]
        made["spike"] = [{"links": ["bottleneck"], "holds": "sending", "at": at}]
    return made


def _until_full(result: Result) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns the times of ACKs until the load is W, and the acknowledged data at those times.

    Times are in segment times and data is in segments. Both count from a segment time before the
    first ACK, or before the first one after a hiccup.
    """
    acks, window = result.of("acks"), result.of("window")
    begun = max(result.frame("spikes")["end_ns"], default=0)
    opened = max(result.of("episodes")["opened_ns"], default=0)
    full = window["t_ns"][(window["cwnd"] >= (WINDOW - 0.01) * PAYLOAD_BYTES) & (window["t_ns"] > opened)][0]
    before = max(acks["cumulative"][acks["t_ns"] < begun], default=1)
    within = (acks["t_ns"] >= begun) & (acks["t_ns"] <= full)
    times = acks["t_ns"][within] / (SEGMENT_MS * 1e6)
    return times - times[0] + 1, (acks["cumulative"][within] - before) / PAYLOAD_BYTES


def _simulated(measured: Measured, ratio: float, beginning: str) -> float:
    """Returns the loss of a simulated transfer compared with the regular one, which repeats its cycle."""
    times, acked = _until_full(measured.result(ratio=ratio, beginning="cycle"))
    lasted, did = (values[-1] for values in _until_full(measured.result(ratio=ratio, beginning=beginning)))
    cycles, rest = divmod(lasted, times[-1])
    could = cycles * acked[-1] + np.interp(rest, np.concatenate([[0], times]), np.concatenate([[0], acked]))
    return float((could - did) / did)


def losses(measured: Measured, how: str = "") -> dict[loss.Retransmission, dict[float, float]]:
    """Returns the simulated losses by ratio for halved beginnings. `how=" by hiccup"`: halved by a hiccup."""
    return {kind: {ratio: _simulated(measured, ratio, kind + how) for ratio in RATIOS} for kind in KINDS}
