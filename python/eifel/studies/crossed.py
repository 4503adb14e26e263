"""Every detector against the simulator's truth where two troubles meet in one path with delay spikes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from eifel.papers.artefact import Artefact, Claim, Column, Row, Setting, Studied
from eifel.papers.measured import Measured
from eifel.papers.study import Effort, Study
from eifel.statistics import Mean
from eifel.studies import crossed_situations, detector_runs, facts, judged, mix, watchers
from eifel.studies.crossed_situations import CROSSED, PAIRS

if TYPE_CHECKING:
    from eifel.runs import Runs

TITLE = "detectors.crossed"
COLUMNS = (
    Column("episodes", "Episodes", digits=0),
    Column("found_timeouts", "Needless timeouts: found %", digits=1),
    Column("found_fast_retransmits", "Needless fast retransmits: found %", digits=1),
    Column("mixed", "Mixed: called spurious though something was lost %", digits=1),
    Column("false", "Needed: called spurious %", digits=2),
    Column("false_positives", "Needed, called spurious", digits=0),
    Column("true_negatives", "Needed, called genuine", digits=0),
)
KEYS = tuple({"trouble": one, "with": other} for one, other in PAIRS)


def _find(effort: Effort) -> Mapping[str, Any]:
    return detector_runs.episodes(effort, TITLE, CROSSED)


def _measure(_artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    columns = {name: runs[name] for name in runs.columns}
    measured = []
    for place in range(len(CROSSED)):
        for code in range(len(detector_runs.DETECTORS)):
            mine = (columns["situation"] == place) & (columns["detector"] == code)
            means = facts.counts({name: values[mine] for name, values in columns.items()})
            measured.append({column.name: means[column.name] for column in COLUMNS if column.name in means})
    return measured


def total(measured: Measured, column: str, detector: str) -> float:
    """The sum of a column over all pairs."""
    return sum(row.means[column].mean for row in measured.rows if row.row.keys["detector"] == detector)


def found(measured: Measured, detector: str, one: str, other: str) -> float:
    """The share of the needless timeouts that a detector finds where two troubles meet, in percent."""
    return measured.mean("found_timeouts", detector=detector, trouble=one, **{"with": other})


ARTEFACT = Artefact(
    id=TITLE,
    title="Every detector where two troubles meet",
    source="eifel, docs/detectors.md",
    columns=COLUMNS,
    rows=tuple(Row({**keys, "detector": name}) for keys in KEYS for name in detector_runs.DETECTORS),
    method=Studied(
        Study(_find, detector_runs.design(CROSSED), (crossed_situations, detector_runs, judged, mix, watchers)),
        measure=_measure,
        long=True,
    ),
    fitted=(
        Setting("scenarios", "drawn from the seed", "docs/detectors.md says what each trouble draws", "chosen"),
        Setting("response", "none", "what was seen before a verdict is then what every sender would see", "chosen"),
    ),
    claims=(
        Claim(
            "the original's own timestamp never proves a retransmission spurious that was needed, whatever meets",
            lambda m: total(m, "false_positives", "eifel-timestamps") == 0,
        ),
        Claim(
            "where data and ACKs are lost, the second ACK finds spurious timeouts that the original's timestamp misses",
            lambda m: (
                found(m, "eifel-or-f-rto", "loss", "lost ACKs") > found(m, "eifel-timestamps", "loss", "lost ACKs")
            ),
        ),
    ),
)
