"""Detectors over the mix with Linux's sender and wire: bursts of TSO, GRO, and one clock of 1 ms for all timestamps."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import numpy as np

from eifel.papers import rfc3522
from eifel.papers.artefact import Artefact, Claim, Measured, Row, Setting, Studied
from eifel.papers.study import Effort, Study
from eifel.runs import Runs
from eifel.statistics import Mean
from eifel.studies import crossed_situations, detector_runs, facts, judged, mix, situations
from eifel.studies.crossed_situations import CROSSED
from eifel.studies.detector_runs import Panel, acting, kept, watching
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
PANEL = Panel(
    (
        watching({name: name for name in (ORIGINAL, MARKS, DSACK, *BY_TIME)}),
        # A registry name can observe only once per run.
        detector_runs.Runs(
            {"detect": F_RTO, "observers": [dict(rfc3522.PLAIN)]},
            {F_RTO: F_RTO, PLAIN: ORIGINAL},
        ),
        acting(SECOND_ACK),
        acting(LINUX),
        acting(SHARED),
    )
)
PROVING = (LINUX, SHARED, ORIGINAL, PLAIN, F_RTO, SECOND_ACK, DSACK, MARKS)
"""Detectors that use the contents of ACKs."""
DETECTORS = (*PROVING, *BY_TIME)
LEFT_OUT = ("found", "found_beside_loss", "lost_bytes", "false", "header_per_mille")
"""Columns of the mix that its table does not show."""
COLUMNS = tuple(column for column in facts.COLUMNS if column.name not in LEFT_OUT)


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
    """Returns every episode of every point with every detector's verdict."""
    return PANEL.episodes(effort, TITLE, WIRE)


def measure(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    names = [situation.name for situation in WIRE]
    pooled = {ALL: np.arange(len(MIX)), MET: np.arange(len(MIX), len(WIRE))}
    by_name = PANEL.by_detector({name: runs[name] for name in runs.columns})
    measured = []
    for row in artefact.rows:
        columns, where = by_name[str(row.keys["detector"])], str(row.keys["situation"])
        places = pooled[where] if where in pooled else [names.index(where)]
        measured.append(facts.counts(kept(columns, np.isin(columns["situation"], places))))
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
            PANEL.design(WIRE),
            (find, _on_wire, on_wire, crossed_situations, detector_runs, judged, mix, situations),
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
