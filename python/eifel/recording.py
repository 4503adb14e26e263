"""Records a run into files while it runs: its tables as Parquet, row group by row group, and captures.

Recording an hour takes no more memory than recording a second.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eifel import files
from eifel import scenario as scenarios
from eifel.errors import BadInputError
from eifel.result import MANIFEST, TABLES, Result, manifest_text, refuse_anything_else
from eifel.runs import check_count, with_seed
from eifel.tables import csv_writer, plain, recorded, writer

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq
    from numpy.typing import NDArray


def record(
    scenario: scenarios.ScenarioLike | scenarios.Source,
    folder: str | Path,
    *,
    tables: Sequence[str] = TABLES,
    captures: Sequence[str] = (),
    payload: bool = False,
    csv: bool = False,
    repetition: int = 0,
    seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Result:
    """Runs one repetition of a scenario and records it into a folder, which `Result.read` reads.

    `tables` are written as `transmissions.parquet` and so on, and with `csv` also as
    `transmissions.csv`. For each node in `captures`, `NODE.pcapng` holds the packets there:
    headers, or with `payload` all bytes. manifest.json describes the run. The new recording
    replaces an old one in the folder once it is complete. The result has the summary of each flow,
    and no tables in memory.

    Example: `eifel.record("scenario.toml", "run", tables=["transmissions", "acks"], captures=["sender"])`.

    Raises ScenarioError if the scenario is refused. Raises BadInputError for an unknown table or
    node, or if the folder holds anything but a recording. Raises OSError if the folder cannot be
    written.
    """
    check_count("repetition", repetition, 0)
    source = scenarios.override(scenarios.load(scenario), with_seed(settings, seed))
    wanted = Wanted(repetition, (), payload)
    return record_run(source, Path(folder), wanted, tables=tables, captures=captures, csv=csv)


@dataclass(frozen=True)
class Wanted:
    """The run to record: its repetition, the tables that its result keeps in memory, and whole packets in captures."""

    repetition: int = 0
    kept: Sequence[str] = ()
    payload: bool = False


def record_run(
    source: scenarios.Source,
    folder: Path,
    wanted: Wanted,
    *,
    tables: Sequence[str] = TABLES,
    captures: Sequence[str] = (),
    csv: bool = False,
) -> Result:
    """Runs one repetition of a scenario, and records it into a folder as `record` does."""
    refuse_anything_else(folder)
    with files.replaced(folder) as made:
        result = _into(made, source, wanted, (tables, captures), csv=csv)
        text = manifest_text(source, wanted.repetition, result.flows, list(tables))
        (made / MANIFEST).write_text(text, encoding="utf-8")
    return result


def capture(source: scenarios.Source, node: str, file: Path, wanted: Wanted) -> Result:
    """Runs one repetition of a scenario, and writes the packets at a node into one file."""
    with files.opened(file) as out:
        return _record(source, wanted, [], [(node, str(out.name))])


def _into(
    folder: Path,
    source: scenarios.Source,
    wanted: Wanted,
    recorded_there: tuple[Sequence[str], Sequence[str]],
    *,
    csv: bool,
) -> Result:
    tables, captures = recorded_there
    writers: dict[str, list[pq.ParquetWriter | pa_csv.CSVWriter]] = {}

    def write(name: str, part: pa.Table) -> None:
        if name not in writers:
            writers[name] = [writer(folder / f"{name}.parquet", part.schema)]
            writers[name] += [csv_writer(folder / f"{name}.csv", part.schema)] if csv else []
        elif not part.num_rows:
            return
        for opened, form in zip(writers[name], (part, plain(part) if csv else part), strict=False):
            opened.write_table(form)

    places = [(node, str(folder / f"{node}.pcapng")) for node in captures]
    try:
        return _record(source, wanted, tables, places, write)
    finally:
        for opened in (one for many in writers.values() for one in many):
            opened.close()


def _record(
    source: scenarios.Source,
    wanted: Wanted,
    tables: Sequence[str],
    captures: Sequence[tuple[str, str]],
    write: Callable[[str, pa.Table], object] | None = None,
) -> Result:
    """Runs a repetition. Each part of a table that is recorded goes to `write` while it runs."""
    from eifel import _engine
    from eifel.batches import joined

    parts: dict[str, list[pa.Table]] = {}

    def take(name: str, columns: Mapping[str, NDArray[Any]], words: Mapping[str, Sequence[str]]) -> None:
        part = recorded(name, columns, words)
        if name in wanted.kept:
            parts.setdefault(name, []).append(part)
        if write is not None and name in tables:
            write(name, part)

    asked = list(dict.fromkeys([*tables, *wanted.kept]))
    try:
        run = _engine.record(source.text, source.origin, wanted.repetition, asked, list(captures), wanted.payload, take)
    except _engine.ScenarioError:
        raise
    except ValueError as error:
        raise BadInputError(str(error)) from None
    kept = {name: joined(parts[name]) for name in wanted.kept if name in parts}
    return Result(source, wanted.repetition, json.loads(run.summary_json()), kept)
