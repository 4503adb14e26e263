"""The paths of the comparison of timers: with spikes, and with a minimum RTO that is too high or too low."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eifel.papers import rfc3522
from eifel.papers.artefact import Setting
from eifel.papers.cellular import trace as recorded

BULK = "spikes, bulk"
REQUESTS = "spikes, requests"
SHORT = "50 us, requests"
FLOOR = "180 ms, requests"


def with_timer(scenario: Mapping[str, Any], rto: Mapping[str, Any], *, eifel: bool) -> dict[str, Any]:
    sender = {
        "detect": dict(rfc3522.PLAIN) if eifel else "none",
        "respond": "rfc4015" if eifel else "none",
        "rto": dict(rto),
        "recover": "rfc6675",
        "congest": {"name": "reno", "initial_window_segments": 10},
    }
    flow = {**scenario["flow"][0], "sender": sender}
    return {**scenario, "flow": [flow]}


def cellular(trace: Path) -> dict[str, Any]:
    """Returns the transfer of `cellular.trace` over a recorded link."""
    return recorded.scenario(trace)


def _scenario(link: Mapping[str, Any], application: Mapping[str, Any], duration_s: float, **tcp: Any) -> dict[str, Any]:
    settings = {"payload_bytes": 1448, "receive_window_bytes": 1_000_000, **rfc3522.CLOCK, "sack": True}
    # The client opens the connection; the responses cross the bottleneck.
    ends = ("sender", "receiver") if application["kind"] == "bulk" else ("receiver", "sender")
    return {
        "seed": 1,
        "duration_s": duration_s,
        "stop": "at-duration",
        "point_to_point": dict(link),
        "flow": [
            {
                "name": "main",
                "from": ends[0],
                "to": ends[1],
                "application": dict(application),
                "tcp": settings | {"delayed_ack_every": 2, "delayed_ack_ms": 40} | tcp,
            }
        ],
    }


def _requests(response_bytes: int, think_ms: Any) -> dict[str, Any]:
    """Returns an application whose requests outlast every run."""
    sizes = {"request_bytes": 300, "response_bytes": response_bytes}
    return {"kind": "request-response", "requests": 10_000_000, **sizes, "think_ms": think_ms}


_MOBILE = {
    "rate_bps": 2_000_000,
    "delay_ms": 40,
    "queue": {"kind": "drop-tail", "packets": 40},
    "loss": {"kind": "random", "rate": 0.005},
    "back": {"queue": {"kind": "unlimited"}, "loss": {"kind": "random", "rate": 0.005}},
}
_SPIKES = {
    "links": ["bottleneck", "bottleneck-back"],
    "holds": "sending",
    "first_s": {"exponential": 20},
    "length_s": {"log_normal": {"median": 1, "sigma": 0.8}},
    "interval_s": {"exponential": 20},
    "interval": "end-to-start",
}

_HOLDS = {
    **_SPIKES,
    "first_s": {"exponential": 2},
    "length_s": {"log_normal": {"median": 0.05, "sigma": 0.5}},
    "interval_s": {"exponential": 2},
}

MADE: Mapping[str, Mapping[str, Any]] = {
    BULK: {**_scenario(_MOBILE, {"kind": "bulk", "endless": True}, 1800), "spike": [_SPIKES]},
    REQUESTS: {**_scenario(_MOBILE, _requests(30_000, {"exponential": 1000}), 1800), "spike": [_SPIKES]},
    SHORT: _scenario(
        {
            "rate_bps": 10_000_000_000,
            "delay_ms": 0.025,
            "loss": {"kind": "random", "rate": 0.001},
        },
        _requests(30_000, {"exponential": 10}),
        60,
        timestamp_granularity_ms=0.001,
        delayed_ack_every=1,
    ),
    FLOOR: {
        **_scenario({"rate_bps": 20_000_000, "delay_ms": 90, "queue": {"kind": "unlimited"}}, _requests(1448, 0), 1800),
        "spike": [_HOLDS],
    },
}
"""The paths that are measured with or without traces."""

LEFT_OPEN = (
    Setting(
        BULK,
        "2 Mbit/s, 80 ms, 40 packets, 0.5 % random loss each way",
        "a mobile link; losses, so that timeouts are needed",
    ),
    Setting(
        "spikes",
        "log-normal, median 1 s, sigma 0.8, 20 s apart in the mean",
        "short ones often, long ones now and then",
    ),
    Setting(REQUESTS, "300 bytes ask for 30 kB, a second apart in the mean", "the ends of answers have only the timer"),
    Setting(
        SHORT, "10 Gbit/s, 50 us, 0.1 % loss, requests 10 ms apart", "a floor of 1 s is thousands of its round trips"
    ),
    Setting(FLOOR, "20 Mbit/s, 180 ms, one segment an answer", "a floor of 200 ms is just above its round trip"),
    Setting(
        "holds there",
        "log-normal, median 50 ms, sigma 0.5, 2 s apart in the mean",
        "what a scheduler or a queue may do",
    ),
    Setting("recorded links", "as cellular.trace has them", "where files are given"),
    Setting("recovery, response", "rfc6675, rfc4015", "the standards"),
)
