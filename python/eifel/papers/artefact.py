"""An artefact: one table or figure of a paper, declared as data. How it is run is not its business."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from eifel.papers.measured import Measured
    from eifel.papers.study import Study
    from eifel.result import Result
    from eifel.runs import Runs
    from eifel.statistics import Mean

Key = str | int | float | bool


@dataclass(frozen=True)
class Column:
    """A measured quantity: a number of a flow's summary, averaged over the repetitions."""

    name: str
    """Its name in the artefact, as in the paper's table: `spurious_rtos`."""
    title: str
    """What a reader sees, with the unit."""
    summary: str = ""
    """The number of the summary, where it has another name."""
    scale: float = 1.0
    """What that number is multiplied by, for another unit."""
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
        """Whether the two agree by this column's tolerances; None if it has none."""
        if self.relative is None and self.absolute is None:
            return None
        distance = abs(measured - published)
        return distance <= max((self.relative or 0) * abs(published), self.absolute or 0)


@dataclass(frozen=True)
class Row:
    """One setting of a table, or one run of a figure."""

    keys: Mapping[str, Key]
    """What tells it from the other rows: `{"recovery": "fack", "eifel": True}`."""
    scenario: Mapping[str, Any] = field(default_factory=dict)
    """What is run; nothing, where a study measures the artefact."""
    published: Mapping[str, float] = field(default_factory=dict)
    """The printed values, by the column's name."""

    @property
    def name(self) -> str:
        """Its keys as people read them: `recovery fack, eifel on`."""
        return ", ".join(f"{key.replace('_', ' ')} {word(value)}" for key, value in self.keys.items())


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper that the measured values bear out, or do not."""

    text: str
    check: Callable[[Measured], bool]


@dataclass(frozen=True)
class Setting:
    """A value that the paper leaves open, so that it had to come from somewhere else."""

    name: str
    value: str
    reason: str
    kind: Literal["fitted", "chosen"] = "fitted"
    """Fitted so that `rows` come out as published; or chosen, because the paper gives nothing to fit it to."""
    rows: tuple[str, ...] = ()
    """The rows it was fitted to, which it therefore cannot confirm: `responding.table1: eifel off`, or a whole table by
    its id, or in words.
    """

    def json(self) -> dict[str, Any]:
        """The setting as one JSON object."""
        return {**vars(self), "rows": list(self.rows)}


Draw = Callable[["Measured"], "Figure"]
"""Draws an artefact with matplotlib."""
Measure = Callable[["Artefact", "Runs"], "list[dict[str, Mean]]"]
"""Makes the numbers of each row from what the runs, or a study, gave."""


@dataclass(frozen=True)
class Repeated:
    """A table of means: the scenario of each row is run some times."""

    repetitions: int = 1
    measure: Measure | None = None
    """Takes the place of the means of the columns, for the artefact that needs something else."""
    flow: str = "main"
    """The flow that is measured."""
    long: bool = False
    """Whether it takes minutes, as for a study."""
    draw: Draw | None = None
    """Draws the means, where the paper has a picture."""


@dataclass(frozen=True)
class Recorded:
    """A figure of recorded runs: the scenario of each row is run once, and all of it is kept."""

    draw: Draw
    chart: bool = True
    """Whether a chart of the first run is what the figure shows. If not, the report has the drawing in its place."""
    flow: str = "main"
    """The flow that is measured."""
    wire: Callable[[Sequence[Row]], list[Result]] | None = None
    """Runs the rows on a real network; without it they are simulated."""


@dataclass(frozen=True)
class Studied:
    """A table, figure or map of what a study finds, where rows of scenarios are not enough."""

    study: Study
    measure: Measure
    repetitions: int = 1
    long: bool = False
    """Whether it takes minutes: it is measured when it is asked for by name, and left out of all there is otherwise."""
    draw: Draw | None = None
    live: bool = False
    """Whether it is measured on a real network."""
    show: Callable[[Measured], str] | None = None
    """What the report has in place of the table: HTML that its script brings to life."""


@dataclass(frozen=True)
class Links:
    """How an artefact is measured over recorded links, given as files."""

    rows: Callable[[Sequence[Path]], tuple[Row, ...]]
    study: Callable[[Sequence[Path]], Study] | None = None
    """The study over these links as well, for an artefact that a study measures."""


@dataclass(frozen=True)
class Artefact:
    """One table or figure. Its file declares one of these as `ARTEFACT`."""

    id: str
    """Paper and number: `responding.table1`."""
    title: str
    source: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...] = ()
    method: Repeated | Recorded | Studied = Repeated()
    seed: int = 1
    claims: tuple[Claim, ...] = ()
    fitted: tuple[Setting, ...] = ()
    """What the paper leaves open: fitted, or chosen."""
    known: tuple[str, ...] = ()
    """What is known of why values or claims are not as published, with the numbers of what was tried."""
    links: Links | None = None
    inputs: tuple[str, ...] = ()
    """The digests of the recorded links given."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the keys that its rows have."""
        return tuple(self.rows[0].keys) if self.rows else ()

    @property
    def draw(self) -> Draw | None:
        """What draws its picture; None if there is no picture of it."""
        return self.method.draw

    @property
    def flow(self) -> str:
        """The flow that is measured in the runs of its rows."""
        return "main" if isinstance(self.method, Studied) else self.method.flow

    @property
    def repetitions(self) -> int:
        """How often each of its runs is repeated unless somebody says otherwise."""
        return 1 if isinstance(self.method, Recorded) else self.method.repetitions

    @property
    def study(self) -> Study | None:
        """The study that measures it, if one does."""
        return self.method.study if isinstance(self.method, Studied) else None

    @property
    def is_long(self) -> bool:
        """Whether it takes minutes, or real time on a network."""
        return self.is_live or (not isinstance(self.method, Recorded) and self.method.long)

    @property
    def is_live(self) -> bool:
        """Whether it is measured on a real network, which needs rights, and differs a little each time."""
        if isinstance(self.method, Recorded):
            return self.method.wire is not None
        return isinstance(self.method, Studied) and self.method.live

    @property
    def is_recorded(self) -> bool:
        """Whether it is a picture of recorded runs, one a row, rather than means of repeated ones."""
        return isinstance(self.method, Recorded)

    @property
    def needs_traces(self) -> bool:
        """Whether it can only be run over recorded links that somebody gives."""
        return self.links is not None and not self.rows

    def begins_group(self, number: int) -> bool:
        """Whether a gap above this row helps: its first key is another, and there are many rows."""
        first = self.keys[0]
        return len(self.keys) > 2 and number > 0 and self.rows[number].keys[first] != self.rows[number - 1].keys[first]

    def is_calibration(self, row: Row) -> bool:
        """Whether a setting was fitted to this row, so that its agreement confirms nothing."""
        if not row.published:
            return False
        parts = {*row.name.split(", "), *map(str, row.keys.values())}
        for fitted_to in (name for setting in self.fitted for name in setting.rows):
            artefact, _, keys = fitted_to.partition(": ")
            if artefact == self.id and (not keys or set(keys.split(", ")) <= parts):
                return True
        return False

    def with_traces(self, traces: Sequence[Path]) -> Artefact:
        """The artefact over these recorded links, whatever their order. Raises OSError if one cannot be read."""
        if self.links is None:
            return self
        traces = sorted(dict.fromkeys(traces), key=lambda trace: (trace.name, str(trace)))
        digests = tuple(hashlib.sha256(trace.read_bytes()).hexdigest() for trace in traces)
        method = self.method
        if isinstance(method, Studied) and self.links.study is not None:
            method = replace(method, study=self.links.study(traces))
        return replace(self, rows=self.links.rows(traces), method=method, inputs=digests)

    def definition(self) -> str:
        """The digest of everything that decides what its runs give, but for the engine."""
        rows = [[dict(r.keys), dict(r.scenario)] for r in self.rows]
        runs: list[Any] = [self.id, self.flow, self.is_recorded, self.inputs, rows]
        if self.study is not None:
            # Its rows are made from what is stored; that they are others now does not make it another study.
            runs = [self.id, self.study.design, self.study.source, self.inputs]
        return hashlib.sha256(json.dumps(runs, sort_keys=True).encode()).hexdigest()


def word(value: Key) -> str:
    """A key's value as people read it."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
