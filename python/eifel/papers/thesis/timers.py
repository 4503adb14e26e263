"""Beyond the thesis: every timer, with and without Eifel, on paths where the timer matters."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Column, Links, Measured, Repeated, Row, means_of
from eifel.papers.thesis import paths
from eifel.runs import Runs
from eifel.statistics import Mean

TIMERS: Mapping[str, Mapping[str, Any]] = {
    "rfc6298": {"name": "rfc6298"},
    "rfc6298, 200 ms": {"name": "rfc6298", "minimum_ms": 200},
    "lite": {"name": "lite"},
    "eifel": {"name": "eifel"},
    "eifel, 1 ms ticks": {"name": "eifel", "granularity_ms": 1},
    "agg, k 0.01": {"name": "self-trained", "k_per_mille": 10},
    "agg, k 0.05": {"name": "self-trained", "k_per_mille": 50},
    "agg, k 0.1": {"name": "self-trained", "k_per_mille": 100},
    "linux": {"name": "linux"},
    "fixed, 1 s": {"name": "fixed"},
}
"""Each timer has its own defaults: a minimum of 1 s for RFC 6298, ticks of 500 ms for Lite, of 10
ms for Eifel and AGG.
"""
HOURLY = ("spurious_timeouts", "spurious_retransmissions", "genuine_timeouts", "genuine_timeouts_wait_s")


def rows(scenarios: Mapping[str, Mapping[str, Any]]) -> tuple[Row, ...]:
    return tuple(
        Row({"path": path, "timer": timer, "eifel": eifel}, paths.with_timer(scenario, rto, eifel=eifel))
        for path, scenario in scenarios.items()
        for timer, rto in TIMERS.items()
        for eifel in (False, True)
    )


def _rows_of_traces(traces: Sequence[Path]) -> tuple[Row, ...]:
    from eifel.papers.cellular.trace import names

    return rows(
        {**paths.MADE, **{name: paths.cellular(trace) for name, trace in zip(names(traces), traces, strict=True)}}
    )


def _measure(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    """Returns the means, with counts per hour. Every run lasts its `duration_s`."""
    means = means_of(artefact, runs)
    for row, found in zip(artefact.rows, means, strict=True):
        hourly = 3600 / float(row.scenario["duration_s"])
        for name in HOURLY:
            mean = found[name]
            half = None if mean.half_width is None else mean.half_width * hourly
            found[name] = replace(mean, mean=mean.mean * hourly, half_width=half)
    return means


def _mean(m: Measured, column: str, path: str, timer: str, eifel: bool = True) -> float:
    return m.mean(column, path=path, timer=timer, eifel=eifel)


def _wait_s(m: Measured, path: str, timer: str) -> float:
    """Returns the wait for a needed timeout, with or without Eifel, in seconds."""
    waited = _mean(m, "genuine_timeouts_wait_s", path, timer)
    return waited / _mean(m, "genuine_timeouts", path, timer)


def _spurious(m: Measured, path: str, *timers: str) -> list[float]:
    return [_mean(m, "spurious_timeouts", path, timer) for timer in timers]


AGG = ("agg, k 0.01", "agg, k 0.05", "agg, k 0.1")

CLAIMS = (
    Claim(
        "with Eifel a spurious timeout costs little: over spikes any timer carries nine tenths of what the best does",
        lambda m: (
            min(_mean(m, "goodput_kbps", paths.BULK, timer) for timer in TIMERS)
            > 0.9 * max(_mean(m, "goodput_kbps", paths.BULK, timer) for timer in TIMERS)
        ),
    ),
    Claim(
        "without, the Eifel timer, which is closer to the round trip, loses a twentieth, and AGG three quarters",
        lambda m: (
            _mean(m, "goodput_kbps", paths.BULK, "eifel", False)
            < 0.95 * _mean(m, "goodput_kbps", paths.BULK, "rfc6298")
            and max(_mean(m, "goodput_kbps", paths.BULK, timer, False) for timer in AGG)
            < 0.25 * _mean(m, "goodput_kbps", paths.BULK, "rfc6298")
        ),
    ),
    Claim(
        "the larger k, the more timeouts are spurious",
        lambda m: _spurious(m, paths.REQUESTS, *AGG) == sorted(_spurious(m, paths.REQUESTS, *AGG)),
    ),
    Claim(
        "a needed timeout over spikes waits for at most two thirds as long with Linux's rules as with a floor of 1 s",
        lambda m: _wait_s(m, paths.REQUESTS, "linux") < 2 / 3 * _wait_s(m, paths.REQUESTS, "rfc6298"),
    ),
    Claim(
        "where a round trip takes 50 us, a floor of 1 s waits for more than 10 000, one of 200 ms for more than 3000",
        lambda m: (
            _wait_s(m, paths.SHORT, "rfc6298") > 10_000 * 50e-6 and _wait_s(m, paths.SHORT, "linux") > 3000 * 50e-6
        ),
    ),
    Claim(
        "the Eifel timer with ticks of 1 ms waits for 2 ms, and carries at least a fifth more than a floor of 1 s does",
        lambda m: (
            _wait_s(m, paths.SHORT, "eifel, 1 ms ticks") < 0.0025
            and _mean(m, "goodput_kbps", paths.SHORT, "eifel, 1 ms ticks")
            > 1.2 * _mean(m, "goodput_kbps", paths.SHORT, "rfc6298")
        ),
    ),
    Claim(
        "a floor of 200 ms over a path of 180 ms: more than 100 spurious timeouts an hour, and none with one of 1 s",
        lambda m: (
            _spurious(m, paths.FLOOR, "rfc6298, 200 ms")[0] > 100 and _spurious(m, paths.FLOOR, "rfc6298")[0] == 0
        ),
    ),
    Claim(
        "200 ms above SRTT, as Linux has it, is another thing than 200 ms: less than a twentieth of them",
        lambda m: _spurious(m, paths.FLOOR, "linux")[0] < 0.05 * _spurious(m, paths.FLOOR, "rfc6298, 200 ms")[0],
    ),
)
"""The claims about all measurements, with or without traces."""

ARTEFACT = Artefact(
    id="thesis.timers",
    title="Every timer with and without Eifel: spikes, short paths, floors; or recorded cellular links",
    source="beyond the thesis, chapter 5; link traces in the format of the Mahimahi tools, given as files",
    columns=(
        Column("goodput_kbps", "Goodput, kbit/s", summary="goodput_bps", scale=1e-3, digits=0),
        Column("spurious_timeouts", "Spurious timeouts an hour", digits=1),
        Column("spurious_retransmissions", "Spurious retransmissions an hour", digits=0),
        Column("genuine_timeouts", "Needed timeouts an hour", digits=1),
        Column("genuine_timeouts_wait_s", "Waited for them, s an hour", digits=1),
    ),
    rows=rows(paths.MADE),
    method=Repeated(repetitions=5, measure=_measure),
    claims=CLAIMS,
    fitted=paths.LEFT_OPEN,
    links=Links(_rows_of_traces),
)
