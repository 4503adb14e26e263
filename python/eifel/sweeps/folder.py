"""A sweep's folder: a manifest that describes it, a Parquet file per shard, and the checksum of each.

Changed or damaged files never become results. The manifest has its own checksum, and
`shards.sha256` has that of each shard (`sha256sum --check shards.sha256` verifies them too). Each
shard contains its number and the identity of its sweep.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from eifel import files
from eifel.errors import BadInputError
from eifel.store import engine_build

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

MANIFEST = "sweep.json"
SUMS = "shards.sha256"
SHOWN = ("time_s", "goodput_bps", "retransmissions", "spurious_retransmissions")
"""The numbers whose means a notebook shows."""
MOST_SHOWN = 40
"""The most rows in a notebook."""
_SUM = re.compile(r"^([0-9a-f]{64})  (runs-\d{6,}\.parquet)$", re.MULTILINE)
_IDENTITY, _NUMBER = b"eifel.sweep", b"eifel.shard"


class Plan(Protocol):
    """A plan of work that is done shard by shard, such as a sweep's design."""

    @property
    def title(self) -> str: ...

    @property
    def cells(self) -> int: ...

    @property
    def runs(self) -> int: ...

    @property
    def shards(self) -> int: ...

    def definition(self) -> dict[str, Any]:
        """Returns everything that the results depend on, except the engine."""
        ...


