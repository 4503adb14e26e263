"""Applies a retransmission timer of the engine to a series of samples."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from eifel.model.steady_state import Samples


@dataclass(frozen=True)
class Prediction:
    """A timer over samples. Each array has a value per sample; times are in nanoseconds."""

    samples: Samples
    timer: str
    """The timer's name in the registry."""
    rto_ns: NDArray[np.int64]
    """RTO(i), after sample i."""
    srtt_ns: NDArray[np.int64]
    """-1 if the timer has none."""
    rttvar_ns: NDArray[np.int64]
    """-1 if the timer has none."""
    rexmt_ns: NDArray[np.int64]
    """The time from the transmission of the segment of sample i to its timeout."""
    expired: NDArray[np.bool_]
    """Whether the timer expired before the ACK of the sample arrived."""

    @cached_property
    def rto_s(self) -> NDArray[np.float64]:
        """RTO(i - 1), in force during the round trip of sample i, in seconds; NaN for the first sample."""
        return np.concatenate([[np.nan], self.rto_ns[:-1] / 1e9])

    @cached_property
    def rexmt_s(self) -> NDArray[np.float64]:
        """REXMT in seconds, for the segment of sample i."""
        return self.rexmt_ns / 1e9

    @cached_property
    def ratio(self) -> NDArray[np.float64]:
        """RTO(i - 1) / RTT(i)."""
        return self.rto_s / self.samples.rtt_s

    def cycle(self, number: int = -1) -> slice:
        """Returns the samples of one load cycle. `number` counts from 0, or from the end: -1 is the last."""
        falls = np.flatnonzero(np.diff(self.samples.load) < 0) + 1
        edges = [0, *falls.tolist(), len(self.samples)]
        return slice(edges[number % (len(edges) - 1)], edges[number % (len(edges) - 1) + 1])

    def plot(self, cycles: int = 3, *, rexmt: bool = False) -> Figure:
        """Draws RTT(i), RTO(i - 1) and, with `rexmt`, REXMT over the last load cycles."""
        from eifel.plots.prediction import prediction_figure

        return prediction_figure([self], cycles, rexmt=rexmt)


def predict(samples: Samples, timer: str | Mapping[str, Any], detected: bool) -> Prediction:
    from eifel import _engine

    model = samples.model
    half = model.max_load // 2 * model.mss_bytes
    load = samples.load * model.mss_bytes
    acked = (2 if model.sampling == "every-second" else 1) * model.mss_bytes
    count = len(samples)
    series = {
        "t_ns": samples.t_ns,
        "rtt_ns": samples.rtt_ns,
        "acked": np.full(count, acked),
        "cwnd": load,
        "ssthresh": np.full(count, half),
        "flight": load,
    }
    choice = {"rto": timer if isinstance(timer, str) else dict(timer)}
    columns = _engine.timer_series(
        json.dumps(choice),
        {name: np.ascontiguousarray(column, dtype=np.int64) for name, column in series.items()},
        mss=model.mss_bytes,
        one_a_round_trip=model.sampling == "one-a-round-trip",
        detected=detected,
    )
    return Prediction(samples, timer if isinstance(timer, str) else str(timer["name"]), **columns)
