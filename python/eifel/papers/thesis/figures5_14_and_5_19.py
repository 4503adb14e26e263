"""Figures 5-14 and 5-19: RTO_E scales with the flow's load, in the model and measured."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.papers.artefact import Claim
from eifel.papers.thesis import timing, transfers
from eifel.papers.thesis.figures5_9_and_5_12 import LITE, LOAD
from eifel.papers.thesis.timer_figure import agrees, draw_model, draw_run, figure, of, prediction
from eifel.result import Result

EIFEL = transfers.eifel(500)
MEASURED = transfers.steady(LOAD, EIFEL)


def _ratio(load: int) -> NDArray[np.float64]:
    """Returns RTO_E / RTT over a load cycle, without its first flight, which follows the fall of the round trip."""
    found = prediction(load, EIFEL)
    return found.ratio[found.cycle()][load // 2 + 1 :]


def _lite_mean(load: int) -> float:
    found = prediction(load, LITE)
    return float(found.ratio[found.cycle()][load // 2 + 1 :].mean())


def _gaps(run: timing.Timed) -> bool:
    """Returns whether no sample comes for half a round trip between cycles, and such gaps never occur within one."""
    between = [run.t_s[b.start] - run.t_s[a.stop - 2] for a, b in zip(run.cycles[:-1], run.cycles[1:], strict=True)]
    within = max(float(np.diff(run.t_s[cycle]).max()) for cycle in run.cycles)
    longest = float(run.rtt_s[run.steady].max())
    return bool(min(between) > 0.5 * longest and within < 0.1 * min(between))


def _largest_rise(result: Result, timer: dict[str, Any], mss: int) -> float:
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


FIGURE_5_14 = figure(
    14,
    "RTO_E scales with the flow's load (model)",
    {"simulated": MEASURED},
    Claim(
        "RTO_E / RTT is fairly constant over the cycle: after the first flight within 30 % of its mean",
        lambda _: bool(np.max(np.abs(_ratio(LOAD) / _ratio(LOAD).mean() - 1)) < 0.30),
    ),
    Claim(
        "and hardly depends on the load: the means for 10, 20, 40 and 100 are within 15 % of each other",
        lambda _: bool(np.ptp([_ratio(load).mean() for load in (10, 20, 40, 100)]) < 0.15 * _ratio(LOAD).mean()),
    ),
    Claim(
        "RTO_L / RTT, for 10 and 40, does: the one is a fifth larger than the other",
        lambda _: _lite_mean(10) > 1.2 * _lite_mean(40),
    ),
    draw=draw_model(LOAD, {"RTO$_E$(i - 1)": EIFEL}),
)
FIGURE_5_19 = figure(
    19,
    "RTO_E scales with the flow's load (measured)",
    {"simulated": MEASURED},
    *agrees((LOAD, EIFEL)),
    Claim("after each cycle there is a gap: duplicate ACKs give no samples", of(_gaps)),
    Claim(
        "with the actual load in FLIGHT_E there would be many spikes of RTO_E: rises of a fifth from sample to sample",
        lambda m: _largest_rise(m.result(), EIFEL, transfers.model(LOAD).mss_bytes) > 0.2,
    ),
    Claim("no timeout is needed, and none comes", lambda m: m.mean("timeouts", run="simulated") == 0),
    draw=draw_run("RTO$_E$", model=(LOAD, EIFEL), dots=True),
)
