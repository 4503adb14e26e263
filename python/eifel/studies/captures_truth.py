"""How often the analysis of captures is right: random transfers, captured at three places, judged by the oracle."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Row, Setting, Studied, counts
from eifel.papers.study import Effort, Progress, Study
from eifel.runs import Runs
from eifel.statistics import Mean, mean_interval, percent_interval

TRANSFERS = {"plain": 2000, "wild": 1000}
AT_A_TIME = 100
FIRST = 1_000_000  # The analysis was developed on other seeds.
PLACES = ("sender", "between", "receiver")
COUNTS = (
    *("retransmissions", "found", "cause_right", "cause_undecided", "cause_undecided_right", "verdict_right"),
    *("undecidable", "needed_called_spurious", "needed_called_spurious_certainly"),
)
ROWS = tuple((weather, place) for weather in TRANSFERS for place in PLACES)


def _find(effort: Effort) -> Mapping[str, Any]:
    from eifel import _engine
    from eifel.captures import Analysis

    parts = [(weather, first) for weather, count in TRANSFERS.items() for first in range(0, count, AT_A_TIME)]

    def some(number: int, progress: Progress) -> dict[str, Any]:
        weather, first = parts[number]
        rows: list[dict[str, Any]] = []
        for one in range(first, first + AT_A_TIME):
            seed = FIRST * effort.seed + one
            try:
                _, places = _engine.captured(seed, weather == "wild")
            except _engine.CaptureError:
                places = []  # The path never came to rest, so the capture is no transfer.
            for place, pcapng, truth in places:
                score = Analysis(_engine.analyze_bytes(place, pcapng)).score_text(truth)
                rows.append({"weather": weather, "place": place, "seed": seed} | {name: score[name] for name in COUNTS})
            progress(one - first + 1)
        return {name: [row[name] for row in rows] for name in ("weather", "place", "seed", *COUNTS)}

    return effort.parts("captured transfers", {"transfers": TRANSFERS}, [AT_A_TIME] * len(parts), some)


def _measure(_: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    return [_row(runs, weather, place) for weather, place in ROWS]


def _row(runs: Runs, weather: str, place: str) -> dict[str, Mean]:
    mine = (np.asarray(runs["weather"]) == weather) & (np.asarray(runs["place"]) == place)
    sums = {name: int(runs[name][mine].sum()) for name in COUNTS}
    every, open_ = sums["retransmissions"], sums["cause_undecided"]
    return {
        "captures": mean_interval([float(mine.sum())]),
        "retransmissions": mean_interval([float(every)]),
        "found": percent_interval(sums["found"], every),
        "cause": percent_interval(sums["cause_right"], sums["found"]),
        "cause_decided": percent_interval(sums["cause_right"] - sums["cause_undecided_right"], sums["found"] - open_),
        "cause_undecided": percent_interval(open_, sums["found"]),
        "decided": percent_interval(sums["verdict_right"], every - sums["undecidable"]),
        "undecidable": percent_interval(sums["undecidable"], every),
        "wrongly": mean_interval([float(sums["needed_called_spurious"])]),
        "wrongly_certain": mean_interval([float(sums["needed_called_spurious_certainly"])]),
    }


def _least(measured: Measured, column: str, *places: str) -> float:
    return min(measured.mean(column, weather="plain", place=place) for place in places)


ARTEFACT = Artefact(
    id="captures.truth",
    title="Retransmissions that the analysis of captures judges right",
    source="this project; docs/reference/captures.md",
    columns=(
        *counts("captures", "retransmissions"),
        Column("found", "Seen as retransmissions, %", digits=2),
        Column("cause", "Of these, cause right, %", digits=2),
        Column("cause_decided", "Cause right of the decided, %", digits=2),
        Column("cause_undecided", "Cause undecided, %", digits=2),
        Column("decided", "Verdict right of the decided, %", digits=2),
        Column("undecidable", "Called undecidable, %", digits=2),
        Column("wrongly", "Needed, called spurious, unsure", digits=0),
        Column("wrongly_certain", "Needed, called spurious with certainty", digits=0),
    ),
    rows=tuple(Row({"weather": weather, "place": place}) for weather, place in ROWS),
    method=Studied(Study(_find, {"transfers": TRANSFERS, "first seed": FIRST}, (_find,)), measure=_measure, long=True),
    fitted=(
        Setting("plain", "crates/hostile/src/generate/plain.rs", "stacks and paths such as there are"),
        Setting("wild", "crates/hostile/src/generate/mod.rs", "anything that a scenario can set"),
    ),
    claims=(
        Claim(
            "at the sender 99 % of the causes are right, and 99 % of the decided verdicts, on plain paths",
            lambda m: _least(m, "cause", "sender") >= 99 and _least(m, "decided", "sender") >= 99,
        ),
        Claim(
            "at the receiver and between, 95 % of the decided verdicts are right, and 95 % of the decided causes",
            lambda m: all(_least(m, column, "between", "receiver") >= 95 for column in ("decided", "cause_decided")),
        ),
        Claim(
            "no needed retransmission is called spurious with certainty, on any path",
            lambda m: sum(row.means["wrongly_certain"].mean for row in m.rows) == 0,
        ),
    ),
)
