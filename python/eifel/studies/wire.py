"""Detectors over the mix with Linux's sender and wire: bursts of TSO, GRO, and one clock of 1 ms for all timestamps."""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import numpy as np

from eifel.papers import rfc3522
from eifel.papers.artefact import Artefact, Claim, Column, Measured, Row, Setting, Studied
from eifel.papers.study import Effort, Study
from eifel.runs import Runs as Results
from eifel.runs import run
from eifel.statistics import Mean
from eifel.studies import crossed_situations, detector_runs, facts, judged, mix, situations
from eifel.studies.crossed_situations import CROSSED
from eifel.studies.detector_runs import Runs, acting, watching
from eifel.studies.mix import Extra, Situation, Way
from eifel.studies.situations import SITUATIONS

TITLE = "detectors.wire"
ALL, MET = "all", "two troubles"
"""The mix, and all situations in which two troubles meet."""
SHARE = 5
"""The mix has as many times more points."""
WINDOW_SEGMENTS = (16, 256)
"""Windows that bursts for TSO need, of up to 64 kB."""
DURATION_S = 60
LINUX, ORIGINAL, PLAIN = "linux", "eifel-timestamps", "eifel-timestamps (plain)"
F_RTO, SECOND_ACK, DSACK, MARKS = "f-rto-sack", "eifel-or-f-rto", "dsack", "eifel-bit"
SHARED = "eifel-f-rto-dsack"
"""The detector for timestamps that neighbours share."""
BY_TIME = ("min-rtt", "dual-rtt")
"""Detectors that use the arrival times of ACKs."""
RUNS = (
    watching({name: name for name in (ORIGINAL, MARKS, DSACK, *BY_TIME)}),
    # A registry name can observe only once per run.
    Runs(
        {"detect": F_RTO, "observers": [dict(rfc3522.PLAIN)]},
        {F_RTO: F_RTO, PLAIN: ORIGINAL},
    ),
    acting(SECOND_ACK),
    acting(LINUX),
    acting(SHARED),
)
CODES = tuple(name for runs in RUNS for name in runs.detectors)
"""The detectors, in the order of the codes in the column `detector`."""
PROVING = (LINUX, SHARED, ORIGINAL, PLAIN, F_RTO, SECOND_ACK, DSACK, MARKS)
"""Detectors that use the contents of ACKs."""
DETECTORS = (*PROVING, *BY_TIME)
COLUMNS = (
    Column("episodes", "Episodes", digits=0),
    Column("found_timeouts", "Needless timeouts: found %", digits=2),
    Column("found_fast_retransmits", "Needless fast retransmits: found %", digits=2),
    Column("mixed", "Mixed: called spurious though something was lost %", digits=2),
    Column("true_positives", "Needless, called spurious", digits=0),
    Column("false_negatives", "Needless, called genuine", digits=0),
    Column("undecided_needless", "Needless, undecided", digits=0),
    Column("false_positives", "Needed, called spurious", digits=0),
    Column("true_negatives", "Needed, called genuine", digits=0),
    Column("undecided_needed", "Needed, undecided", digits=0),
    Column("mixed_undone", "Mixed, called spurious", digits=0),
    Column("mixed_kept", "Mixed, called genuine", digits=0),
    Column("undecided_mixed", "Mixed, undecided", digits=0),
    Column("delay_rtts", "Median delay of what is found, RTTs", digits=2),
    Column("needless_bytes", "Sent needlessly until the verdict, bytes", digits=0),
)


def _on_wire(trouble: Callable[[Random, Way, int], Extra], draw: Random, way: Way, point: int) -> Extra:
    extra = trouble(draw, way, point)
    return {**extra, "flow": {**extra.get("flow", {}), "profile": "linux"}}


def on_wire(situation: Situation, share: int = 1) -> Situation:
    """Returns a situation with Linux's sender and receiver and its windows, and the points divided by `share`."""
    return replace(
        situation,
        points=situation.points // share,
        trouble=partial(_on_wire, situation.trouble),
        window=WINDOW_SEGMENTS,
        duration_s=DURATION_S,
    )


MIX = tuple(on_wire(situation, SHARE) for situation in SITUATIONS)
WIRE = (*MIX, *(on_wire(situation) for situation in CROSSED))


def find(effort: Effort) -> Mapping[str, Any]:
    """Returns every episode of every point with every detector's verdict, situation by situation."""
    threads = effort.threads or os.cpu_count() or 1

    def part(number: int, progress: Callable[[int], object]) -> judged.Columns:
        points = range(WIRE[number].points * effort.repetitions)
        done = []
        with ThreadPoolExecutor(threads) as pool:
            for rows in pool.map(partial(point_columns, WIRE[number], effort.seed), points):
                done.append(rows)
                progress(len(done))
        columns = {name: np.concatenate([rows[name] for rows in done]) for name in done[0]}
        return {"situation": np.full(len(columns["point"]), number, np.int8), **columns}

    return effort.parts(TITLE, design(), [situation.points * effort.repetitions for situation in WIRE], part)


