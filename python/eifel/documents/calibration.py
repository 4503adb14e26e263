"""Writes the page of the calibration: a sweep over what tables 1-4 leave open, and changes one at a time."""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.documents import INTERNALS
from eifel.papers import select
from eifel.papers.artefact import Row
from eifel.papers.responding import distances, settings, swept
from eifel.papers.responding.calibration import NAMES, WITHIN, judged, results
from eifel.runs import run_many

PAGE = INTERNALS / "calibration.md"


def _line(cells: Sequence[Any]) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def report(columns: Mapping[str, NDArray[Any]], others: Sequence[str]) -> str:
    lines = [HEAD, "## The settings that were judged", ""]
    axes = list(swept.AXES)
    lines += [_line(["setting", *axes]), "|---|" + "---|" * len(axes)]
    all_judged = judged(columns)
    for name, setting in zip(NAMES, all_judged, strict=False):
        lines.append(_line([name, *(setting[0].values[axis] for axis in axes)]))
    titles = ["setting", "seed", "rows", *(f"{title} within" for title in WITHIN.values())]
    lines += ["", _line(titles), "|---|" + "---:|" * (len(titles) - 1)]
    for name, setting in zip(NAMES, all_judged, strict=False):
        for one in setting:
            for rows, of in ((distances.IN_FIT, "tables 1 and 2"), (~distances.IN_FIT, "tables 3 and 4")):
                counts = one.within[rows].sum(axis=0)
                lines.append(_line([name, one.seed, of, *(f"{count} of {rows.sum()}" for count in counts)]))
    lines += ["", "## Retransmitted, row by row", "", SENT_AGAIN, ""]
    names = NAMES[: len(all_judged)]
    lines += [_line(["row", "printed", *names]), "|---|" + "---:|" * (1 + len(names))]
    for number, (table, row) in enumerate(distances.ROWS):
        here = [np.mean([one.means[number, 1] for one in setting[1:]]) for setting in all_judged]
        printed = row.published["retransmissions"]
        lines.append(_line([f"{table}: {row.name}", f"{printed:.0f}", *(f"{value:.0f}" for value in here)]))
    lines += ["", "## The front", "", FRONT, "", *front_table(columns), "", *others, ""]
    return "\n".join(lines)


def front_table(columns: Mapping[str, NDArray[Any]]) -> list[str]:
    found = [one for one in results(columns) if one.stage in ("screen", "steps")]
    points = np.array([one.distances() for one in found])
    kept = [number for number, point in enumerate(points) if not _bettered(points, point)]
    titles = ["time", "retransmitted", "timeouts", *swept.AXES]
    lines = [_line(titles), "|---:|---:|---:|" + "---|" * len(swept.AXES)]
    for number in sorted(kept, key=lambda number: points[number, 0]):
        lines.append(_line([*(f"{value:.2f}" for value in points[number]), *found[number].values.values()]))
    return lines


def _bettered(points: NDArray[np.float64], point: NDArray[np.float64]) -> bool:
    return bool(((points <= point).all(axis=1) & (points < point).any(axis=1)).any())


