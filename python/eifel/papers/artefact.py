"""An artefact: one table or figure of a paper, declared as data, and its measured values beside the published ones."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from eifel.flows import flows_of
from eifel.statistics import Mean, mean_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from eifel.papers.study import Study
    from eifel.result import Result
    from eifel.runs import Runs

Key = str | int | float | bool


@dataclass(frozen=True)
class Column:
    """A measured quantity: a number of a flow's summary, averaged over the repetitions."""

    name: str
    """The name in the artefact, as in the paper's table: `spurious_rtos`."""
    title: str
    """The displayed name, with the unit."""
    summary: str = ""
    """The number of the summary, if its name differs."""
    scale: float = 1.0
    """The factor that converts the number to another unit."""
    digits: int = 2
    relative: float | None = None
    """A measured value within this share of the published one agrees with it..."""
    absolute: float | None = None
    """...and so does one within this distance. With neither, the column is not judged."""

    @property
    def number(self) -> str:
        """The name of the number in a flow's summary."""
        return self.summary or self.name

    def agrees(self, published: float, measured: float) -> bool | None:
        """Returns whether the values agree by this column's tolerances; None if it has none."""
        if self.relative is None and self.absolute is None:
            return None
        distance = abs(measured - published)
        return distance <= max((self.relative or 0) * abs(published), self.absolute or 0)


def counts(*names: str) -> tuple[Column, ...]:
    """Returns columns of whole numbers of the summary, titled by their names: `segments_sent` is "Segments sent"."""
    return tuple(Column(name, name.replace("_", " ").capitalize(), digits=0) for name in names)


@dataclass(frozen=True)
class Row:
    """One setting of a table, or one run of a figure."""

    keys: Mapping[str, Key]
    """The keys that distinguish this row: `{"recovery": "fack", "eifel": True}`."""
    scenario: Mapping[str, Any] = field(default_factory=dict)
    """The scenario of the runs; empty if a study measures the artefact."""
    published: Mapping[str, float] = field(default_factory=dict)
    """The printed values, by the column's name."""

    @property
    def name(self) -> str:
        """Its keys in readable form: `recovery fack, eifel on`."""
        return ", ".join(f"{key.replace('_', ' ')} {word(value)}" for key, value in self.keys.items())


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and the check whether the measured values confirm it."""

    text: str
    check: Callable[[Measured], bool]


@dataclass(frozen=True)
class Setting:
    """A value that the paper leaves open, and its origin."""

    name: str
    value: str
    reason: str
    rows: tuple[str, ...] = ()
    """The rows to which the value was fitted, so that they cannot confirm it:
    `responding.table1: eifel off`, a table's id, or words.
    """

    @property
    def kind(self) -> Literal["fitted", "chosen"]:
        """`fitted` so that `rows` come out as published, or `chosen` because the paper offers nothing to fit it to."""
        return "fitted" if self.rows else "chosen"

    def json(self) -> dict[str, Any]:
        return {"name": self.name, "value": self.value, "reason": self.reason, "kind": self.kind, "rows": [*self.rows]}


Draw = Callable[["Measured"], "Figure"]
"""Draws an artefact with matplotlib."""
Measure = Callable[["Artefact", "Runs"], "list[dict[str, Mean]]"]
"""Computes the numbers of each row from the results of runs or a study."""


@dataclass(frozen=True)
class Repeated:
    """A table of means: the scenario of each row runs several times."""

    repetitions: int = 1
    measure: Measure | None = None
    """Replaces the means of the columns for an artefact that needs other numbers."""
    flow: str = "main"
    """The measured flow."""
    long: bool = False
    """Whether the measurement takes minutes; see `Studied.long`."""
    draw: Draw | None = None
    """Draws the means if the paper has a picture."""


@dataclass(frozen=True)
class Recorded:
    """A figure of recorded runs: the scenario of each row runs once, and its whole record is kept."""

    draw: Draw
    chart: bool = True
    """Whether a chart of the first run shows the figure. If not, the report contains the drawing instead."""
    flow: str = "main"
    """The measured flow."""
    wire: Callable[[Sequence[Row]], list[Result]] | None = None
    """Runs the rows on a real network. None means that they are simulated."""


@dataclass(frozen=True)
class Studied:
    """A table, figure or map from a study, where rows of scenarios are insufficient."""

    study: Study
    measure: Measure
    repetitions: int = 1
    long: bool = False
    """Whether the measurement takes minutes. Such an artefact is measured only when named."""
    draw: Draw | None = None
    live: bool = False
    """Whether the measurement uses a real network."""
    show: Callable[[Measured], str] | None = None
    """Returns the report's replacement of the table: HTML that its script makes interactive."""


