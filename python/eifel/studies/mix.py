"""The mix that judges detectors: paths and their effects on packets, drawn from a seed.

docs/internals/detectors.md describes it.

A point is one scenario of a situation. Each point has its own random stream, so more points or
another situation leave the others unchanged.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

PAYLOAD_BYTES = 1448
"""Full-sized segments with timestamps in packets of 1500 bytes."""
PACKET_BYTES = 1500
DURATION_S = 200
RTT_S = (0.02, 0.6)
WINDOW_SEGMENTS = (4, 64)
LOAD = (0.5, 2.0)
"""The window divided by the path's capacity without a queue."""

Extra = Mapping[str, Any]


@dataclass(frozen=True)
class Way:
    """A path without trouble."""

    rtt_s: float
    window: int
    """The peer's window in segments, which limits the flight."""
    load: float

    @property
    def rate_bps(self) -> int:
        """The rate at which `window` is `load` times the path's capacity."""
        return round(self.window * PACKET_BYTES * 8 / (self.rtt_s * self.load))


@dataclass(frozen=True)
class Situation:
    """One kind of trouble, and how its scenarios are drawn."""

    name: str
    summary: str
    points: int
    trouble: Callable[[Random, Way, int], Extra]
    """Returns additions to the link (`link`, `back`), the scenario (`spike`) and the flow (`flow`,
    `tcp`), and `start_s`.
    """
    window: tuple[int, int] = WINDOW_SEGMENTS
    load: tuple[float, float] = LOAD
    duration_s: float = DURATION_S

    def way(self, draw: Random) -> Way:
        return Way(log_uniform(draw, RTT_S), round(log_uniform(draw, self.window)), log_uniform(draw, self.load))

    def scenario(self, seed: int, point: int, sender: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the scenario of a point with a sender's algorithms. A point has the same events for each sender."""
        draw = Random(f"{seed}/{self.name}/{point}")
        way = self.way(draw)
        extra = self.trouble(draw, way, point)
        troubled = extra.get("link", {})
        rate = {} if "trace" in troubled else {"rate_bps": way.rate_bps}
        link = {**rate, "delay_ms": way.rtt_s * 500, **troubled}
        start_s = float(extra.get("start_s", 0))
        flow = {
            "name": "main",
            "from": "sender",
            "to": "receiver",
            "application": {"kind": "bulk", "endless": True},
            "handshake": False,
            **({"start_s": start_s} if start_s else {}),
            "tcp": {"receive_window_segments": way.window, "retransmission_marks": "bits", **extra.get("tcp", {})},
            "sender": {"respond": "none", "rto": "linux", **sender},
            **extra.get("flow", {}),
        }
        return {
            "seed": draw.getrandbits(48),
            "duration_s": start_s + self.duration_s,
            "point_to_point": {**link, "back": extra.get("back", {})},
            "flow": [flow],
            **({"spike": extra["spike"]} if extra.get("spike") else {}),
        }


def log_uniform(draw: Random, between: tuple[float, float]) -> float:
    """Draws a number whose logarithm is uniform."""
    low, high = between
    return float(low * (high / low) ** draw.random())
