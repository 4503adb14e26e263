"""The measured values of an artefact, beside the published ones."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eifel.flows import flows_of
from eifel.papers.artefact import Artefact, Column, Row
from eifel.result import Result
from eifel.runs import Runs
from eifel.statistics import Mean, mean_interval


@dataclass(frozen=True)
class MeasuredRow:
    row: Row
    means: Mapping[str, Mean]

    def agrees(self, column: Column) -> bool | None:
        """Returns whether the measured mean agrees with the published value. None if nothing is published or judged.

        A published and judged value that was not measured does not agree.
        """
        published = self.row.published.get(column.name)
        found = self.means.get(column.name)
        return None if published is None else column.agrees(published, math.inf if found is None else found.mean)


@dataclass(frozen=True)
class Measured:
    """All rows of an artefact, measured, and the recorded run of each row for a picture of runs."""

    artefact: Artefact
    rows: Sequence[MeasuredRow]
    results: Sequence[Result]
    repetitions: int
    seed: int
    elapsed_s: float

    def __repr__(self) -> str:
        return f"<Measured {self.artefact.id}: {len(self.rows)} rows, {self.repetitions} repetitions, seed {self.seed}>"

    def _repr_html_(self) -> str:
        from eifel.report.comparison import claims_html, summary_html

        return summary_html(self) + claims_html(self)

    def row(self, **keys: Any) -> MeasuredRow:
        """Returns the only row with these keys. Raises LookupError if there is none, or more than one."""
        return self.rows[self._index(keys)]

    def mean(self, column: str, **keys: Any) -> float:
        return self.row(**keys).means[column].mean

    def result(self, **keys: Any) -> Result:
        """Returns the recorded run of the row with these keys; without keys, that of the first row."""
        return self.results[self._index(keys) if keys else 0]

    def _index(self, keys: Mapping[str, Any]) -> int:
        found = [i for i, row in enumerate(self.rows) if all(row.row.keys.get(k) == v for k, v in keys.items())]
        if len(found) != 1:
            raise LookupError(f"{self.artefact.id}: {len(found)} rows with {dict(keys)}, not one")
        return found[0]

    def claims(self) -> list[dict[str, Any]]:
        """Returns each claim with whether it holds, and the reason if it could not be checked."""
        judged: list[dict[str, Any]] = []
        for claim in self.artefact.claims:
            try:
                judged.append({"text": claim.text, "holds": bool(claim.check(self))})
            except (LookupError, ValueError, ZeroDivisionError) as error:
                judged.append({"text": claim.text, "holds": False, "reason": str(error)})
        return judged

    def json(self) -> dict[str, Any]:
        """Returns the artefact as one JSON object."""
        artefact = self.artefact
        return {
            "id": artefact.id,
            "title": artefact.title,
            "source": artefact.source,
            "columns": [column.name for column in artefact.columns],
            "rows": [self._row_json(row) for row in self.rows],
            "claims": self.claims(),
            "fitted": [setting.json() for setting in artefact.fitted],
            "known": list(artefact.known),
            "settings": [dict(row.row.scenario) for row in self.rows],
            "repetitions": self.repetitions,
            "seed": self.seed,
            "elapsed_s": round(self.elapsed_s, 3),
        }

    def _row_json(self, row: MeasuredRow) -> dict[str, Any]:
        judged = {column.name: row.agrees(column) for column in self.artefact.columns}
        shown: dict[str, Any] = {
            "keys": dict(row.row.keys),
            "published": dict(row.row.published),
            "measured": {name: mean.mean for name, mean in row.means.items()},
        }
        intervals = {name: mean.interval for name, mean in row.means.items() if mean.interval is not None}
        if intervals:
            shown["interval95"] = intervals
        shown["agrees"] = {name: verdict for name, verdict in judged.items() if verdict is not None}
        return shown


def means_of(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    """Returns the means of the columns for each row, over the repetitions of the measured flow."""
    measured = []
    for number, row in enumerate(artefact.rows):
        flows = [flow.name for flow in flows_of(row.scenario)]
        rows = runs.where(scenario=number, flow=flows.index(artefact.flow))
        measured.append({column.name: mean_interval(rows[column.number] * column.scale) for column in artefact.columns})
    return measured
