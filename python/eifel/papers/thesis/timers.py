"""Beyond the thesis: every timer, with and without Eifel, on paths where the timer matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eifel.papers.artefact import Artefact, Column, Links, Repeated, Row, Setting
from eifel.papers.measured import means_of
from eifel.papers.thesis import comparison, paths

if TYPE_CHECKING:
    from eifel.runs import Runs
    from eifel.statistics import Mean

HOURLY = ("spurious_timeouts", "spurious_retransmissions", "genuine_timeouts", "genuine_timeouts_wait_s")


def rows(scenarios: Mapping[str, Mapping[str, Any]]) -> tuple[Row, ...]:
    """Returns a row for each path and timer, with and without detection."""
    return tuple(
        Row({"path": path, "timer": timer, "eifel": eifel}, paths.with_timer(scenario, rto, eifel=eifel))
        for path, scenario in scenarios.items()
        for timer, rto in comparison.TIMERS.items()
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
    claims=comparison.CLAIMS,
    fitted=tuple(Setting(name, value, reason, "chosen") for name, value, reason in paths.CHOSEN),
    links=Links(_rows_of_traces),
)