class Folder:
    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def claim(self, design: Plan, *, fresh: bool = False) -> None:
        """Claims the folder for this sweep on this engine. Stored shards of the same sweep stay.

        Raises BadInputError if it holds another sweep (unless `fresh`), and OSError if it cannot be
        written.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        files.remove_leftovers(self.path)
        if fresh:
            for file in (*self.path.glob("*.parquet"), self.path / SUMS):
                file.unlink(missing_ok=True)
        else:
            self._refuse_another(design)
        there = [self.shard(number) for number in range(design.shards)]
        for file in self.path.glob("runs-*.parquet"):
            if file not in there:
                file.unlink()
        files.put(self.path / MANIFEST, _json(_manifest(design)))

    def _refuse_another(self, design: Plan) -> None:
        if self.is_of(design):
            return
        try:
            known = self.manifest()
        except BadInputError as error:
            raise BadInputError(f"{error}, and its shards are not of this sweep; --fresh begins anew") from None
        if known is not None:
            other = "another sweep" if known["engine"] == engine_build() else "this sweep by another engine"
            raise BadInputError(
                f"{self.path}: holds {other} ({known['title']}, engine {known['engine']});"
                " take another --out, or --fresh to begin anew"
            )

    def is_of(self, design: Plan) -> bool:
        """Returns whether this is the folder of exactly this sweep on this engine, finished or not."""
        identity = identity_of(design)
        try:
            known = self.manifest()
        except BadInputError:
            # Each shard names its sweep, so a damaged manifest loses no measurement.
            shards = [_identity_in(file) for file in self.path.glob("runs-*.parquet")]
            return bool(shards) and set(shards) <= {identity, None}
        return known is not None and known["identity"] == identity

    def manifest(self) -> dict[str, Any] | None:
        """Returns the manifest; None if the folder is unclaimed. Raises BadInputError if the manifest was changed."""
        file = self.path / MANIFEST
        try:
            found = json.loads(file.read_bytes())
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise BadInputError(f"{file}: damaged: {error}") from None
        if not isinstance(found, dict) or found.pop("sha256", None) != _digest(found):
            raise BadInputError(f"{file}: damaged: it does not hold what its checksum says")
        return found

    def done(self, design: Plan) -> set[int]:
        """Returns the undamaged shards, and drops the checksums of all others."""
        sums, identity = self._sums(), identity_of(design)
        found = {}
        for number in range(design.shards):
            file = self.shard(number)
            if file.is_file() and sums.get(file.name) == files.digest(file) and _identity_in(file) == identity:
                found[number] = sums[file.name]
        self._keep({self.shard(number).name: digest for number, digest in found.items()})
        return set(found)

    def missing(self, design: Plan) -> list[int]:
        """Returns the shards that are still to be done."""
        there = self.done(design)
        return [number for number in range(design.shards) if number not in there]

    def store(self, number: int, content: bytes) -> None:
        """Stores a shard, and then its checksum."""
        file = self.shard(number)
        files.put(file, content)
        with (self.path / SUMS).open("a", encoding="utf-8") as sums:
            sums.write(_line(hashlib.sha256(content).hexdigest(), file.name))
            sums.flush()
            os.fsync(sums.fileno())

    def settle(self) -> None:
        """Sorts the checksums by shard, whichever was finished first."""
        self._keep(self._sums())

    def shard(self, number: int) -> Path:
        return self.path / f"runs-{number:06}.parquet"

    def table(self) -> pa.Table:
        """Returns all stored rows: of a sweep, one per flow of a run.

        Raises BadInputError if the folder holds no sweep, or a changed file.
        """
        import pyarrow as pa

        # A shard in which every run failed has no columns of numbers.
        return pa.concat_tables(self.tables(), promote_options="default")

    def tables(self) -> Iterator[pa.Table]:
        """Yields the rows of one shard after another. Raises BadInputError as `table` does."""
        manifest = self.manifest()
        if manifest is None:
            raise BadInputError(f"{self.path}: no sweep here (there is no {MANIFEST})")
        sums = self._sums()
        there = sorted(self.path.glob("runs-*.parquet"))
        if not there:
            raise BadInputError(
                f"{self.path}: nothing of {manifest['title']} is there yet; `eifel sweep` goes on with it"
            )
        for file in there:
            content = file.read_bytes()
            if sums.get(file.name) != hashlib.sha256(content).hexdigest():
                raise BadInputError(f"{file}: not as it was written; `eifel sweep` makes it again")
            yield _read(content, manifest["identity"], file)

    def _repr_html_(self) -> str:
        """Returns a notebook's view: the number of runs, and the mean of some numbers per cell and flow."""
        try:
            table = self.table()
        except BadInputError as error:
            return f"<p>{escape(str(error))}</p>"
        if not {"flow_name", *SHOWN} <= set(table.column_names):
            return f"<p>{table.num_rows} rows in {escape(str(self.path))}</p>"
        names = table.column_names
        keys = [name for name in names[: names.index("repetition")] if name != "cell"]
        groups = table.group_by(["cell", *keys, "flow_name"], use_threads=False)
        means = groups.aggregate([*((name, "mean") for name in SHOWN), ("repetition", "count_distinct")])
        head = [*keys, "flow", "runs", *SHOWN]
        rows = []
        for row in means.slice(0, MOST_SHOWN).to_pylist():
            numbers = [row[f"{name}_mean"] for name in SHOWN]
            cells = [*(row[key] for key in keys), row["flow_name"], row["repetition_count_distinct"]]
            cells += ["" if mean is None else f"{mean:.6g}" for mean in numbers]
            rows.append("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in cells) + "</tr>")
        more = means.num_rows - MOST_SHOWN
        left = f"<p>and {more} rows more: table() has them all</p>" if more > 0 else ""
        titles = "".join(f"<th>{escape(name)}</th>" for name in head)
        return f"<table><thead><tr>{titles}</tr></thead><tbody>{''.join(rows)}</tbody></table>{left}"

    def _keep(self, sums: Mapping[str, str]) -> None:
        files.put(self.path / SUMS, "".join(_line(sums[name], name) for name in sorted(sums)).encode())

    def _sums(self) -> dict[str, str]:
        try:
            written = (self.path / SUMS).read_text(encoding="ascii", errors="replace")
        except FileNotFoundError:
            return {}
        return {name: digest for digest, name in _SUM.findall(written)}


def load_sweep(folder: str | Path) -> pa.Table:
    """Returns the runs of a sweep as one Arrow table: swept keys and summary numbers, a row per flow of a run.

    Example: `eifel.load_sweep("results").group_by("case").aggregate([("time_s", "mean")])`.

    Raises BadInputError if the folder holds no sweep, or a changed file.
    """
    return Folder(folder).table()


def identity_of(design: Plan) -> str:
    """Returns the digest of everything that a sweep's results depend on, including the engine."""
    return _digest([engine_build(), design.definition()])


def sealed(table: pa.Table, identity: str, number: int) -> bytes:
    """Returns a Parquet file that contains its shard's number and the identity of its sweep."""
    out = io.BytesIO()
    with _writer(out, table.schema, identity, number) as writer:
        writer.write_table(table)
    return out.getvalue()


@contextmanager
def sealing(
    out: io.BytesIO, schema: pa.Schema, identity: str, number: int
) -> Iterator[Callable[[Sequence[Mapping[str, Any]]], None]]:
    """Writes what `sealed` returns part by part: yields a function that writes some rows."""
    import pyarrow as pa

    with _writer(out, schema, identity, number) as writer:
        yield lambda rows: writer.write_table(pa.Table.from_pylist(list(rows), schema=writer.schema))


def _writer(out: io.BytesIO, schema: pa.Schema, identity: str, number: int) -> pq.ParquetWriter:
    import pyarrow.parquet as pq

    marks = {_IDENTITY: identity.encode(), _NUMBER: str(number).encode()}
    return pq.ParquetWriter(out, schema.with_metadata(marks), compression="zstd")


def _read(content: bytes, identity: str, file: Path) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    # Read as a file: a folder named like key=value would be taken for a partition.
    table = pq.ParquetFile(pa.BufferReader(content)).read()
    if _identity_of(table.schema, file) != identity:
        raise BadInputError(f"{file}: of another sweep, or another shard; `eifel sweep` makes it again")
    return table.replace_schema_metadata(None)


def _identity_in(file: Path) -> str | None:
    """Returns the identity of the sweep of a shard's file. None if it cannot be read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return _identity_of(pq.ParquetFile(file).schema_arrow, file)
    except (OSError, ValueError, pa.ArrowException):
        return None


def _identity_of(schema: pa.Schema, file: Path) -> str | None:
    marks = schema.metadata or {}
    if file.stem != f"runs-{int(marks.get(_NUMBER, -1)):06}":
        return None
    return str(marks.get(_IDENTITY, b"").decode())


def _manifest(design: Plan) -> dict[str, Any]:
    sizes = {"cells": design.cells, "runs": design.runs, "shards": design.shards}
    known = {
        "title": design.title,
        "identity": identity_of(design),
        "engine": engine_build(),
        **sizes,
        "design": design.definition(),
    }
    # JSON turns tuples into lists, so the digest is taken after a round trip.
    return {**known, "sha256": _digest(json.loads(json.dumps(known)))}


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _json(content: dict[str, Any]) -> bytes:
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()


def _line(digest: str, name: str) -> str:
    return f"{digest}  {name}\n"