HEAD = f"""\
# What the tables of "Responding to Spurious Timeouts in TCP" leave open, swept

No setting meets all four tables. `eifel reproduce responding.calibration responding.front` runs the sweep, and
`python -m eifel.documents calibration` writes this page.

- **Swept:** whether a spike holds data before or behind the queue, and whether it holds ACKs; the one-way delay, and
  the share of the access delay on the sender's side; the queue; the payload; the first spike; the CBR's packets; the
  delay of ACKs; the end of a back-off; the source of loss recovery's rules.
- **Runs:** {swept.SAMPLE} settings drawn from all combinations, and the tables' own, were run {swept.SCREEN} times a
  row. Then {swept.STEPS} settings followed that differ from the front by one value. The best {swept.FINALISTS} were run
  {swept.AGAIN} times more. The tables' setting and the best two others were run {swept.FULL} times with each of
  {1 + swept.JUDGES} seeds.
- **Fitted to** tables 1 and 2 with the seed 1. **Judged by** tables 3 and 4, and by other seeds.
- **Within:** 10 % of the time; 15 % of the segments retransmitted (the printed segments beyond 5000); 15 % or 0.3 of
  the timeouts.
"""
SENT_AGAIN = "Means over the seeds that were not used for the fit."
FRONT = """\
![How near the times and the segments retransmitted come together](front.svg)

The picture is `responding.front`'s. Across: a bound for the mean distance in time. Up: the least mean distance in
segments retransmitted within that bound. A distance is |log (here / print)|, over all rows. The dotted lines are 10 %
and 15 %. No setting is near their corner. Where the times are near, the segments retransmitted are off by a factor of
1.8. They come nearest with ns-2's rules, the whole access delay on the sender's side and larger CBR packets; then the
times are off. With a spike that holds packets before the queue, both are further off.

The settings below form the front: no other is nearer in one distance without being further off in another. Timeouts:
mean distance in tolerances, at most 5."""
KNOWN = """\
## What is known of the rows that are outside

- **The end of a back-off** decides the times of Reno-SACK with Eifel and of options 2 and 3. A spike backs the timer
  off two or three times. The ACK of an original then brings a valid sample, but acknowledges no new data. Before July
  2003 only new data ended ns-2's back-off. Its Sack1 ends the back-off with a partial ACK as well.
- **The side of the access delay** decides the times of the same rows. When a spike begins, ACKs that have left the
  bottleneck still release segments into a queue that stands still. With a longer way between sender and bottleneck,
  more of a window enters that queue during the spike, and more of its end is lost. Reno-SACK counts those segments as
  under way, and waits for the timer.
- **A spike before the queue** releases all held segments at once, and the queue drops those that it cannot hold.
  Transfers with Eifel then end too early.
- **The source of loss recovery's rules** changes little alone. Together with the whole access delay on the sender's
  side and CBR packets of 210 to 300 bytes, ns-2's rules ([ns2.md](ns2.md)) bring the segments retransmitted nearest to
  print. Then the times are off.
- **Spurious and genuine timeouts together** are as many as spikes, in every printed row of tables 1 and 2: one in 30 s.
  So in print a genuine timeout replaces a spurious one: one spike in nine finds the oldest segment lost, with all three
  senders except Reno-SACK with Eifel. Here most genuine timeouts come before the first spike, when slow start has
  overrun the queue; they add to those of spikes.
- **FACK with Eifel** sends again less than half of the printed number (options 1 and 4, std, reseed). Two printed rows
  show where the rest is: back-off and min++ save 59 and 57 segments, and 1.3 and 0.8 spurious timeouts. Both save
  expiries within a spike. So in print a further expiry within a spike costs some ten segments; here it costs one.
"""
"""The text beside the table of trials."""


Change = Callable[[dict[str, Any]], object]

SHOWN: tuple[Mapping[str, Any], ...] = (
    {"recovery": "reno-sack", "eifel": True},
    {"recovery": "fack", "eifel": True},
    {"restore": "option-2"},
    {"restore": "option-3"},
    {"rto_adaptation": "back-off"},
)
"""The rows shown beside the counts: the last of `rows()` with these keys."""


COUNTED = "Means of 20 repetitions with the seed 1; the tables have 100."


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


def variants_table() -> list[str]:
    """Returns the results of all changes, as the lines of a table in Markdown."""
    shown = [max(number for number, row in enumerate(rows()) if row.keys == keys) for keys in SHOWN]
    names = [" ".join("Eifel" if value is True else str(value) for value in keys.values()) for keys in SHOWN]
    titles = ["changed", "distance", *(f"{column.title} within" for column in settings.COLUMNS)]
    titles += [f"{name}: s / retransmitted / genuine" for name in names]
    printed = [_cell(rows()[number].published) for number in shown]
    lines = ["| " + " | ".join(titles) + " |", "|---|" + "---:|" * (len(titles) - 1)]
    lines.append("| " + " | ".join(["printed", *[""] * (1 + len(settings.COLUMNS)), *printed]) + " |")
    for name, change in VARIANTS.items():
        near = nearness(change, REPETITIONS)
        cells = [name, f"{near.distance:.3f}", *map(str, near.within.values())]
        lines.append("| " + " | ".join(cells + [_cell(near.means[number]) for number in shown]) + " |")
    return lines


def variants_report() -> list[str]:
    """Returns that table and the known causes for outlying rows, as lines of Markdown."""
    return [
        "## What else was tried, one change at a time",
        "",
        COUNTED,
        "",
        *variants_table(),
        "",
        *KNOWN.splitlines(),
    ]


def _cell(values: Mapping[str, float]) -> str:
    return f"{values['time_s']:.0f} / {values['retransmissions']:.0f} / {values['genuine_rtos']:.2f}"


def main(_: Sequence[str]) -> None:
    """Writes the page from the sweep stored in `out`, whose missing parts are run."""
    PAGE.write_text(report(swept.stored(), variants_report()), encoding="utf-8")
