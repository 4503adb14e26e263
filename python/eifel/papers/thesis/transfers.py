"""The transfers of sections 5.3 and 5.4: bulk data over one slow, over-buffered link, in steady state."""

from collections.abc import Mapping
from typing import Any, Literal

from eifel.model import SteadyState
from eifel.papers import rfc3522
from eifel.papers.artefact import Setting

SOURCE = "R. Ludwig, thesis, chapter 5"

RATE_BPS = 9600
"""Stated for figure 5-16, and used for the others too."""
PACKET_BYTES = 1500
OPTION_BYTES = 12
"""The timestamps option."""
SEGMENT_S = PACKET_BYTES * 8 / RATE_BPS
"""The time of a full segment on the link, in seconds."""
DELAY_MS = 10
CYCLES = 8
LONG_MS = 3_600_000
"""A maximum far above any RTO here: round trips take up to a minute."""

Timer = Literal["lite", "eifel"]


def lite(granularity_ms: int, *, clock: str = "exact", restart: str = "full") -> dict[str, Any]:
    """Returns the Lite timer, as defined or as a heartbeat implements it."""
    return {
        "name": "lite",
        "granularity_ms": granularity_ms,
        "clock": clock,
        "restart": restart,
        "initial_ms": LONG_MS,
        "maximum_ms": LONG_MS,
    }


def eifel(granularity_ms: int) -> dict[str, Any]:
    return {"name": "eifel", "granularity_ms": granularity_ms, "initial_ms": LONG_MS, "maximum_ms": LONG_MS}


def model(max_load: int, **settings: Any) -> SteadyState:
    return SteadyState(max_load, SEGMENT_S, **settings)


def steady(max_load: int, rto: Mapping[str, Any], *, timestamps: bool = True) -> dict[str, Any]:
    """Returns a transfer whose load grows repeatedly from half of `max_load` to `max_load` segments.

    The queue limits the load: when it overflows, a segment is lost, and fast retransmit repairs it.
    """
    payload = PACKET_BYTES - 40 - (OPTION_BYTES if timestamps else 0)
    flow = {
        "name": "main",
        "from": "sender",
        "to": "receiver",
        "application": {"kind": "bulk", "endless": True},
        "handshake": False,
        "tcp": {
            "payload_bytes": payload,
            "receive_window_bytes": 1_000_000,
            **(rfc3522.CLOCK if timestamps else rfc3522.NONE),
            "sack": False,
            "delayed_ack_every": 1,
        },
        "sender": {
            "detect": "none",
            "respond": "none",
            "rto": dict(rto),
            "recover": {"name": "reno", "limited_transmit": False},
            "congest": {
                "name": "reno",
                "initial_window_segments": 2,
                # Steady state from the beginning: slow start ends where load cycles begin.
                "initial_ssthresh_bytes": max_load // 2 * payload,
                "grow": "always",
            },
        },
    }
    # A cycle is longer than in the model: a loss takes a round trip to be detected, and one to be
    # repaired.
    cycle_s = (model(max_load).cycle_segments + 2 * max_load) * SEGMENT_S
    return {
        "seed": 1,
        "duration_s": round(CYCLES * cycle_s),
        "point_to_point": {
            "rate_bps": RATE_BPS,
            "delay_ms": DELAY_MS,
            "queue": {"kind": "drop-tail", "packets": max_load},
            "back": {"queue": {"kind": "unlimited"}},
        },
        "flow": [flow],
    }


LEFT_OPEN = (
    Setting("link rate", f"{RATE_BPS} bit/s", "a slow serial link; stated for figure 5-16 alone"),
    Setting("packets", f"{PACKET_BYTES} bytes", "what Ethernet and serial links of the time carried"),
    Setting("one-way delay", f"{DELAY_MS} ms", "a serial cable: the pipe holds one segment"),
    Setting(
        "queue",
        "as many packets as the largest load",
        "the path is over-buffered, and the load ends where it is full",
    ),
    Setting("first RTO", "an hour", "steady state is what is looked at, not how it begins"),
    Setting("recovery", "Reno", "FreeBSD's of the time"),
)
"""The settings that the thesis leaves open for these transfers in simulation. The model uses the
first two and the fifth.
"""
