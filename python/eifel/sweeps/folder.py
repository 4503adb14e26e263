"""A sweep's folder: a manifest that says what it is, and a Parquet file a shard, each whole or not there."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from eifel.errors import BadInputError
from eifel.store import engine_build

if TYPE_CHECKING:
    import pyarrow as pa

MANIFEST = "sweep.json"


class Plan(Protocol):
    """What is done shard by shard: a sweep's design, for one."""

    @property
    def title(self) -> str:
        """What it is called."""
        ...

    @property
    def cells(self) -> int:
        """How many different things it does."""
        ...

    @property
    def runs(self) -> int:
        """How much there is to be done."""
        ...

    @property
    def shards(self) -> int:
        """In how many files."""
        ...

    def definition(self) -> dict[str, Any]:
        """All that the results depend on, but for the engine."""
        ...


class Folder:
    """Where a sweep's results are kept."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def claim(self, design: Plan, *, fresh: bool = False) -> None:
        """Makes it the folder of this sweep on this engine; what is stored of the same stays.

        Raises BadInputError if it holds another one and is not to begin afresh, OSError if it cannot be written to.
        """
        manifest = _manifest(design)
        self.path.mkdir(parents=True, exist_ok=True)
        known = self.manifest()
        if known is not None and known.get("identity") != manifest["identity"] and not fresh:
            other = "this sweep by another engine" if known.get("engine") != manifest["engine"] else "another sweep"
            raise BadInputError(
                f"{self.path}: holds {other} ({known.get('title')}, engine {known.get('engine')});"
                " take another --out, or --fresh to begin anew"
            )
        if fresh:
            for shard in self.path.glob("*.parquet"):
                shard.unlink()
        self._write(MANIFEST, (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode())

    def is_of(self, design: Plan) -> bool:
        """Whether it is the folder of this very sweep on this engine, with whatever is finished of it."""
        try:
            known = self.manifest()
        except BadInputError:
            return False
        return known is not None and known.get("identity") == _manifest(design)["identity"]

    def manifest(self) -> dict[str, Any] | None:
        """What the folder holds; `None` if nobody has claimed it."""
        try:
            return dict(json.loads((self.path / MANIFEST).read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise BadInputError(f"{self.path / MANIFEST}: {error}") from None

    def done(self, design: Plan) -> set[int]:
        """The shards that are there and can be read."""
        import pyarrow.parquet as pq

        found = set()
        for number in range(design.shards):
            path = self.shard(number)
            if path.is_file():
                try:
                    pq.read_metadata(path)
                except (OSError, ValueError):
                    continue
                found.add(number)
        return found

    def store(self, number: int, content: bytes) -> None:
        """Puts a shard in its place."""
        self._write(self.shard(number).name, content)

    def shard(self, number: int) -> Path:
        """The file of a shard."""
        return self.path / f"runs-{number:06}.parquet"

    def table(self) -> pa.Table:
        """All runs that are there, a row a flow of a run. Raises BadInputError if the folder holds no sweep."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        manifest = self.manifest()
        if manifest is None:
            raise BadInputError(f"{self.path}: no sweep here (there is no {MANIFEST})")
        tables = []
        for path in sorted(self.path.glob("runs-*.parquet")):
            try:
                # As a file: a folder named like key=value would be taken for a partition.
                tables.append(pq.ParquetFile(path).read())
            except (OSError, pa.ArrowInvalid) as error:
                raise BadInputError(f"{path}: {error}; `eifel sweep` makes it again") from None
        if not tables:
            raise BadInputError(
                f"{self.path}: nothing of {manifest['title']} is there yet; `eifel sweep` goes on with it"
            )
        # A shard in which every run failed has no numbers.
        return pa.concat_tables(tables, promote_options="default")

    def _write(self, name: str, content: bytes) -> None:
        partial = self.path / f".{name}.partial-{os.getpid()}"
        try:
            partial.write_bytes(content)
            partial.replace(self.path / name)
        finally:
            partial.unlink(missing_ok=True)


def load_sweep(folder: str | Path) -> pa.Table:
    """The runs of a sweep as one Arrow table: what was set, and each number of the summary, a row a flow of a run.

    Raises BadInputError if the folder holds no sweep.
    """
    return Folder(folder).table()


def _manifest(design: Plan) -> dict[str, Any]:
    definition = design.definition()
    engine = engine_build()
    identity = hashlib.sha256(json.dumps([engine, definition], sort_keys=True).encode()).hexdigest()
    sizes = {"cells": design.cells, "runs": design.runs, "shards": design.shards}
    return {"title": design.title, "identity": identity, "engine": engine, **sizes, "design": definition}
