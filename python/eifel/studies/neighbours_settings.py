"""The runs of `detectors.neighbours`."""

from __future__ import annotations

from typing import Any

from eifel.papers.artefact import Row, Setting
from eifel.studies import settings

KEYS = ("queue", "sender", "remedy", "proxy")
NOTHING, CAREFUL, EIFEL, DSACK = "nothing", "careful duplicate ACKs (RFC 2582)", "eifel-timestamps", "dsack"
BOTH, BLOCKED = "dual-rtt, careful", "dual-rtt, careful after its verdict too"
_RENO = {"name": "reno", "bugfix": False}
_CAREFUL = {"name": "reno", "bugfix": True}
RENO: dict[str, dict[str, Any]] = {
    NOTHING: {"detect": "none"},
    CAREFUL: {"detect": "none", "recover": _CAREFUL},
    EIFEL: {"detect": EIFEL},
    "dual-rtt": {"detect": "dual-rtt"},
    BOTH: {"detect": "dual-rtt", "recover": _CAREFUL},
    BLOCKED: {"detect": "dual-rtt", "recover": {**_CAREFUL, "fast_retransmit_below_recovery_point": "blocked"}},
}
RFC6675: dict[str, dict[str, Any]] = {
    NOTHING: {"detect": "none"},
    EIFEL: {"detect": EIFEL},
    "f-rto-sack": {"detect": "f-rto-sack"},
    DSACK: {"detect": DSACK},
}
SENDERS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, dict[str, Any]]]] = {
    "reno": ({"sack": False}, {"recover": _RENO}, RENO),
    "rfc6675": ({"sack": True}, {"recover": "rfc6675"}, RFC6675),
}
"""The connection's settings, the sender's recovery, and the changes of each remedy."""
WIRED_MS, WIRELESS_MS = 45, 150


CHOSEN = (
    Setting("path", f"{WIRED_MS} ms wired, {WIRELESS_MS} ms wireless", "195 ms, as in detectors.responses", "chosen"),
    Setting("proxy", "where the wired link ends", "withholds by numbers alone: docs/scenario.md", "chosen"),
    *settings.SPIKES_CHOSEN[1:],
)


def scenario(queue: int, sender: str, remedy: str, proxy: bool) -> dict[str, Any]:
    """Returns the spikes of `detectors.responses` on a path whose first quarter is wired."""
    made = settings.spikes(queue, "rfc6675", "none", "none")
    wireless = {**made.pop("point_to_point"), "delay_ms": WIRELESS_MS}
    tcp, recovers, remedies = SENDERS[sender]
    flow = {
        **made["flow"][0],
        "from": "left1",
        "to": "right1",
        "tcp": {**made["flow"][0]["tcp"], **tcp},
        "sender": {"respond": "option-1", **recovers, **remedies[remedy]},
    }
    return {
        **made,
        "dumbbell": {
            "left": 1,
            "right": 1,
            "left_access": {"rate_bps": 100_000_000, "delay_ms": WIRED_MS},
            "right_access": {"rate_bps": "unlimited", "delay_ms": 0},
            "bottleneck": wireless,
        },
        "flow": [flow],
        **({"proxy": {"links": ["bottleneck"]}} if proxy else {}),
    }


def rows() -> tuple[Row, ...]:
    """Returns a row for each remedy, with and without a proxy."""
    return tuple(
        Row(dict(zip(KEYS, values, strict=True)), scenario(*values))
        for queue in settings.QUEUES
        for sender, (_, _, remedies) in SENDERS.items()
        for remedy in remedies
        for proxy in (False, True)
        for values in [(queue, sender, remedy, proxy)]
    )
