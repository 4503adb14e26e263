"""Every detector against the simulator's truth: over a published mix, and where two troubles meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eifel.papers.artefact import Artefact, Column, Links, Row, Setting, Studied
from eifel.statistics import Mean
from eifel.studies import detector_runs, facts, recorded
from eifel.studies.crossed_situations import CROSSED
from eifel.studies.situations import SITUATIONS
from eifel.studies.truth_claims import ALL, CLAIMS, MET
from eifel.studies.truth_study import TITLE, study

if TYPE_CHECKING:
    from eifel.runs import Runs

PAIRS = tuple(permutations(detector_runs.SIDE_BY_SIDE, 2))
"""A detector and its fallback."""
EITHER = tuple(combinations(detector_runs.SIDE_BY_SIDE, 2))
"""Two detectors of which either suffices."""

COLUMNS = (
    Column("episodes", "Episodes", digits=0),
    Column("found", "Needless, nothing lost: found %", digits=2),
    Column("found_beside_loss", "Needless, others lost: found %", digits=2),
    Column("found_timeouts", "Needless timeouts: found %", digits=2),
    Column("found_fast_retransmits", "Needless fast retransmits: found %", digits=2),
    Column("mixed", "Mixed: called spurious though something was lost %", digits=2),
    Column("lost_bytes", "Lost where that was called spurious, bytes", digits=0),
    Column("false", "Needed: called spurious %", digits=2),
    Column("true_positives", "True positives", digits=0),
    Column("false_negatives", "False negatives", digits=0),
    Column("undecided_needless", "Needless, undecided", digits=0),
    Column("false_positives", "False positives", digits=0),
    Column("true_negatives", "True negatives", digits=0),
    Column("undecided_needed", "Needed, undecided", digits=0),
    Column("mixed_undone", "Mixed, called spurious", digits=0),
    Column("mixed_kept", "Mixed, called genuine", digits=0),
    Column("undecided_mixed", "Mixed, undecided", digits=0),
    Column("delay_rtts", "Median delay of what is found, RTTs", digits=2),
    Column("needless_bytes", "Sent needlessly until the verdict, bytes", digits=0),
    Column("header_per_mille", "Headers, bytes in 1000 of data", digits=2),
)


def pair(first: str, fallback: str) -> str:
    """Returns the name of a detector with another as its fallback."""
    return f"{first}, else {fallback}"


def union(one: str, other: str) -> str:
    """Returns the name of two detectors of which either suffices."""
    return f"{one} or {other}"


def rows() -> tuple[Row, ...]:
    """Returns the rows: each detector and each pair in the whole mix, and each detector in each situation."""
    single = [Row({"situation": where, "detector": name}) for where in (ALL, MET) for name in detector_runs.DETECTORS]
    both = [*(pair(*names) for names in PAIRS), *(union(*names) for names in EITHER)]
    pairs = [Row({"situation": ALL, "detector": name}) for name in both]
    names = [situation.name for situation in (*SITUATIONS, *CROSSED)]
    apart = [Row({"situation": where, "detector": name}) for where in names for name in detector_runs.DETECTORS]
    return (*single, *pairs, *apart)


def rows_of_traces(traces: Sequence[Path]) -> tuple[Row, ...]:
    """Returns the rows, and each detector on each recorded link."""
    there = recorded.situations(traces)
    return (*rows(), *(Row({"situation": s.name, "detector": name}) for s in there for name in detector_runs.DETECTORS))


def measure(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    """Returns the rows' means from the episodes."""
    situations = (str(row.keys["situation"]) for row in artefact.rows)
    names = [name for name in dict.fromkeys(situations) if name not in (ALL, MET)]
    mixed = np.arange(len(SITUATIONS))
    met = len(SITUATIONS) + np.arange(len(CROSSED))
    there = {name: runs[name] for name in runs.columns}
    alone = {name: _rows(there, there["detector"] == code) for code, name in enumerate(detector_runs.DETECTORS)}
    # In the mix all detectors observe side by side. Some combined troubles have no timestamps.
    beside = {name: _rows(alone[name], np.isin(alone[name]["situation"], mixed)) for name in detector_runs.SIDE_BY_SIDE}
    by_name = dict(alone)
    by_name |= {pair(*both): facts.fallen_back(*(beside[name] for name in both)) for both in PAIRS}
    by_name |= {union(*both): facts.either(*(beside[name] for name in both)) for both in EITHER}
    measured = []
    for row in artefact.rows:
        columns, where = by_name[str(row.keys["detector"])], str(row.keys["situation"])
        # Recorded links belong to their owners, so "all" means the published mix only.
        places = mixed if where == ALL else met if where == MET else [names.index(where)]
        measured.append(facts.counts(_rows(columns, np.isin(columns["situation"], places))))
    return measured


def _rows(columns: Mapping[str, Any], keep: Any) -> dict[str, Any]:
    return {name: values[keep] for name, values in columns.items()}


CHOSEN = (
    Setting("mix", "drawn from the seed", "docs/detectors.md lists the situations and what each draws", "chosen"),
    Setting("timer", "Linux's, at least 200 ms above the round trip", "shorter spikes matter then too", "chosen"),
    Setting("response", "none", "what was seen before a verdict is then what every sender would have seen", "chosen"),
)

ARTEFACT = Artefact(
    id=TITLE,
    title="Every detector against the simulator's truth",
    source="eifel, docs/detectors.md",
    columns=COLUMNS,
    rows=rows(),
    claims=CLAIMS,
    fitted=CHOSEN,
    method=Studied(study(), measure=measure, long=True),
    links=Links(rows_of_traces, study),
)
