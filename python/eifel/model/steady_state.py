"""Network-limited bulk transfers in steady state: load cycles from W/2 to W (the thesis, sections 3.4.2, 5.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from eifel.errors import BadInputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from eifel.model.prediction import Prediction

Sampling = Literal["every", "every-second", "one-a-round-trip"]
SAMPLINGS: tuple[Sampling, ...] = ("every", "every-second", "one-a-round-trip")


@dataclass(frozen=True)
class SteadyState:
    """A transfer limited by the network only, after its start-up phase.

    The load grows by a segment per flight, from W/2 + 1 to W, and begins again, since congestion is
    signalled without a loss. Each segment of a flight finds the whole load in the path. Its round
    trip is the bottleneck's time for the load, and at least that for the pipe's capacity. ssthresh
    is W/2.
    """

    max_load: int
    """W, the largest load, in segments. An even number, so that W/2 is whole."""
    segment_s: float
    """The bottleneck's time for one segment, in seconds."""
    pipe: int = 1
    """The pipe's capacity in segments. Up to this load, the round trip is constant."""
    sampling: Sampling = "every"
    """The timed segments: all, every second one (delayed ACKs), or one per round trip (no timestamps)."""
    mss_bytes: int = 1000

    def __post_init__(self) -> None:
        if self.max_load < 2 or self.max_load % 2:
            raise BadInputError(f"max_load = {self.max_load}; allowed: an even number of segments, 2 or more")
        if not 0 < self.segment_s < float("inf"):
            raise BadInputError(f"segment_s = {self.segment_s}; allowed: more than 0 s")
        if self.pipe < 1:
            raise BadInputError(f"pipe = {self.pipe}; allowed: 1 segment or more")
        if self.sampling not in SAMPLINGS:
            raise BadInputError(f"sampling = {self.sampling!r}; allowed: {', '.join(SAMPLINGS)}")

    @property
    def cycle_segments(self) -> int:
        """Segments sent in a cycle. The thesis has 3/8 W^2 (section 5.4.6); this is W/4 more."""
        half = self.max_load // 2
        return half * (half + 1 + self.max_load) // 2

    def samples(self, cycles: int = 4) -> Samples:
        """Returns the samples of this many cycles, in the order in which they are taken."""
        if cycles < 1:
            raise BadInputError(f"cycles = {cycles}; allowed: 1 or more")
        segment_ns = self.segment_s * 1e9
        loads = np.tile(np.arange(self.max_load // 2 + 1, self.max_load + 1), cycles)
        in_path = np.maximum(loads, self.pipe)
        begins = np.concatenate([[0], np.cumsum(in_path)[:-1]])
        load = np.repeat(loads, loads)
        first = np.repeat(np.cumsum(loads) - loads, loads)
        place = np.arange(len(load)) - first
        # The ACKs of a flight arrive at the bottleneck's pace. Then none arrives while the pipe is
        # not full. Time begins when even the first segment has been sent.
        acked_at = np.repeat(begins, loads) + place + 1 + in_path[0]
        flight_of = np.repeat(in_path, loads)
        t_ns, rtt_ns = np.rint(acked_at * segment_ns), np.rint(flight_of * segment_ns)
        kept: NDArray[np.int64] | slice = slice(None)
        if self.sampling == "every-second":
            # The ACK of two segments times the first, and waits for the second.
            kept = slice(1, None, 2)
            rtt_ns = rtt_ns + np.rint(segment_ns)
        elif self.sampling == "one-a-round-trip":
            kept = _one_a_round_trip(t_ns, t_ns - rtt_ns)
        columns = (t_ns, rtt_ns, load)
        return Samples(self, *(np.ascontiguousarray(column[kept], dtype=np.int64) for column in columns))


def _one_a_round_trip(t_ns: NDArray[Any], sent_ns: NDArray[Any]) -> NDArray[np.int64]:
    """Returns the indexes of the taken samples. Each times the first segment sent after the previous sample."""
    taken = [0]
    while (following := int(np.searchsorted(sent_ns, t_ns[taken[-1]]))) < len(t_ns):
        taken.append(max(following, taken[-1] + 1))
    return np.array(taken)


@dataclass(frozen=True)
class Samples:
    """Samples of the round trip, in the order in which a sender takes them. Each array has a value per sample."""

    model: SteadyState
    t_ns: NDArray[np.int64]
    """The time at which the sample is taken."""
    rtt_ns: NDArray[np.int64]
    load: NDArray[np.int64]
    """The load in segments."""

    def __len__(self) -> int:
        return len(self.t_ns)

    @cached_property
    def rtt_s(self) -> NDArray[np.float64]:
        """The round trips in seconds."""
        return self.rtt_ns / 1e9

    def predict(self, timer: str | Mapping[str, Any], *, detected: bool = False) -> Prediction:
        """Runs a timer over these samples. `timer` has the form of a sender's `rto` in a scenario.

        With `detected`, the timer is informed of its spurious timeouts. Raises ScenarioError for a
        refused timer.
        """
        from eifel.model.prediction import predict

        return predict(self, timer, detected)

    def plot(self) -> Figure:
        """Draws the round trip against the number of the sample."""
        from eifel.plots.prediction import samples_figure

        return samples_figure(self)
