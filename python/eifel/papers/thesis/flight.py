"""RTO_E with the actual load as FLIGHT_E, which section 5.4.2 finds too noisy."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from eifel.papers.thesis import timing

if TYPE_CHECKING:
    from eifel.result import Result


def largest_rise(result: Result, timer: dict[str, Any], mss: int) -> float:
    """Returns the largest relative rise of that RTO between two samples, over a run's steady load cycles."""
    from eifel import _engine

    samples, window = result.of("timer").where(event="sample"), result.of("window")
    flight = window["flight"][np.searchsorted(window["t_ns"], samples["t_ns"], side="right") - 1]
    series = {
        "t_ns": samples["t_ns"],
        "rtt_ns": samples["rtt_ns"],
        "acked": np.full(len(flight), mss),
        # With these values, FLIGHT_E = MAX (SSTHRESH, CWND / 2) + 1 is the load.
        "cwnd": np.maximum(2 * (flight - mss), mss),
        "ssthresh": np.ones(len(flight)),
        "flight": flight,
    }
    whole = {name: np.ascontiguousarray(column, dtype=np.int64) for name, column in series.items()}
    found = _engine.timer_series(json.dumps({"rto": timer}), whole, mss=mss, one_a_round_trip=False, detected=False)
    rto = np.asarray(found["rto_ns"])[timing.timed(result).steady]
    return float((np.diff(rto) / rto[:-1]).max())
