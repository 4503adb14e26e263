"""The distance of tables 1-4's rows from print, with other values for what the paper leaves open."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from eifel.papers import select
from eifel.papers.artefact import Row
from eifel.papers.responding import settings
from eifel.runs import run_many


@cache
def rows() -> tuple[Row, ...]:
    """Returns the rows of tables 1-4."""
    return tuple(row for artefact in select(["responding.table"]) for row in artefact.rows if row.published)


@dataclass(frozen=True)
class Nearness:
    """The distance of the runs of `rows()` from print."""

    distance: float
    """Mean over the rows of |log(measured time / printed time)|."""
    within: Mapping[str, int]
    """The number of rows within the tolerance, by column."""
    means: Sequence[Mapping[str, float]]
    """The measured means, by row."""

    @property
    def values_within(self) -> int:
        """The number of values within their tolerance, over all rows and columns."""
        return sum(self.within.values())


def of(change: Callable[[dict[str, Any]], object], repetitions: int) -> Nearness:
    """Runs all rows of tables 1-4, after `change` has modified each scenario in place."""
    scenarios = [copy.deepcopy(dict(row.scenario)) for row in rows()]
    for scenario in scenarios:
        change(scenario)
    runs = run_many(scenarios, repetitions=repetitions)
    measured = [runs.where(scenario=number, flow=0) for number in range(len(rows()))]
    means = [{column.name: float(found[column.number].mean()) for column in settings.COLUMNS} for found in measured]
    pairs = list(zip(rows(), means, strict=True))
    distances = [abs(math.log(mean["time_s"] / row.published["time_s"])) for row, mean in pairs]
    within = {
        column.name: sum(column.agrees(row.published[column.name], mean[column.name]) is True for row, mean in pairs)
        for column in settings.COLUMNS
    }
    return Nearness(sum(distances) / len(pairs), within, means)


def put(scenario: dict[str, Any], values: settings.Open) -> None:
    """Sets other values for what the paper leaves open in a scenario of tables 1-4."""
    scenario["dumbbell"] |= values.access()
    scenario["spike"][0]["first_s"] = values.first_spike_s
    for flow in scenario["flow"]:
        if flow["application"]["kind"] == "cbr":
            flow["application"] |= {"packet_bytes": values.cbr_packet_bytes, "jitter": values.cbr_jitter}
        else:
            flow["tcp"] |= {"delayed_ack_ms": values.ack_delay_ms, "payload_bytes": values.payload_bytes}
