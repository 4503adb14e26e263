"""Evaluates the timer of a recorded run: RTO against RTT by cycle, and beside the model."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eifel.model import Prediction
from eifel.result import Result

Floats = NDArray[np.float64]
PLACES = (np.arange(50) + 0.5) / 50
"""The places in a load cycle at which model and measurement are compared: 0 is its first sample, 1 its last."""


@dataclass(frozen=True)
class Timed:
    """The samples of a run. Each array has a value per sample, in seconds."""

    t_s: Floats
    rtt_s: Floats
    rto_s: Floats
    """RTO(i - 1), in force during the round trip of sample i."""
    rexmt_s: Floats
    """REXMT just after sample i: the time from the oldest segment's transmission to its timeout."""
    cycles: tuple[slice, ...]
    """The samples of each whole load cycle, from the end of one recovery to the begin of the next."""

    @property
    def ratio(self) -> Floats:
        """RTO(i - 1) / RTT(i)."""
        return self.rto_s / self.rtt_s

    @property
    def steady(self) -> slice:
        """All whole cycles except the first, which begins in slow start."""
        return slice(self.cycles[1].start, self.cycles[-1].stop)


def timed(result: Result) -> Timed:
    """Returns the first flow's samples. Raises LookupError for fewer than three load cycles."""
    samples = result.of("timer").where(event="sample")
    episodes = result.of("episodes").where(cause="fast-retransmit")
    t_ns = samples["t_ns"]
    ended = episodes["closed_ns"]
    bounds = list(zip(ended[:-1], episodes["opened_ns"][1:], strict=True))
    if len(bounds) < 3 or min(ended[:-1]) < 0:
        raise LookupError("fewer than three load cycles")
    # The ACK that ends a recovery samples the retransmission, and does not belong to the new cycle.
    cycles = tuple(slice(*np.searchsorted(t_ns, [start + 1, end + 1]).tolist()) for start, end in bounds)
    rto_s = samples["rto_ns"] / 1e9
    return Timed(
        t_ns / 1e9,
        samples["rtt_ns"] / 1e9,
        np.concatenate([[np.nan], rto_s[:-1]]),
        (samples["deadline_ns"] - _oldest_ns(result, t_ns)) / 1e9,
        cycles,
    )


def _oldest_ns(result: Result, t_ns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the first transmission time of the oldest outstanding segment at each time."""
    window, sent = result.of("window"), result.of("transmissions").where(kind="new")
    una = window["una"][np.searchsorted(window["t_ns"], t_ns, side="right") - 1]
    found = np.searchsorted(sent["start"], una, side="right") - 1
    return np.asarray(sent["t_ns"][found], dtype=np.int64)


@dataclass(frozen=True)
class Agreement:
    """The agreement of two curves of RTO / RTT over the load cycle."""

    model: Floats
    """At [`PLACES`]."""
    measured: Floats
    """The mean of all cycles at [`PLACES`]."""

    @property
    def mean_ratio(self) -> float:
        """The mean of measured divided by modelled values."""
        return float(np.mean(self.measured / self.model))

    @property
    def largest_deviation(self) -> float:
        """The largest distance of that ratio from 1."""
        return float(np.max(np.abs(self.measured / self.model - 1)))

    def __str__(self) -> str:
        return f"measured / model: {self.mean_ratio:.3f} in the mean, at most {self.largest_deviation:.0%} away from 1"


def agreement(prediction: Prediction, run: Timed) -> Agreement:
    """Compares the model's last cycle with all cycles of the run except the first."""
    part = prediction.cycle()
    measured = [_over_cycle(run.ratio[cycle]) for cycle in run.cycles[1:]]
    return Agreement(_over_cycle(prediction.ratio[part]), np.mean(measured, axis=0))


def _over_cycle(ratio: Floats) -> Floats:
    return np.interp(PLACES, (np.arange(len(ratio)) + 0.5) / len(ratio), ratio)


def falls(run: Timed) -> Iterator[tuple[float, float]]:
    """Yields for each fall of the round trip the RTO before it, and the largest in the next cycle's first fifth."""
    for before, after in zip(run.cycles[:-1], run.cycles[1:], strict=True):
        first = slice(after.start, after.start + max((after.stop - after.start) // 5, 2))
        yield float(run.rto_s[before.stop - 1]), float(np.max(run.rto_s[first]))