def point_columns(situation: Situation, seed: int, point: int) -> judged.Columns:
    parts = []
    there = [runs.there(situation.scenario(seed, point, runs.sender)) for runs in RUNS]
    for runs in (runs for runs in there if runs.detectors):
        result = run(situation.scenario(seed, point, runs.sender), record=judged.TABLES)
        columns = judged.judged(result, runs.detectors)
        codes = np.array([CODES.index(name) for name in runs.detectors], np.int8)
        parts.append({**columns, "detector": codes[columns["detector"]]})
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return {"point": np.full(len(joined["detector"]), point, np.int32), **joined}


def design() -> dict[str, Any]:
    return {
        "points": {situation.name: situation.points for situation in WIRE},
        "runs": [{"sender": dict(runs.sender), "detectors": dict(runs.detectors)} for runs in RUNS],
        "examples": [situation.scenario(1, point, {}) for situation in WIRE for point in (0, 1)],
    }


def measure(artefact: Artefact, results: Results) -> list[dict[str, Mean]]:
    there = {name: results[name] for name in results.columns}
    names = [situation.name for situation in WIRE]

    def of(name: str) -> dict[str, Any]:
        return {column: values[there["detector"] == CODES.index(name)] for column, values in there.items()}

    by_name = {name: of(name) for name in DETECTORS}
    pooled = {ALL: np.arange(len(MIX)), MET: np.arange(len(MIX), len(WIRE))}
    measured = []
    for row in artefact.rows:
        columns, where = by_name[str(row.keys["detector"])], str(row.keys["situation"])
        places = pooled[where] if where in pooled else [names.index(where)]
        keep = np.isin(columns["situation"], places)
        measured.append(facts.counts({name: values[keep] for name, values in columns.items()}))
    return measured


def _of(measured: Measured, column: str, detector: str, situation: str = ALL) -> float:
    return measured.mean(column, situation=situation, detector=detector)


def _wrong(measured: Measured, detector: str, situation: str = ALL) -> float:
    """Returns the share of the needed episodes that a detector calls spurious."""
    wrong, *others = (
        _of(measured, column, detector, situation)
        for column in ("false_positives", "true_negatives", "undecided_needed")
    )
    return wrong / (wrong + sum(others))


ARTEFACT = Artefact(
    id=TITLE,
    title="Detectors on Linux's wire, against the simulator's truth",
    source="eifel, docs/internals/detectors.md",
    columns=COLUMNS,
    rows=tuple(
        Row({"situation": where, "detector": name})
        for where in (ALL, MET, *(situation.name for situation in WIRE))
        for name in DETECTORS
    ),
    method=Studied(
        Study(
            find,
            design(),
            (find, point_columns, _on_wire, on_wire, crossed_situations, detector_runs, judged, mix, situations),
        ),
        measure,
        long=True,
    ),
    fitted=(
        Setting(
            "mix",
            f"a fifth of the mix's points, and those where two troubles meet, {DURATION_S} s each",
            "docs/internals/detectors.md",
        ),
        Setting("sender", 'profile = "linux"', "docs/reference/scenario.md says what it sets"),
        Setting("windows", "16 to 256 segments", "bursts for TSO are as long as the window and the rate allow"),
        Setting("response", "none", "what was seen before a verdict is then what every sender would have seen"),
    ),
    claims=(
        Claim(
            "no detector that uses the contents of ACKs calls more than 1 of 100 needed episodes spurious",
            lambda m: all(_wrong(m, name) <= 0.01 for name in PROVING),
        ),
        Claim(
            "detectors by time find fewer of the needless timeouts than the plain comparison",
            lambda m: all(_of(m, "found_timeouts", name) < _of(m, "found_timeouts", PLAIN) for name in BY_TIME),
        ),
        Claim(
            "with timestamps that neighbours share, the original's own finds less than a tenth of what the plain "
            "comparison finds of the needless timeouts",
            lambda m: 10 * _of(m, "found_timeouts", ORIGINAL) < _of(m, "found_timeouts", PLAIN),
        ),
        Claim(
            "Linux finds at least 19 of 20 of the needless timeouts that the plain comparison finds",
            lambda m: 20 * _of(m, "found_timeouts", LINUX) >= 19 * _of(m, "found_timeouts", PLAIN),
        ),
        Claim(
            "old echoes, F-RTO and DSACK together find at least nine of ten of the needless timeouts and fast "
            "retransmits that Linux finds, and are wrong no more often",
            lambda m: (
                all(
                    10 * _of(m, column, SHARED) >= 9 * _of(m, column, LINUX)
                    for column in ("found_timeouts", "found_fast_retransmits")
                )
                and _of(m, "false_positives", SHARED) <= _of(m, "false_positives", LINUX)
            ),
        ),
        Claim(
            "where two troubles meet, they find at least nine of ten of the needless timeouts that Linux finds, and "
            "are wrong no more often",
            lambda m: (
                10 * _of(m, "found_timeouts", SHARED, MET) >= 9 * _of(m, "found_timeouts", LINUX, MET)
                and _wrong(m, SHARED, MET) <= _wrong(m, LINUX, MET)
            ),
        ),
        Claim(
            "Linux finds more of the needless fast retransmits than any other",
            lambda m: all(
                _of(m, "found_fast_retransmits", LINUX) >= _of(m, "found_fast_retransmits", name) for name in DETECTORS
            ),
        ),
    ),
)