@dataclass(frozen=True)
class Links:
    """The measurement of an artefact over recorded links, given as files."""

    rows: Callable[[Sequence[Path]], tuple[Row, ...]]
    study: Callable[[Sequence[Path]], Study] | None = None
    """Makes the study over these links, if a study measures the artefact."""


@dataclass(frozen=True)
class Artefact:
    """One table or figure, declared at the top level of a module."""

    id: str
    """The paper and the number: `responding.table1`."""
    title: str
    source: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...] = ()
    method: Repeated | Recorded | Studied = Repeated()
    seed: int = 1
    claims: tuple[Claim, ...] = ()
    fitted: tuple[Setting, ...] = ()
    """The settings that the paper leaves open, fitted or chosen."""
    known: tuple[str, ...] = ()
    """The known reasons why values or claims differ from the published ones, with the results of trials."""
    links: Links | None = None
    inputs: tuple[str, ...] = ()
    """The digests of the given recorded links."""

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(self.rows[0].keys) if self.rows else ()

    @property
    def draw(self) -> Draw | None:
        """The function that draws its picture; None without a picture."""
        return self.method.draw

    @property
    def flow(self) -> str:
        """The flow measured in the runs of its rows."""
        return "main" if isinstance(self.method, Studied) else self.method.flow

    @property
    def repetitions(self) -> int:
        return 1 if isinstance(self.method, Recorded) else self.method.repetitions

    @property
    def study(self) -> Study | None:
        """The study that measures it; None without a study."""
        return self.method.study if isinstance(self.method, Studied) else None

    @property
    def is_long(self) -> bool:
        """Whether the measurement takes minutes, or real time on a network."""
        return self.is_live or (not isinstance(self.method, Recorded) and self.method.long)

    @property
    def is_live(self) -> bool:
        """Whether the measurement uses a real network. It then needs rights, and varies slightly."""
        if isinstance(self.method, Recorded):
            return self.method.wire is not None
        return isinstance(self.method, Studied) and self.method.live

    @property
    def is_recorded(self) -> bool:
        """Whether it is a picture of recorded runs, one per row, and not means of repeated runs."""
        return isinstance(self.method, Recorded)

    @property
    def needs_traces(self) -> bool:
        """Whether it needs recorded links that the user provides."""
        return self.links is not None and not self.rows

    def begins_group(self, number: int) -> bool:
        """Returns whether to leave a gap above this row: its first key changes, and there are many rows."""
        first = self.keys[0]
        return len(self.keys) > 2 and number > 0 and self.rows[number].keys[first] != self.rows[number - 1].keys[first]

    def is_calibration(self, row: Row) -> bool:
        """Returns whether a setting was fitted to this row, so that its agreement confirms nothing."""
        if not row.published:
            return False
        parts = {*row.name.split(", "), *map(str, row.keys.values())}
        for fitted_to in (name for setting in self.fitted for name in setting.rows):
            artefact, _, keys = fitted_to.partition(": ")
            if artefact == self.id and (not keys or set(keys.split(", ")) <= parts):
                return True
        return False

    def with_traces(self, traces: Sequence[Path]) -> Artefact:
        """Returns the artefact over these recorded links, in any order. Raises OSError if one cannot be read."""
        if self.links is None:
            return self
        traces = sorted(dict.fromkeys(traces), key=lambda trace: (trace.name, str(trace)))
        digests = tuple(hashlib.sha256(trace.read_bytes()).hexdigest() for trace in traces)
        method = self.method
        if isinstance(method, Studied) and self.links.study is not None:
            method = replace(method, study=self.links.study(traces))
        return replace(self, rows=self.links.rows(traces), method=method, inputs=digests)

    def definition(self) -> str:
        """Returns the digest of everything that decides the results of its runs, except the engine."""
        rows = [[dict(r.keys), dict(r.scenario)] for r in self.rows]
        runs: list[Any] = [self.id, self.flow, self.is_recorded, self.inputs, rows]
        if self.study is not None:
            # Its rows are computed from stored results. Changed rows do not make it another study.
            runs = [self.id, self.study.design, self.study.source, self.inputs]
        return hashlib.sha256(json.dumps(runs, sort_keys=True).encode()).hexdigest()


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


def cited(figure: str) -> str:
    """Returns a figure's place in its paper: `figure 10 (a)` for `10a`."""
    number = figure.rstrip("abcdef")
    part = figure.removeprefix(number)
    return f"figure {number} ({part})" if part else f"figure {number}"


def word(value: Key) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
