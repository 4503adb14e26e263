"""Recorded links as situations: the behaviour of a cellular link instead of drawn events."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from eifel.papers.cellular.trace import ACK_BPS, names
from eifel.studies.mix import PACKET_BYTES, RTT_S, Extra, Situation, Way, log_uniform

POINTS = 100
"""The number of points per recording."""


@dataclass(frozen=True)
class Recorded(Situation):
    """A recorded link. Its rate is given, so the window follows from the rate, not the rate from the window."""

    mean_bps: float = 0

    def way(self, draw: Random) -> Way:
        """Draws a round trip and a load as usual, and computes the window from the recorded rate."""
        rtt_s, load = log_uniform(draw, RTT_S), log_uniform(draw, self.load)
        held = self.mean_bps * rtt_s / (PACKET_BYTES * 8)
        return Way(rtt_s, max(self.window[0], round(load * held)), load)


def situations(traces: Sequence[Path]) -> tuple[Recorded, ...]:
    return tuple(_situation(name, trace) for name, trace in zip(names(traces), traces, strict=True))


def _situation(name: str, trace: Path) -> Recorded:
    instants = trace.read_text(encoding="ascii", errors="replace").split()
    # The engine refuses invalid recordings, and names the line.
    length_s = float(instants[-1]) / 1000 if instants and instants[-1].isdigit() else 0.0
    mean_bps = len(instants) * PACKET_BYTES * 8 / max(length_s, 0.001)

    def trouble(draw: Random, way: Way, _point: int) -> Extra:
        queue = {"kind": "drop-tail", "packets": max(2, round(way.window * draw.uniform(0.5, 2)))}
        link = {"trace": str(trace.resolve()), "queue": queue}
        back = {"rate_bps": ACK_BPS, "queue": {"kind": "unlimited"}}
        # The flow begins anywhere in the recording, which repeats at its end.
        return {"link": link, "back": back, "start_s": draw.uniform(0, length_s)}

    return Recorded(f"recorded: {name}", f"the recorded link {name}", POINTS, trouble, mean_bps=mean_bps)
