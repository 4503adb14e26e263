"""The sweep over what the paper leaves open: which one setting is nearest to all rows of tables 1-4.

`python -m eifel.papers.responding.calibration > docs/calibration.md` runs it and writes the ranking. It is no artefact:
it is where `settings.FIT` comes from.
"""

from __future__ import annotations

import copy
import itertools
import math
import sys
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Any

from eifel.papers import select
from eifel.papers.artefact import Row
from eifel.papers.responding import settings
from eifel.runs import Runs, run_many

REPETITIONS = 20
GRID = tuple(
    settings.Open(delay, first, size, jitter, ack_delay_ms=100)
    for delay, first, size, jitter in itertools.product((150, 190, 200, 210), (5, 7), (64, 210, 500, 1000), (0, 0.5))
)
ROWS: tuple[Row, ...] = tuple(row for artefact in select(["responding.table"]) for row in artefact.rows)


@dataclass(frozen=True)
class Nearness:
    """How near a setting comes to what is printed."""

    open: settings.Open
    distance: float
    """Mean over the rows of |log(measured time / printed time)|."""
    within: Mapping[str, int]
    """Rows within the tolerance, column by column."""


def with_open(scenario: Mapping[str, Any], values: settings.Open) -> dict[str, Any]:
    """A scenario of tables 1-4 with other values for what the paper leaves open."""
    changed = copy.deepcopy(dict(scenario))
    changed["dumbbell"]["access"]["delay_ms"] = values.access_ms
    changed["spike"][0]["first_s"] = values.first_spike_s
    for flow in changed["flow"]:
        if flow["application"]["kind"] == "cbr":
            flow["application"] |= {"packet_bytes": values.cbr_packet_bytes, "jitter": values.cbr_jitter}
        else:
            flow["tcp"]["delayed_ack_ms"] = values.ack_delay_ms
    return changed


def nearness(values: settings.Open, runs: Runs) -> Nearness:
    """Compares the means of the runs of `ROWS` with what is printed."""
    distance = 0.0
    within = dict.fromkeys((column.name for column in settings.COLUMNS), 0)
    for number, row in enumerate(ROWS):
        measured = runs.where(scenario=number, flow=0)
        for column in settings.COLUMNS:
            mean = float(measured[column.number].mean())
            within[column.name] += bool(column.agrees(row.published[column.name], mean))
            if column.name == "time_s":
                distance += abs(math.log(mean / row.published["time_s"])) / len(ROWS)
    return Nearness(values, distance, within)


def sweep() -> list[Nearness]:
    """Runs the grid; the nearest setting first. Tells on standard error how far it has come."""
    found = []
    for number, values in enumerate(GRID, 1):
        scenarios = [with_open(row.scenario, values) for row in ROWS]
        found.append(nearness(values, run_many(scenarios, repetitions=REPETITIONS)))
        print(f"\r{number}/{len(GRID)} settings", end="", file=sys.stderr)
    print(file=sys.stderr)
    return sorted(found, key=lambda one: one.distance)


def report(found: list[Nearness]) -> str:
    """The ranking as Markdown."""
    titles = ["delay, ms", "first spike, s", "CBR, bytes", "jitter", "ACK delay, ms", "distance"]
    titles += [f"{column.title} within" for column in settings.COLUMNS]
    lines = [
        '# What the tables of "Responding to Spurious Timeouts in TCP" leave open, swept',
        "",
        f"Each setting runs all {len(ROWS)} rows of tables 1-4, {REPETITIONS} repetitions each. Distance: the mean of",
        "|log(measured time / printed time)| over the rows; the last columns count the rows within the tolerance:",
        "10 % of the time, 1 % of the segments, 15 % or 0.3 of the timeouts. The tables use the setting in bold: of",
        "the nearest it has the most rows within the tolerance, here and with 100 repetitions. Without jitter single",
        "timeouts hang on the phase of the two flows: they come always or never, where the paper's counts lie between.",
        "Written by `python -m eifel.papers.responding.calibration`.",
        "",
        "| " + " | ".join(titles) + " |",
        "|" + "---:|" * len(titles),
    ]
    for one in found:
        cells = [f"{value:g}" for value in astuple(one.open)] + [f"{one.distance:.3f}"]
        cells += [str(count) for count in one.within.values()]
        mark = "**" if one.open == settings.FIT else ""
        lines.append("| " + " | ".join(f"{mark}{cell}{mark}" for cell in cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(report(sweep()))
