"""The path of figures 2 to 5 and tables II and III, which one spike holds: stated and chosen settings."""

import math
from collections.abc import Mapping
from typing import Any

from eifel.flows import main_flow
from eifel.papers import rfc3522
from eifel.papers.artefact import Setting

SOURCE = "DualRTT"

SPIKE_S = (28.0, 40.0)
RATE_BPS = 46_800
DELAY_MS = 1400
PAYLOAD_BYTES = 536
WINDOW_SEGMENTS = 20
TICK_MS = 100
TOLERANCE_S = 0.15
"""The tolerance for published times, in seconds."""
ESTIMATED = math.nan
"""Stands for equation (6) with the path that the sender estimates (section V.B), instead of a fixed tau."""

LEFT_OPEN = (
    Setting("headers", "40 bytes, and 12 more with timestamps", "20 of TCP are stated; IP has 20"),
    Setting("ACKs", "one a segment, each a packet on a path without loss", "not stated"),
    Setting(
        "timer",
        f"ns-2's whole numbers, ticks of {TICK_MS} ms, one sample a round trip, and one an ACK with timestamps",
        "not stated; it gives each RTO that the paper prints: 4.6, 4.0 and 3.8 s, and 3.2 s with timestamps",
        rows=("dualrtt.table2", "all rows of table III, and the RTOs that the text gives for figures 2 to 4"),
    ),
    Setting(
        "initial window",
        "1 segment, which the ACK of the handshake opens to 2",
        "1 is stated; the segments' numbers, the instants of the ACKs and a MinRTT of 2.8 s ask for the handshake",
        rows=("dualrtt.table2", "all rows of table III, and the segments' numbers in figures 2 to 5"),
    ),
    Setting("tau", "0.1", "section V.B: while the path is not known"),
)


def spike(
    detect: str | dict[str, Any] = "none", *, bugfix: bool = False, timestamps: bool = False, duration_s: float = 55
) -> dict[str, Any]:
    """Returns a bulk transfer by Reno whose segments are held from 28 to 40 s (section II.A, table I)."""
    window = WINDOW_SEGMENTS * PAYLOAD_BYTES
    rto = {"name": "lite", "clock": "scaled", "granularity_ms": TICK_MS, "initial_ms": 3000}
    congest = {
        "name": "reno",
        "initial_window_segments": 2,
        "initial_ssthresh_bytes": window,
        "ssthresh_from": "window",
        "repeated_timeout": "reduce",
        "grow": "always",
        "restart_after_idle": False,
    }
    flow = main_flow(
        application={"kind": "bulk", "endless": True},
        handshake=True,
        tcp={
            "payload_bytes": PAYLOAD_BYTES,
            "receive_window_bytes": window,
            **(rfc3522.CLOCK if timestamps else rfc3522.NONE),
            "sack": False,
            "delayed_ack_every": 1,
        },
        sender={
            "detect": detect,
            "respond": "option-1",
            "rto": rto,
            "recover": {"name": "reno", "bugfix": bugfix, "limited_transmit": False},
            "congest": congest,
        },
    )
    start_s, end_s = SPIKE_S
    return {
        "seed": 1,
        "duration_s": duration_s,
        "point_to_point": {"rate_bps": RATE_BPS, "delay_ms": DELAY_MS, "queue": {"kind": "unlimited"}},
        "spike": [{"links": ["bottleneck"], "holds": "sending", "at": [{"start_s": start_s, "end_s": end_s}]}],
        "flow": [flow],
    }


EIFEL = dict(rfc3522.PLAIN)
NOT_CARRIED = "not carried"
"""The run in which both ends know the timestamps, and the link carries no bytes of them."""
CARRIED = Setting(
    "timestamps",
    f'12 bytes a segment on the link; in the run "{NOT_CARRIED}" none',
    "the printed segments and instants ask for the second: the paper's Eifel may have been a change of the simulator's "
    "sender alone, whose packets kept their size",
)


def not_carried(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a session whose link charges 40 bytes of headers a segment, with or without timestamps."""
    return {**scenario, "header_bytes": 40}


def timestamps(on: bool) -> dict[str, Any]:
    return {f"flow.main.tcp.{key}": value for key, value in (rfc3522.CLOCK if on else rfc3522.NONE).items()}


def begin_without_handshake(flow: dict[str, Any]) -> None:
    """Makes the connection exist from the start, with a window of one segment, like one-way senders of ns-2."""
    flow["handshake"] = False
    flow["sender"]["congest"]["initial_window_segments"] = 1


def dual_rtt(tau: float = 0.1) -> dict[str, Any]:
    return {"name": "dual-rtt", "tau": "fixed", "tau_thousandths": round(1000 * tau)}


def detector(tau: float | None) -> tuple[str, str | dict[str, Any]]:
    """Returns a name and a detector: Eifel for None, DualRTT for a tau, or equation (6) for `ESTIMATED`."""
    if tau is None:
        return "eifel", EIFEL
    if math.isnan(tau):
        return "tau by the model", {"name": "dual-rtt", "tau": "model"}
    return f"tau {tau}", dual_rtt(tau)
