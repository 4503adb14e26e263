"""Writes the tables of the calibration's page: a sweep over what tables 1-4 leave open, and changes one at a time."""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.documents import ROOT, filled, name_missing, quoted, table
from eifel.papers import select
from eifel.papers.artefact import Row
from eifel.papers.responding import distances, settings, swept
from eifel.papers.responding.calibration import NAMES, WITHIN, judged, results
from eifel.runs import run_many

PAGE = "docs/internals/calibration.md"


def quotes() -> list[tuple[str, str]]:
    """Returns the page's sentences about the number of runs."""
    return quoted(
        PAGE,
        f"{swept.SAMPLE} settings drawn from all combinations, and the tables' own, were run {swept.SCREEN} times a "
        f"row. Then {swept.STEPS} settings followed that differ from the front by one value. The best "
        f"{swept.FINALISTS} were run {swept.AGAIN} times more. The tables' setting and the best two others were run "
        f"{swept.FULL} times with each of {1 + swept.JUDGES} seeds.",
        f"Means of {REPETITIONS} repetitions with the seed 1; the tables have {swept.FULL}.",
    )


def blocks(columns: Mapping[str, NDArray[Any]]) -> dict[str, str]:
    """Returns the page's blocks about the sweep, by their marks."""
    settings_judged = list(zip(NAMES, judged(columns), strict=False))
    axes = list(swept.AXES)
    parts = ((distances.IN_FIT, "tables 1 and 2"), (~distances.IN_FIT, "tables 3 and 4"))
    counts = [
        [name, one.seed, of, *(f"{count} of {rows.sum()}" for count in one.within[rows].sum(axis=0))]
        for name, setting in settings_judged
        for one in setting
        for rows, of in parts
    ]
    again = []
    for number, (of, row) in enumerate(distances.ROWS):
        here = [np.mean([one.means[number, 1] for one in setting[1:]]) for _, setting in settings_judged]
        printed = row.published["retransmissions"]
        again.append([f"{of}: {row.name}", f"{printed:.0f}", *(f"{value:.0f}" for value in here)])
    values = [[name, *(setting[0].values[axis] for axis in axes)] for name, setting in settings_judged]
    return {
        "settings": table(["setting", *axes], values),
        "within": table(["setting", "seed", "rows", *(f"{title} within" for title in WITHIN.values())], counts, 1),
        "retransmitted": table(["row", "printed", *(name for name, _ in settings_judged)], again, 1),
        "front": front_table(columns),
    }


def front_table(columns: Mapping[str, NDArray[Any]]) -> str:
    found = [one for one in results(columns) if one.stage in ("screen", "steps")]
    points = np.array([one.distances() for one in found])
    kept = [number for number, point in enumerate(points) if not _bettered(points, point)]
    rows = [
        [*(f"{value:.2f}" for value in points[number]), *found[number].values.values()]
        for number in sorted(kept, key=lambda number: points[number, 0])
    ]
    return table(["time", "retransmitted", "timeouts", *swept.AXES], rows)


def _bettered(points: NDArray[np.float64], point: NDArray[np.float64]) -> bool:
    return bool(((points <= point).all(axis=1) & (points < point).any(axis=1)).any())


Change = Callable[[dict[str, Any]], object]

SHOWN: tuple[Mapping[str, Any], ...] = (
    {"recovery": "reno-sack", "eifel": True},
    {"recovery": "fack", "eifel": True},
    {"restore": "option-2"},
    {"restore": "option-3"},
    {"rto_adaptation": "back-off"},
)
"""The rows shown beside the counts: the last of `rows()` with these keys."""


@cache
def rows() -> tuple[Row, ...]:
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


def nearness(change: Callable[[dict[str, Any]], object], repetitions: int) -> Nearness:
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


def _put(scenario: dict[str, Any], values: settings.Open) -> None:
    """Sets other values for what the paper leaves open in a scenario of tables 1-4."""
    scenario["dumbbell"] |= values.access()
    scenario["spike"][0]["first_s"] = values.first_spike_s
    for flow in scenario["flow"]:
        if flow["application"]["kind"] == "cbr":
            flow["application"] |= {"packet_bytes": values.cbr_packet_bytes, "jitter": values.cbr_jitter}
        else:
            flow["tcp"] |= {"delayed_ack_ms": values.ack_delay_ms, "payload_bytes": values.payload_bytes}


