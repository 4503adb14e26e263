"""Figures 5-8 to 5-15 and 5-19: the Lite timer and the Eifel timer over load cycles, in the model and measured."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.model import Prediction
from eifel.papers.artefact import Claim, Measured
from eifel.papers.thesis import timing, transfers
from eifel.papers.thesis.timer_figure import agrees, draw_model, draw_run, figure, of, prediction, timed
from eifel.result import Result

_SMALL = 10
_FINE_LITE = transfers.lite(1)
_FINE_EIFEL = transfers.eifel(1)


def _lite() -> Prediction:
    return prediction(_SMALL, _FINE_LITE)


def _eifel() -> Prediction:
    return prediction(_SMALL, _FINE_EIFEL)


def _largest_after_the_fall(_: Measured) -> bool:
    """Returns whether RTO_L peaks in the first flight of the cycle, whose round trips are the shortest."""
    found = _lite()
    rto = found.rto_s[found.cycle()]
    return int(np.argmax(rto)) < _SMALL // 2 + 1


def _second_halves(found: Prediction) -> list[float]:
    """Returns the RTO's relative change in the second half of each flight but the first of the last cycle."""
    part = found.cycle()
    changes = []
    for load in range(_SMALL // 2 + 2, _SMALL + 1):
        flight = np.flatnonzero(found.samples.load[part] == load) + part.start
        # RTO(i), the RTO after a sample, is in force for the next one.
        rto = found.rto_ns[flight]
        changes.append(float(rto[-1] / rto[len(rto) // 2] - 1))
    return changes


def _rexmt_offset(found: Prediction) -> float:
    part = found.cycle()
    return float(np.mean((found.rexmt_s[part] - found.rto_s[part]) / found.samples.rtt_s[part]))


FIGURE_5_8 = figure(
    8,
    "Prediction flaw in RTO_L (model, largest load 10, 1 ms ticks)",
    {"simulated": transfers.steady(_SMALL, _FINE_LITE)},
    Claim("RTO_L is the largest just after the round trip has fallen, in the model", _largest_after_the_fall),
    Claim(
        "at each fall of the round trip RTO_L first rises, in the simulated transfer",
        of(lambda run: all(after > 1.2 * before for before, after in timing.falls(run))),
    ),
    Claim(
        "it then predicts more than twice the round trip",
        lambda _: bool(np.nanmax(_lite().ratio[_lite().cycle()]) > 2),
    ),
    draw=draw_model(_SMALL, {"RTO$_L$(i - 1)": _FINE_LITE}),
)
FIGURE_5_13 = figure(
    13,
    "Fixing the prediction flaw with RTTVAR_E (model)",
    {"simulated": transfers.steady(_SMALL, _FINE_EIFEL)},
    Claim(
        "RTO_E does not rise when the round trip falls, in the model",
        lambda _: bool((np.diff(_eifel().rto_s[_eifel().cycle()][: _SMALL // 2 + 1]) <= 0).all()),
    ),
    Claim(
        "nor in the simulated transfer",
        of(lambda run: all(after <= 1.01 * before for before, after in timing.falls(run))),
    ),
    Claim(
        "the shock absorber: in the second half of each flight RTO_L falls, by up to a tenth, and RTO_E by at most 2 %",
        lambda _: min(_second_halves(_lite())) < -0.03 and min(_second_halves(_eifel())) > -0.02,
    ),
    Claim(
        "REXMT_L lies about a round trip above RTO_L (0.8 to 1.1), REXMT_E is RTO_E",
        lambda _: 0.8 < _rexmt_offset(_lite()) < 1.1 and abs(_rexmt_offset(_eifel())) < 1e-6,
    ),
    draw=draw_model(_SMALL, {"RTO$_L$(i - 1)": _FINE_LITE, "RTO$_E$(i - 1)": _FINE_EIFEL}),
)


LOAD = 40
LITE = transfers.lite(500)
_LITE_RUN = transfers.steady(LOAD, transfers.lite(500, clock="heartbeat"))
"""The same transfer with the implementation."""


def _lowest(load: int) -> list[float]:
    """Returns the least RTO_L(i - 1) / RTT(i) of each flight of the last cycle, except the first two flights.

    Those follow the fall of the round trip.
    """
    found = prediction(load, LITE)
    part = found.cycle()
    ratio, loads = found.ratio[part], found.samples.load[part]
    return [float(np.min(ratio[loads == flight])) for flight in range(load // 2 + 3, load + 1)]


FIGURE_5_9 = figure(
    9,
    "A collapsed RTO_L (model, largest load 40, 500 ms ticks)",
    {"simulated": _LITE_RUN},
    Claim(
        "RTO_L collapses: in every flight but the first two it comes down to the next round trip and below it",
        lambda _: max(_lowest(LOAD)) < 1,
    ),
    Claim(
        "in theory that is a spurious timeout a flight; in practice nothing times out, in the simulated transfer",
        lambda m: m.mean("timeouts", run="simulated") == 0,
    ),
    Claim("with a largest load of 10 it does not: it stays above every round trip", lambda _: min(_lowest(10)) > 1),
    Claim(
        "the simulated transfer's RTO_L collapses as well",
        lambda m: bool(timed(m).ratio[timed(m).steady].min() < 1),
    ),
    draw=draw_model(LOAD, {"RTO$_L$(i - 1)": LITE}, zoom=True),
)
FIGURE_5_12 = figure(
    12,
    "A collapsed RTO_L (measured)",
    {"simulated": _LITE_RUN},
    Claim(
        "RTO_L falls below the next round trip, by at most a tenth",
        of(lambda run: bool(0.9 < run.ratio[run.steady].min() < 1)),
    ),
    *agrees((LOAD, LITE)),
    draw=draw_run("RTO$_L$", model=(LOAD, LITE), near=True),
)


def _safe(load: int) -> bool:
    made = prediction(load, transfers.eifel(1), "one-a-round-trip")
    return bool((made.ratio[made.cycle(1).start : made.cycle().stop] > 1).all())


FIGURE_5_10 = figure(
    10,
    "RTO_L when timing one segment per RTT (measured)",
    {"simulated": transfers.steady(LOAD, transfers.lite(500, clock="heartbeat"), timestamps=False)},
    Claim(
        "gains and weight work: RTO_L stays a fifth above the round trip",
        of(lambda run: bool(run.ratio[run.steady].min() > 1.2)),
    ),
    Claim(
        "the spikes are still there: RTO_L rises when the round trip falls",
        of(lambda run: all(after > 1.1 * before for before, after in timing.falls(run))),
    ),
    Claim(
        "about one sample a round trip is taken: at most 24 in a cycle of 20",
        of(lambda run: all(cycle.stop - cycle.start <= LOAD // 2 + 4 for cycle in run.cycles)),
    ),
    draw=draw_run("RTO$_L$"),
)


def _extremes(measured: Measured, run: str) -> tuple[float, float]:
    """Returns the least and the largest RTT sample of a run's whole load cycles, in seconds."""
    found = timed(measured, run)
    return float(found.rtt_s[found.steady].min()), float(found.rtt_s[found.steady].max())


FIGURE_5_15 = figure(
    15,
    "RTO_E when timing one segment per RTT (measured)",
    {
        "simulated": transfers.steady(LOAD, transfers.eifel(500), timestamps=False),
        "figure 5-10": transfers.steady(LOAD, transfers.lite(500, clock="heartbeat"), timestamps=False),
    },
    Claim(
        "with a gain of a third RTO_E stays a tenth above the round trip",
        of(lambda run: bool(run.ratio[run.steady].min() > 1.1)),
    ),
    Claim(
        "a gain of a third is sufficiently safe: no timeout is spurious",
        lambda m: m.mean("spurious_timeouts", run="simulated") == 0,
    ),
    Claim(
        "it has no spikes at the end of a cycle",
        of(lambda run: all(after <= 1.01 * before for before, after in timing.falls(run))),
    ),
    Claim(
        "the maximum RTT is that of figure 5-10, within a tenth",
        lambda m: abs(_extremes(m, "simulated")[1] / _extremes(m, "figure 5-10")[1] - 1) < 0.1,
    ),
    Claim(
        "the minimum RTT is quite different: by a tenth at least",
        lambda m: abs(_extremes(m, "simulated")[0] / _extremes(m, "figure 5-10")[0] - 1) > 0.1,
    ),
    Claim(
        "in the model RTO_E with a gain of a third stays above the round trip with every load from 4 to 80 segments",
        lambda _: all(_safe(load) for load in range(4, 81, 2)),
    ),
    draw=draw_run("RTO$_E$"),
)


def _offset(measured: Measured, run: str) -> float:
    """Returns the mean of REXMT minus RTO, as a share of the round trip."""
    found = timed(measured, run)
    part = slice(found.steady.start, found.steady.stop - 1)
    after = slice(part.start + 1, part.stop + 1)
    # RTO(i) is in force for sample i + 1.
    return float(np.mean((found.rexmt_s[part] - found.rto_s[after]) / found.rtt_s[part]))


FIGURE_5_11 = figure(
    11,
    "The REXMT-restart bug (measured)",
    {
        restart: transfers.steady(LOAD, transfers.lite(500, clock="heartbeat", restart=restart))
        for restart in ("full", "age")
    },
    Claim(
        "the offset of REXMT_L over RTO_L is about a round trip: 0.85 to 1.05 of it, in the mean",
        lambda m: 0.85 < _offset(m, "full") < 1.05,
    ),
    Claim(
        "it is what keeps the collapsed RTO_L of figure 5-12 from expiring: nothing times out",
        lambda m: m.mean("timeouts", run="full") == 0,
    ),
    Claim(
        "restarted with the age of the oldest segment, the same timer expires more than 50 times, always spuriously",
        lambda m: m.mean("spurious_timeouts", run="age") > 50 and m.mean("genuine_timeouts", run="age") == 0,
    ),
    draw=draw_run("RTO$_L$", "full", cycles=2, rexmt=True),
)


EIFEL = transfers.eifel(500)
_EIFEL_RUN = transfers.steady(LOAD, EIFEL)


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
    {"simulated": _EIFEL_RUN},
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
    {"simulated": _EIFEL_RUN},
    *agrees((LOAD, EIFEL)),
    Claim("after each cycle there is a gap: duplicate ACKs give no samples", of(_gaps)),
    Claim(
        "with the actual load in FLIGHT_E there would be spikes of RTO_E: rises of a fifth in a sample",
        lambda m: _largest_rise(m.result(), EIFEL, transfers.model(LOAD).mss_bytes) > 0.2,
    ),
    Claim("no timeout is needed, and none comes", lambda m: m.mean("timeouts", run="simulated") == 0),
    draw=draw_run("RTO$_E$", model=(LOAD, EIFEL), dots=True),
)
