"""Analyses a folder of captures as a sweep is run: a file is a shard, and its retransmissions are its rows.

```python
import eifel

eifel.analyze_folder("captures", out="judged").table()   # resumes where an earlier call stopped
```
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eifel.errors import BadInputError
from eifel.sweeps import Executor, Folder, store
from eifel.sweeps.executor import Cores
from eifel.sweeps.folder import identity_of, sealing

if TYPE_CHECKING:
    import pyarrow as pa

ENDINGS = tuple(kind + packed for kind in (".pcap", ".pcapng", ".cap", ".snoop") for packed in ("", ".gz", ".zst"))
"""How the names of captures end. Other files of the folder are not read."""
ROWS = 4096
"""The rows that are written together."""


@dataclass(frozen=True)
class Captures:
    """The files to analyse, in the order of their names."""

    folder: Path
    files: tuple[tuple[str, int, int], ...]
    """The name of each file in the folder, its bytes, and when it was changed last (ns since 1970)."""

    @property
    def title(self) -> str:
        return self.folder.name

    @property
    def cells(self) -> int:
        return len(self.files)

    @property
    def runs(self) -> int:
        return len(self.files)

    @property
    def shards(self) -> int:
        return len(self.files)

    def definition(self) -> dict[str, Any]:
        return {"captures": [list(file) for file in self.files]}


@dataclass(frozen=True)
class Capture:
    """One file to analyse, which is one shard."""

    number: int
    of: str
    """The identity of the whole analysis."""
    path: str
    """The file's absolute name. A worker of a cluster opens it by this name."""
    name: str
    runs: int = 1

    def do(self, threads: int | None = None, progress: Callable[[int, int], object] | None = None) -> bytes:
        """Analyses the file on one core, and returns its retransmissions as a Parquet file.

        Rows are written as soon as their connection is over, so memory does not grow with the file. The last
        row of a file that could not be read, or not to its end, has an `error` and nothing else.
        """
        from eifel import _engine

        waiting: list[Mapping[str, Any]] = []
        out = io.BytesIO()
        with sealing(out, _schema(), self.of, self.number) as write:

            def take(found: str) -> None:
                waiting.extend(_rows(self.name, json.loads(found)))
                while len(waiting) >= ROWS:
                    write(waiting[:ROWS])
                    del waiting[:ROWS]

            def advance(_read: int, _all: int) -> None:
                if progress is not None:
                    progress(0, self.runs)

            try:
                error = _engine.analyze_each(self.path, take, advance)
            except _engine.CaptureError as refused:
                error = str(refused)
            if error is not None:
                waiting.append({"file": self.name, "error": error})
            write(waiting)
        if progress is not None:
            progress(self.runs, self.runs)
        return out.getvalue()


def analyze_folder(
    folder: str | Path,
    *,
    out: str | Path,
    executor: Executor | None = None,
    fresh: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Folder:
    """Analyses each capture in a folder and its folders by itself. Stores a row for each retransmission.

    Example: `eifel.analyze_folder("captures", out="judged").table()`.

    Files that are stored in `out` already are not read again. `executor` does the work; `None` uses all
    cores of this machine, each for one file after another. `progress(done, total)` counts files.

    Raises BadInputError if there is no capture, or if `out` holds something else. Raises SweepError
    if the cluster is lost.
    """
    plan = captures_in(folder, Path(out))
    identity = identity_of(plan)
    place = Folder(out)
    place.claim(plan, fresh=fresh)
    missing = place.missing(plan)
    absolute = plan.folder.resolve()
    shards = (
        Capture(number, identity, str(absolute / plan.files[number][0]), plan.files[number][0]) for number in missing
    )
    store(place, shards, executor or Cores(), done=plan.runs - len(missing), total=plan.runs, progress=progress)
    return place


def captures_in(folder: str | Path, out: Path) -> Captures:
    """Returns the captures in a folder and its folders, except in `out`. Raises BadInputError if there is none."""
    top = Path(folder)
    excluded = out.resolve()
    found = []
    for file in sorted(top.rglob("*")):
        if file.name.endswith(ENDINGS) and file.is_file() and not file.resolve().is_relative_to(excluded):
            about = file.stat()
            found.append((file.relative_to(top).as_posix(), about.st_size, about.st_mtime_ns))
    if not found:
        raise BadInputError(f"{folder}: no capture in this folder; expected names that end in {', '.join(ENDINGS)}")
    return Captures(top, tuple(found))


def _schema() -> pa.Schema:
    import pyarrow as pa

    from eifel.captures import retransmissions_schema

    ends = [pa.field(name, pa.string()) for name in ("file", "client", "server")]
    own = [field for field in retransmissions_schema() if field.name != "capture"]
    return pa.schema([*ends, *own, pa.field("error", pa.string())])


def _rows(name: str, found: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yields the rows of connections that are over."""
    ends = {one["connection"]: {"client": one["client"], "server": one["server"]} for one in found["connections"]}
    return ({"file": name, **ends[row["connection"]], **row} for row in found["retransmissions"])
