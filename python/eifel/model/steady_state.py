"""Network-limited bulk transfers in steady state: load cycles from half of W to W (the thesis, sections 3.4.2, 5.4)."""

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
    """A transfer that only the network limits, after all that begins.

    The load grows by a segment a flight, from half of W and one up to W, and begins anew: congestion is signalled
    without a loss. Each segment of a flight finds the whole load in the path: its round trip is what the bottleneck
    takes for the load, and no less than what it takes for the pipe's capacity. ssthresh is half of W.
    """

    max_load: int
    """W, the largest load, in segments: an even number, so that half of it is one of segments."""
    segment_s: float
    """What the bottleneck takes for one segment."""
    pipe: int = 1
    """The pipe's capacity in segments: up to this load the round trip stays the same."""
    sampling: Sampling = "every"
    """Which segments are timed: all, every second one (delayed ACKs), or one a round trip (no timestamps)."""
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
        """Segments sent in a cycle: the thesis has 3/8 W^2 (section 5.4.6), this is W/4 more."""
        half = self.max_load // 2
        return half * (half + 1 + self.max_load) // 2

    def samples(self, cycles: int = 4) -> Samples:
        """The samples of that many cycles, in the order in which they are taken."""
        if cycles < 1:
            raise BadInputError(f"cycles = {cycles}; allowed: 1 or more")
        segment_ns = self.segment_s * 1e9
        loads = np.tile(np.arange(self.max_load // 2 + 1, self.max_load + 1), cycles)
        in_path = np.maximum(loads, self.pipe)
        begins = np.concatenate([[0], np.cumsum(in_path)[:-1]])
        load = np.repeat(loads, loads)
        first = np.repeat(np.cumsum(loads) - loads, loads)
        place = np.arange(len(load)) - first
        # The ACKs of a flight come as the bottleneck lets its segments go; then, while the pipe is not full, none does.
        # Time begins where even the first of them has been sent.
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
    """The places of the samples that are taken: each is of the first segment sent once the one before was taken."""
    taken = [0]
    while (following := int(np.searchsorted(sent_ns, t_ns[taken[-1]]))) < len(t_ns):
        taken.append(max(following, taken[-1] + 1))
    return np.array(taken)


@dataclass(frozen=True)
class Samples:
    """Samples of the round trip, in the order in which a sender takes them; a value a sample in each array."""

    model: SteadyState
    t_ns: NDArray[np.int64]
    """When it is taken."""
    rtt_ns: NDArray[np.int64]
    load: NDArray[np.int64]
    """The load, in segments."""

    def __len__(self) -> int:
        return len(self.t_ns)

    @cached_property
    def rtt_s(self) -> NDArray[np.float64]:
        """The round trips in seconds."""
        return self.rtt_ns / 1e9

    def predict(self, timer: str | Mapping[str, Any], *, detected: bool = False) -> Prediction:
        """What a timer makes of these samples, given as a sender's `rto` in a scenario.

        With `detected` the timer hears of its spurious timeouts. Raises ScenarioError for a timer that is refused.
        """
        from eifel.model.prediction import predict

        return predict(self, timer, detected)

    def plot(self) -> Figure:
        """The round trip against the number of the sample."""
        from eifel.plots.prediction import samples_figure

        return samples_figure(self)
