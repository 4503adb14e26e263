"""Every detector against the simulator's truth, over more than 100 000 episodes of a published mix."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any

from eifel.papers.artefact import Artefact, Column, Row, Setting
from eifel.papers.detectors import contest, facts
from eifel.papers.detectors.troubles import SITUATIONS
from eifel.papers.detectors.truth_claims import ALL, CLAIMS
from eifel.papers.study import Effort, Study
from eifel.statistics import Mean

if TYPE_CHECKING:
    from eifel.runs import Runs

TITLE = "detectors.truth"
PAIRS = tuple(permutations(contest.SIDE_BY_SIDE, 2))
"""Detector and fallback."""
EITHER = tuple(combinations(contest.SIDE_BY_SIDE, 2))
"""Two that believe each other."""

COLUMNS = (
    Column("episodes", "Episodes", digits=0),
    Column("found", "Spurious, nothing lost: found %", digits=2),
    Column("found_beside_loss", "Spurious, others lost: found %", digits=2),
    Column("found_timeouts", "Spurious timeouts: found %", digits=2),
    Column("found_fast_retransmits", "Spurious fast retransmits: found %", digits=2),
    Column("false", "Genuine: called spurious %", digits=2),
    Column("true_positives", "True positives", digits=0),
    Column("false_negatives", "False negatives", digits=0),
    Column("undecided_spurious", "Spurious, undecided", digits=0),
    Column("false_positives", "False positives", digits=0),
    Column("true_negatives", "True negatives", digits=0),
    Column("undecided_genuine", "Genuine, undecided", digits=0),
    Column("delay_rtts", "Median delay of what is found, RTTs", digits=2),
    Column("needless_bytes", "Sent needlessly until the verdict, bytes", digits=0),
    Column("header_per_mille", "Headers, bytes in 1000 of data", digits=2),
)


def pair(first: str, fallback: str) -> str:
    """The name of a detector with another as its fallback."""
    return f"{first}, else {fallback}"


def union(one: str, other: str) -> str:
    """The name of two detectors that believe each other."""
    return f"{one} or {other}"


def rows() -> tuple[Row, ...]:
    """Each detector in all situations together, each pair both ways, and each detector in each situation."""
    single = [Row({"situation": ALL, "detector": name}) for name in contest.DETECTORS]
    both = [*(pair(*names) for names in PAIRS), *(union(*names) for names in EITHER)]
    pairs = [Row({"situation": ALL, "detector": name}) for name in both]
    apart = [Row({"situation": s.name, "detector": name}) for s in SITUATIONS for name in contest.DETECTORS]
    return (*single, *pairs, *apart)


def find(effort: Effort) -> Mapping[str, Any]:
    """All episodes with all verdicts."""
    return contest.episodes(effort, TITLE, SITUATIONS)


def measure(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    """The rows' means from the episodes."""
    names = [situation.name for situation in SITUATIONS]
    there = {name: runs[name] for name in runs.columns}
    alone = {name: _rows(there, there["detector"] == code) for code, name in enumerate(contest.DETECTORS)}
    by_name = dict(alone)
    by_name |= {pair(*both): facts.fallen_back(*(alone[name] for name in both)) for both in PAIRS}
    by_name |= {union(*both): facts.either(*(alone[name] for name in both)) for both in EITHER}
    measured = []
    for row in artefact.rows:
        columns = by_name[str(row.keys["detector"])]
        if row.keys["situation"] != ALL:
            columns = _rows(columns, columns["situation"] == names.index(str(row.keys["situation"])))
        measured.append(facts.counts(columns))
    return measured


def _rows(columns: Mapping[str, Any], keep: Any) -> dict[str, Any]:
    return {name: values[keep] for name, values in columns.items()}


CHOSEN = (
    Setting("mix", "drawn from the seed", "docs/detectors.md lists the situations and what each draws", "chosen"),
    Setting("timer", "Linux's, at least 200 ms above the round trip", "shorter spikes matter then too", "chosen"),
    Setting("response", "none", "what was seen before a verdict is then what every sender would have seen", "chosen"),
)

ARTEFACT = Artefact(
    id="detectors.truth",
    title="Every detector against the simulator's truth",
    source="eifel, docs/detectors.md",
    columns=COLUMNS,
    rows=rows(),
    claims=CLAIMS,
    fitted=CHOSEN,
    study=Study(find, contest.design(SITUATIONS)),
    measure=measure,
    long=True,
)
