"""Transfers that begin as a regular cycle does, or as after a spurious retransmission, for figure 5-7."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eifel.model import loss

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from eifel.papers.measured import Measured
    from eifel.result import Result

WINDOW = 80
RATIOS = (1.0, 1.25, 1.6, 2.0, 2.5, 3.2, 4.0, 5.0)
SEGMENT_MS = 10
"""Of a segment on the bottleneck."""
PAYLOAD_BYTES = 1000
BEGINNINGS = {"cycle": (WINDOW // 2, WINDOW // 2), "fast retransmit": (WINDOW // 4,) * 2, "timeout": (1, WINDOW // 4)}
"""cwnd and ssthresh in segments, as a regular cycle and the two kinds of spurious retransmission begin with them."""
KINDS: tuple[loss.Retransmission, ...] = ("fast retransmit", "timeout")


def scenario(ratio: float, beginning: str) -> dict[str, Any]:
    """A transfer that begins with the window as it is then; the queue holds whatever the pipe does not."""
    cwnd, ssthresh = BEGINNINGS[beginning]
    delay_ms = (WINDOW / ratio - 1) * SEGMENT_MS / 2
    sender = {
        "detect": "none",
        "respond": "none",
        "rto": {"name": "rfc6298", "initial_ms": 60_000, "minimum_ms": 60_000},
        "recover": "reno",
        "congest": {
            "name": "reno",
            "initial_window_segments": cwnd,
            "initial_ssthresh_bytes": ssthresh * PAYLOAD_BYTES,
            "grow": "always",
        },
    }
    tcp = {"payload_bytes": PAYLOAD_BYTES, "timestamps": False, "sack": False, "delayed_ack_every": 1}
    return {
        "seed": 1,
        "duration_s": 120,
        "stop": "at-duration",
        "header_bytes": 0,
        "point_to_point": {
            "rate_bps": PAYLOAD_BYTES * 8 * 1000 // SEGMENT_MS,
            "delay_ms": delay_ms,
            "back": {"rate_bps": "unlimited"},
        },
        "flow": [
            {
                "name": "main",
                "from": "sender",
                "to": "receiver",
                "handshake": False,
                "application": {"kind": "bulk", "endless": True},
                "tcp": tcp,
                "sender": sender,
            }
        ],
    }


def _until_full(result: Result) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """When ACKs came until the load was W, from a segment time before the first on, and what was acknowledged then.

    In segment times, and in segments.
    """
    acks, window = result.of("acks"), result.of("window")
    full = window["t_ns"][window["cwnd"] >= (WINDOW - 0.01) * PAYLOAD_BYTES][0]
    within = acks["t_ns"] <= full
    times = acks["t_ns"][within] / (SEGMENT_MS * 1e6)
    return times - times[0] + 1, (acks["cumulative"][within] - 1) / PAYLOAD_BYTES


def _simulated(measured: Measured, ratio: float, spurious: loss.Retransmission) -> float:
    """The loss between two simulated transfers, of which the regular one repeats its cycle."""
    times, acked = _until_full(measured.result(ratio=ratio, beginning="cycle"))
    lasted, did = (values[-1] for values in _until_full(measured.result(ratio=ratio, beginning=spurious)))
    cycles, rest = divmod(lasted, times[-1])
    could = cycles * acked[-1] + np.interp(rest, np.concatenate([[0], times]), np.concatenate([[0], acked]))
    return float((could - did) / did)


def losses(measured: Measured) -> dict[loss.Retransmission, dict[float, float]]:
    """The simulated losses by ratio."""
    return {kind: {ratio: _simulated(measured, ratio, kind) for ratio in RATIOS} for kind in KINDS}
