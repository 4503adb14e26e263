"""A study: what measures an artefact that is not rows of scenarios, each run some times.

Exact arithmetic, a model that is fitted to a grid of runs, a search through every small case. What a study finds is
columns, kept as they are; from them the artefact's `measure` makes its rows, whenever it is read. What takes minutes is
done in parts, each of which is kept as soon as it is there: interrupted, the same command goes on with the rest.
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

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

Tell = Callable[[int], object]
"""Told how much of a part is done."""
Find = Callable[[int, Tell], Mapping[str, Any]]
"""Does the part of that number and returns columns of equal length."""


@dataclass(frozen=True)
class Effort:
    """How a study is to be done, and where it keeps what is finished."""

    seed: int
    repetitions: int
    threads: int | None
    """None stands for all cores."""
    folder: Path
    """Holds the parts that are done. Studies that ask for the same share them."""
    fresh: bool = False
    """Whether what is kept there is to be done anew."""
    source: str = ""
    """The digest of what measures: see `Study.source`."""
    progress: Callable[[int, int], object] | None = None

    def sweep(self, design: Mapping[str, Any]) -> pa.Table:
        """The runs of a sweep, given as its file has it (docs/sweep.md) but for seed and repetitions, which are these.

        Raises BadInputError for a sweep that is refused, RuntimeError where a run failed.
        """
        from eifel.sweeps import Local, load, sweep

        plan = load({**design, "seed": self.seed, "repetitions": self.repetitions})
        place = self.folder / plan.title
        found = sweep(
            plan, out=place, executor=Local(self.threads), fresh=self._anew(place, plan), progress=self.progress
        )
        table = found.table()
        if table["error"].null_count < table.num_rows:
            failed = table.filter(table["error"].is_valid()).to_pylist()[0]
            raise RuntimeError(f"{failed['reproduce']}: {failed['error']}")
        return table

    def parts(self, title: str, definition: Mapping[str, Any], sizes: Sequence[int], find: Find) -> pa.Table:
        """One part after another of something else than runs, as one table.

        `sizes` says how much each part is, for the progress shown; what is kept under `title` of another `definition`,
        seed, number of repetitions, engine or source is done anew.
        """
        import pyarrow as pa

        from eifel.sweeps.folder import Folder, identity_of, sealed

        asked = {**definition, "seed": self.seed, "repetitions": self.repetitions, "source": self.source}
        plan = Parts(title, tuple(sizes), asked)
        folder = Folder(self.folder / title)
        folder.claim(plan, fresh=self._anew(folder.path, plan))
        there = folder.done(plan)
        before = sum(sizes[number] for number in there)
        self._tell(before, plan.runs)
        for number in range(plan.shards):
            if number not in there:
                columns = pa.table(dict(find(number, self._onwards(before, plan.runs))))
                folder.store(number, sealed(columns, identity_of(plan), number))
                before += sizes[number]
                self._tell(before, plan.runs)
        folder.settle()
        return folder.table()

    def _anew(self, place: Path, plan: Any) -> bool:
        from eifel.sweeps import Folder

        return self.fresh or not Folder(place).is_of(plan)

    def _onwards(self, before: int, total: int) -> Tell:
        return lambda done: self._tell(before + done, total)

    def _tell(self, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(done, total)


@dataclass(frozen=True)
class Study:
    """What an artefact is measured by in place of runs of its rows."""

    find: Callable[[Effort], Mapping[str, NDArray[Any]]]
    """Does it all and returns columns of equal length. What can be worked out from these belongs into the artefact's
    `measure`, which is never out of date; this is asked again only for another design.
    """
    design: Mapping[str, Any]
    """Whatever decides what comes of it, but for engine, seed and repetitions; in what JSON can hold. Readers of the
    report see it.
    """
    sources: tuple[ModuleType | Callable[..., Any], ...]
    """The modules and functions that turn runs into what is found: their text decides what comes of it as well."""

    @property
    def source(self) -> str:
        """The digest of their text."""
        return hashlib.sha256("\n".join(map(inspect.getsource, self.sources)).encode()).hexdigest()


@dataclass(frozen=True)
class Parts:
    """What is done part by part, as a folder of finished parts knows it."""

    title: str
    sizes: tuple[int, ...]
    asked: Mapping[str, Any]

    @property
    def cells(self) -> int:
        """How many parts there are."""
        return len(self.sizes)

    @property
    def shards(self) -> int:
        """Each part is a file."""
        return len(self.sizes)

    @property
    def runs(self) -> int:
        """How much there is to be done in all."""
        return sum(self.sizes)

    def definition(self) -> dict[str, Any]:
        """All that the results depend on, but for the engine."""
        return {"title": self.title, "sizes": list(self.sizes), **self.asked}


def described(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The design of a sweep of many cases as people read it: the first of them, and the digest of all."""
    first, cases = asked["case"][0], len(asked["case"])
    digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
    return {**asked, "case": [first, f"and {cases - 1} more like this"], "sha256": digest}
