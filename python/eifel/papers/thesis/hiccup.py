"""The network of section 3.3.2, as far as chapter 5 describes it.

A serial line behind the sender's interface. The interface's queue `hiccup` holds outbound packets
and then releases them.
"""

from collections.abc import Mapping
from typing import Any

from eifel.flows import main_flow
from eifel.papers import rfc3522
from eifel.papers.published import numbers

RATE_BPS = 22_000
PACKET_BYTES = 1500
PACKET_S = PACKET_BYTES * 8 / RATE_BPS
"""The time of a full packet on the line: 0.545 s."""
LOAD = 10
DELAY_MS = 50
BUFFER_PACKETS = 50
DURATION_S = 80

BURST_PACER = {"name": "burst-pacer", "segments": 2, "slow_start_percent": 100, "avoidance_percent": 100}


def transfer(
    *,
    hiccup_s: tuple[float, float] | None = None,
    overtaken: int | None = None,
    buffer_packets: int = BUFFER_PACKETS,
    eifel: bool = False,
    marks: str | None = None,
    pace: str | Mapping[str, Any] = "none",
) -> dict[str, Any]:
    """Returns a bulk transfer. `hiccup_s` holds all packets in an interval; six overtake the segment `overtaken`.

    Eifel uses timestamps, or `marks` instead of them.
    """
    ambiguity = {"timestamps": False, "retransmission_marks": marks} if marks else dict(rfc3522.CLOCK)
    detect: Any = "eifel-bit" if marks else dict(rfc3522.PLAIN)
    line = {"rate_bps": RATE_BPS, "delay_ms": DELAY_MS}
    before: dict[str, Any] = {"rate_bps": "unlimited", "delay_ms": 0}
    if overtaken is not None:
        before["reorder"] = {"flow": "main", "segments": [overtaken], "length": 6}
    scenario: dict[str, Any] = {
        "seed": 1,
        "duration_s": DURATION_S,
        "stop": "at-duration",
        "node": [{"name": name} for name in ("sender", "interface", "receiver")],
        "link": [
            {"from": "sender", "to": "interface", "name": "hiccup", **before},
            {
                "from": "interface",
                "to": "receiver",
                "name": "line",
                **line,
                "queue": {"kind": "drop-tail", "packets": buffer_packets},
            },
            {"from": "receiver", "to": "sender", "name": "line-back", **line},
        ],
        "flow": [
            main_flow(
                application={"kind": "bulk", "endless": True},
                tcp={
                    "mss_bytes": PACKET_BYTES - 40,
                    "receive_window_segments": LOAD,
                    "window_scale": "off",
                    "sack": False,
                    "delayed_ack_every": 1,
                    **ambiguity,
                },
                sender={
                    "detect": detect if eifel else "none",
                    "respond": "by-retransmissions" if eifel else "none",
                    "rto": {"name": "rfc6298", "minimum_ms": 1000, "granularity_ms": 500},
                    "recover": {"name": "reno", "bugfix": False, "limited_transmit": False},
                    "congest": {"name": "reno", "initial_window_segments": 1, "ssthresh_from": "window"},
                    "pace": pace,
                },
            )
        ],
    }
    if hiccup_s is not None:
        at = [{"start_s": hiccup_s[0], "end_s": hiccup_s[1]}]
        scenario["spike"] = [{"links": ["hiccup"], "holds": "arriving", "at": at}]
    return scenario


def hiccup_of(number: int) -> tuple[float, float]:
    """Returns the begin and the end of the figure's hiccup."""
    printed = numbers("thesis", f"figure5_{number}")
    return printed["hiccup_starts_s"], printed["hiccup_ends_s"]
