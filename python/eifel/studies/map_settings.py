"""The grid of `detectors.atlas`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eifel.papers.artefact import Setting


@dataclass(frozen=True)
class Axis:
    """One axis of the grid: a key of the scenario and its values."""

    name: str
    title: str
    key: str
    values: tuple[float, ...]
    labels: tuple[str, ...]
    scale: float = 1
    """The factor from the axis to the scenario."""


AXES = (
    Axis(
        "rate_bps",
        "Rate",
        "point_to_point.rate_bps",
        (21_400, 128_000, 500_000, 1_500_000, 10_000_000),
        ("21.4 kbit/s", "128 kbit/s", "500 kbit/s", "1.5 Mbit/s", "10 Mbit/s"),
    ),
    Axis(
        "rtt_ms",
        "Round trip",
        "point_to_point.delay_ms",
        (40, 200, 600, 2800),
        ("40 ms", "200 ms", "600 ms", "2.8 s"),
        scale=0.5,
    ),
    Axis(
        "queue",
        "Queue, packets",
        "point_to_point.queue.packets",
        (13, 50, 100, 250),
        ("13", "50", "100", "250"),
    ),
    Axis(
        "window",
        "Peer's window, segments",
        "flow.main.tcp.receive_window_segments",
        (20, 60, 250),
        ("20", "60", "250"),
    ),
    Axis("spike_s", "Spike", "spike.0.length_s", (1, 3, 6, 12), ("1 s", "3 s", "6 s", "12 s")),
    Axis("loss", "Loss at random", "point_to_point.loss.rate", (0, 0.01), ("none", "1 %")),
)

PRR = {"name": "rack-tlp", "reduction": "prr"}
SENDERS: dict[str, dict[str, Any]] = {
    "Reno": {"detect": "none", "respond": "none", "recover": "reno"},
    "Eifel, Reno": {"detect": "eifel-timestamps", "respond": "option-1", "recover": "reno"},
    "SACK": {"detect": "none", "respond": "none"},
    "Eifel, SACK": {"detect": "eifel-timestamps", "respond": "rfc4015"},
    "Eifel, SACK, paced restore": {"detect": "eifel-timestamps", "respond": "option-1", "pace": "pacing"},
    "F-RTO, SACK": {"detect": "f-rto-sack", "respond": "rfc4015"},
    "DSACK, SACK": {"detect": "dsack", "respond": "rfc3708"},
    "DualRTT, SACK": {"detect": "dual-rtt", "respond": "option-1"},
    "RACK, CUBIC": {"detect": "none", "respond": "none", "recover": PRR, "congest": "cubic"},
    "Eifel, RACK, CUBIC": {"detect": "eifel-timestamps", "respond": "rfc4015", "recover": PRR, "congest": "cubic"},
    "F-RTO, RACK, CUBIC": {"detect": "f-rto-sack", "respond": "rfc4015", "recover": PRR, "congest": "cubic"},
}
"""Detector, response and recovery by displayed name."""

FAMILIES = {name: name.split(",")[0] if SENDERS[name]["detect"] != "none" else "no detector" for name in SENDERS}
"""The colour of a place on the map: the detector of the winning sender."""


@dataclass(frozen=True)
class Point:
    """A case of a paper as a place of the grid."""

    name: str
    place: Mapping[str, float]
    lossy: bool


def _point(rate_bps: int, window: int, *, lossy: bool) -> Point:
    rate = "low" if rate_bps < 100_000 else "high"
    size = "small" if window == 20 else "large"
    queue = {20: 13, 60: 50}[window] if lossy else 250
    place = {"rate_bps": rate_bps, "rtt_ms": 2800, "queue": queue, "window": window, "spike_s": 12, "loss": 0}
    return Point(f"{'spike + loss' if lossy else 'spike'}, {rate} rate, {size} window", place, lossy)


POINTS = tuple(
    _point(rate, window, lossy=lossy) for lossy in (False, True) for rate in (21_400, 1_500_000) for window in (20, 60)
)
"""Table I of "spikes": a window of 20 or 60 segments, and for losses the paper's queues of 13 and 50."""

START = {"rate_bps": 1_500_000, "rtt_ms": 200, "queue": 50, "window": 60, "spike_s": 3, "loss": 0}
"""The place at which the map opens."""

CHOSEN = (
    Setting(
        "spikes", "at about 20 and 60 s of 100 s, both directions held", "long enough to come back between", "chosen"
    ),
    Setting("sender", "an initial window of 10, timestamps for those who look at them", "today's", "chosen"),
    Setting(
        "timer", "RFC 6298's, 3 s before the first sample", "a round trip of 2.8 s is else a timeout at once", "chosen"
    ),
    Setting(
        "table I",
        "without SCTP, and two spikes instead of one",
        "at the low rate a window of 60 has not filled when they come, so that they lose nothing where the paper's did",
        "chosen",
    ),
)


def design(title: str) -> dict[str, Any]:
    """Returns the grid as a sweep: each sender at each place, over the same spikes and losses."""
    spike = {
        "links": ["bottleneck", "bottleneck-back"],
        "holds": "sending",
        "first_s": {"uniform": [18, 22]},
        "length_s": 1,
        "interval_s": 40,
        "interval": "start-to-start",
    }
    queue, loss = {"kind": "drop-tail", "packets": 50}, {"kind": "random", "rate": 0}
    flow = {
        "name": "main",
        "from": "sender",
        "to": "receiver",
        "application": {"kind": "bulk", "endless": True},
        "tcp": {"receive_window_segments": 20},
        "sender": {"rto": {"name": "rfc6298", "initial_ms": 3000}},
    }
    scenario = {
        "duration_s": 100,
        "point_to_point": {"rate_bps": 1_000_000, "delay_ms": 100, "queue": queue, "loss": loss},
        "spike": [spike],
        "flow": [flow],
    }
    cases = []
    for name, algorithms in SENDERS.items():
        timestamps = algorithms["detect"] == "eifel-timestamps"
        set_ = {f"flow.main.sender.{key}": value for key, value in algorithms.items()}
        cases.append({"name": name, "set": {**set_, "flow.main.tcp.timestamps": timestamps}})
    return {
        "title": title,
        "scenario": scenario,
        "case": cases,
        "product": {axis.key: [_whole(value * axis.scale) for value in axis.values] for axis in AXES},
    }


def _whole(value: float) -> float:
    return int(value) if value == int(value) else value