def _open(**values: Any) -> Change:
    return partial(_put, values=replace(settings.FIT, **values))


def _spike(**values: Any) -> Change:
    return lambda scenario: scenario["spike"][0].update(values)


def _sender(recovery: str | None = None, **seams: Any) -> Change:
    """Changes algorithms of the main flow, or their parameters, optionally only if it recovers by `recovery`."""

    def change(scenario: dict[str, Any]) -> None:
        sender = scenario["flow"][0]["sender"]
        if recovery not in (None, sender["recover"]):
            return
        for seam, wanted in seams.items():
            now = sender[seam]
            sender[seam] = (
                wanted if isinstance(wanted, str) else (now if isinstance(now, dict) else {"name": now}) | wanted
            )

    return change


def _queue(packets: int) -> Change:
    return lambda scenario: scenario["dumbbell"]["bottleneck"]["queue"].update(packets=packets)


_BLOCKED = {"fast_retransmit_below_recovery_point": "blocked"}
_SSTHRESH = {"initial_ssthresh_bytes": settings.RECEIVE_WINDOW_BYTES}

REPETITIONS = 20
"""As the page says."""

VARIANTS: Mapping[str, Change] = {
    "as in the tables": _open(),
    "the access delay on both sides alike": _open(sender_share=0.5),
    "the access delay on the receiver's side": _open(sender_share=0),
    "1000 bytes of payload, as if the option took nothing": _open(payload_bytes=1000),
    "ACKs wait 200 ms": _open(ack_delay_ms=200),
    "the first spike at any time in the first 20 s": _spike(first_s={"uniform": [0, 20]}),
    "a spike holds what is due at the far end, and the queue empties": _spike(holds="arriving"),
    "after a spurious timeout go-back-N": _sender(recover={"after_spurious_timeout": "go-back-n"}),
    "after a spurious timeout no fast retransmit below the recovery point": _sender(recover=_BLOCKED),
    "loss recovery by ns-2's rules": _sender(recover={"follows": "ns-2"}),
    "a queue of 76 packets, as ns-2's delayer makes of 75": _queue(76),
    "no Limited Transmit": _sender(recover={"limited_transmit": False}),
    'FACK without the "bugfix", as ns-2.35 has it': _sender("fack", recover={"bugfix": False}),
    "any valid sample ends the back-off": _sender(rto={"back_off_ends": "sample"}),
    "the backed-off RTO grows to an hour, not to 60 s": _sender(rto={"maximum_ms": 3_600_000}),
    "an initial ssthresh of the receiver's window, as in ns-2": _sender(congest=_SSTHRESH),
    "ssthresh is held at further timeouts (RFC 5681)": _sender(congest=dict(settings.WINDOWS["rfc5681"])),
    "an undo once in a round trip, as this project grants it": _sender(grant="once-a-round-trip"),
}


def variants_table() -> str:
    """Returns the results of all changes."""
    shown = [max(number for number, row in enumerate(rows()) if row.keys == keys) for keys in SHOWN]
    names = [" ".join("Eifel" if value is True else str(value) for value in keys.values()) for keys in SHOWN]
    head = ["changed", "distance", *(f"{column.title} within" for column in settings.COLUMNS)]
    printed = ["printed", *[""] * (1 + len(settings.COLUMNS)), *(_cell(rows()[number].published) for number in shown)]
    changed = []
    for name, change in VARIANTS.items():
        near = nearness(change, REPETITIONS)
        here = (_cell(near.means[number]) for number in shown)
        changed.append([name, f"{near.distance:.3f}", *near.within.values(), *here])
    return table([*head, *(f"{name}: s / retransmitted / genuine" for name in names)], [printed, *changed], 1)


def _cell(values: Mapping[str, float]) -> str:
    return f"{values['time_s']:.0f} / {values['retransmissions']:.0f} / {values['genuine_rtos']:.2f}"


def main(_: Sequence[str]) -> None:
    """Writes the page's blocks from the sweep stored in `out`, whose missing parts are run."""
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    for name, block in {**blocks(swept.stored()), "variants": variants_table()}.items():
        text = filled(text, f"calibration: {name}", block)
    (ROOT / PAGE).write_text(text, encoding="utf-8")
    name_missing(quotes())
