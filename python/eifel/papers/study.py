"""A study measures an artefact that does not consist of repeated scenarios.

It may use exact arithmetic, a model fitted to a grid of runs, or a search through every small case.
Its results are columns, which are stored. The artefact's `measure` computes the rows from them at
every read. A long study has parts, each stored when finished. After an interruption, the same
command resumes.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from eifel.papers.statements import statements

if TYPE_CHECKING:
    import pyarrow as pa

Progress = Callable[[int], object]
"""Reports the finished amount of a part."""
Columns = dict[str, NDArray[Any]]
Find = Callable[[int, Progress], Mapping[str, Any]]
"""Runs the part with this number, and returns columns of equal length."""


@dataclass(frozen=True)
class Effort:
    """The settings of a study's run, and the folder for finished parts."""

    seed: int
    repetitions: int
    threads: int | None
    """None uses all cores."""
    folder: Path
    """The folder for finished parts. Studies with equal parts share them."""
    fresh: bool = False
    """Whether to run stored parts again."""
    source: str = ""
    """The digest of the measuring code; see `Study.source`."""
    progress: Callable[[int, int], object] | None = None

    def sweep(self, design: Mapping[str, Any]) -> pa.Table:
        """Runs a sweep in its file's form (docs/reference/sweep.md), with this seed and these repetitions.

        Raises BadInputError for a refused sweep, and RunError if a run failed.
        """
        from eifel.errors import RunError
        from eifel.sweeps import Local, load, sweep

        plan = load({**design, "seed": self.seed, "repetitions": self.repetitions})
        place = self.folder / plan.title
        found = sweep(
            plan, out=place, executor=Local(self.threads), fresh=self._anew(place, plan), progress=self.progress
        )
        table = found.table()
        if table["error"].null_count < table.num_rows:
            failed = table.filter(table["error"].is_valid()).to_pylist()[0]
            raise RunError(f"{failed['reproduce']}: {failed['error']}")
        return table

    def parts(self, title: str, definition: Mapping[str, Any], sizes: Sequence[int], find: Find) -> Columns:
        """Runs parts of something other than scenarios, one after another. Returns the columns of all.

        `sizes` is the amount of work of each part, for the progress. Stored parts under `title` are
        run again if `definition`, seed, repetitions, engine or source differ.
        """
        import pyarrow as pa

        from eifel.sweeps.folder import Folder, identity_of, sealed

        asked = {**definition, "seed": self.seed, "repetitions": self.repetitions, "source": self.source}
        plan = Parts(title, tuple(sizes), asked)
        folder = Folder(self.folder / title)
        folder.claim(plan, fresh=self._anew(folder.path, plan))
        there = folder.done(plan)
        before = sum(sizes[number] for number in there)
        self._report(before, plan.runs)
        for number in range(plan.shards):
            if number not in there:
                columns = pa.table(dict(find(number, self._onwards(before, plan.runs))))
                folder.store(number, sealed(columns, identity_of(plan), number))
                before += sizes[number]
                self._report(before, plan.runs)
        folder.settle()
        table = folder.table()
        return {name: _values(table[name]) for name in table.column_names}

    def _anew(self, place: Path, plan: Any) -> bool:
        from eifel.sweeps import Folder

        return self.fresh or not Folder(place).is_of(plan)

    def _onwards(self, before: int, total: int) -> Progress:
        return lambda done: self._report(before + done, total)

    def _report(self, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(done, total)


def _values(column: pa.ChunkedArray) -> NDArray[Any]:
    """Returns a column's values; words as an array of characters, which compares as a whole."""
    import numpy as np

    return np.asarray(column.to_pylist() if str(column.type) == "string" else column.to_numpy())


@dataclass(frozen=True)
class Study:
    """The measurement of an artefact that does not use runs of its rows."""

    find: Callable[[Effort], Mapping[str, NDArray[Any]]]
    """Runs the study, and returns columns of equal length. Derived numbers belong into the
    artefact's `measure`, which runs at every read. `find` runs again only if the design changes.
    """
    design: Mapping[str, Any]
    """Everything that decides the results, except engine, seed and repetitions, in JSON types.
    Readers of the report see it.
    """
    sources: tuple[ModuleType | Callable[..., Any], ...]
    """The modules and functions that turn runs into results. Their statements decide the results too."""

    @property
    def source(self) -> str:
        """The digest of the statements in the source text."""
        texts = (statements(inspect.getsource(source)) for source in self.sources)
        return hashlib.sha256("\n".join(texts).encode()).hexdigest()


@dataclass(frozen=True)
class Parts:
    """The plan of a study's parts, for the folder of finished parts."""

    title: str
    sizes: tuple[int, ...]
    asked: Mapping[str, Any]

    @property
    def cells(self) -> int:
        return len(self.sizes)

    @property
    def shards(self) -> int:
        """The number of files, one per part."""
        return len(self.sizes)

    @property
    def runs(self) -> int:
        """The total amount of work."""
        return sum(self.sizes)

    def definition(self) -> dict[str, Any]:
        """Returns everything that the results depend on, except the engine."""
        return {"title": self.title, "sizes": list(self.sizes), **self.asked}


def described(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the design of a sweep of many cases for people: the first case, and the digest of all."""
    first, cases = asked["case"][0], len(asked["case"])
    digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
    return {**asked, "case": [first, f"and {cases - 1} more like this"], "sha256": digest}
