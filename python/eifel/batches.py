"""Runs in batches: over processes, with recorded tables, and stored in a folder, where they are resumed."""

from __future__ import annotations

import hashlib
import io
import json
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from eifel import detectors, files
from eifel.errors import BadInputError
from eifel.scenario import Source

if TYPE_CHECKING:
    import pyarrow as pa

MANIFEST = "runs.json"
RUNS = 16
"""The repetitions of one batch: each batch is stored, and resumed, as a whole."""
SUMMARY = "summary"
"""The table with the numbers of each flow."""
Done = TypeVar("Done")


@dataclass(frozen=True)
class Batch:
    """Repetitions of one scenario."""

    number: int
    scenario: int
    first: int
    count: int
    tables: Sequence[str] = ()

    def file(self, folder: Path, table: str) -> Path:
        return folder / f"{table}-{self.number:06}.parquet"


def planned(scenarios: int, repetitions: int, tables: Sequence[str]) -> list[Batch]:
    """Returns the batches of all repetitions of all scenarios, in order."""
    if SUMMARY in tables:
        raise BadInputError(f"record: {SUMMARY} is no table of a run; it is always kept")
    starts = [(number, first) for number in range(scenarios) for first in range(0, repetitions, RUNS)]
    return [
        Batch(index, number, first, min(RUNS, repetitions - first), tuple(tables))
        for index, (number, first) in enumerate(starts)
    ]


def done(
    batches: Sequence[Batch],
    sources: Sequence[Source],
    *,
    out: Path | None,
    threads: int | None,
    progress: Callable[[int, int], object] | None,
) -> dict[str, pa.Table]:
    """Does the batches that are not stored yet, and returns the summary and the recorded tables of all.

    The result does not depend on the number of threads. Raises RunError for the first run that fails.
    """
    import pyarrow as pa

    if out is not None:
        _claim(out, batches, sources)
    kept: dict[int, Mapping[str, pa.Table]] = {}
    if out is not None:
        kept = {batch.number: found for batch in batches if (found := _stored(out, batch)) is not None}
    missing = [batch for batch in batches if batch.number not in kept]
    total = sum(batch.count for batch in batches)
    finished = total - sum(batch.count for batch in missing)
    with _workers(sources, threads) as pool:
        asked = {pool.submit(_do, batch, sources[batch.scenario]): batch for batch in missing}
        with _cancelled(asked):
            for future in as_completed(asked):
                batch = asked[future]
                made = future.result()
                if out is not None:
                    _store(out, batch, made)
                kept[batch.number] = made
                finished += batch.count
                if progress is not None:
                    progress(finished, total)
    names = dict.fromkeys(name for number in sorted(kept) for name in kept[number])
    parts = {name: [kept[number][name] for number in sorted(kept) if name in kept[number]] for name in names}
    return {name: joined(tables) for name, tables in parts.items()} if kept else {SUMMARY: pa.table({})}


def each(
    task: Callable[[Source, int], Done],
    source: Source,
    repetitions: Sequence[int],
    *,
    threads: int | None,
    progress: Callable[[int], object],
) -> list[Done]:
    """Does a task, a function of a module, with each repetition of a scenario, and returns the results in order.

    Calls `progress` with the number of those done. Raises the first error of a task.
    """
    if len(repetitions) < 2:
        # Here an interrupt ends a run at once.
        return [task(source, repetition) for repetition in repetitions]
    with _workers([source], min(threads or os.cpu_count() or 1, len(repetitions))) as pool:
        asked = [pool.submit(task, source, repetition) for repetition in repetitions]
        with _cancelled(asked):
            for done, future in enumerate(as_completed(asked), start=1):
                future.result()
                progress(done)
            return [future.result() for future in asked]


@contextmanager
def _cancelled(asked: Iterable[Future[Any]]) -> Iterator[None]:
    """Lets nothing that is asked begin after an error."""
    try:
        yield
    except BaseException:
        for future in asked:
            future.cancel()
        raise


def joined(tables: Sequence[pa.Table]) -> pa.Table:
    """Returns the rows of these parts of a table, or of the same table of several runs."""
    import pyarrow as pa

    # Words of category columns differ from run to run, and flows without requests have no times of requests.
    return pa.concat_tables([table.unify_dictionaries() for table in tables], promote_options="permissive")


@contextmanager
def _workers(sources: Sequence[Source], threads: int | None) -> Iterator[Executor]:
    """Returns processes if a scenario has a detector of Python, which one process runs one at a time; else threads."""
    count = threads or os.cpu_count() or 1
    of_python = any(detectors.names_in(source.text) for source in sources)
    if not of_python or count == 1 or "fork" not in get_all_start_methods():
        with ThreadPoolExecutor(count) as pool:
            yield pool
        return
    with warnings.catch_warnings():
        # A class of a notebook exists in this process alone, so its copies have to be made by fork. Threads that wait
        # elsewhere, as a notebook's do, hold none of the locks that a run takes.
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        with ProcessPoolExecutor(count, mp_context=get_context("fork")) as pool:
            yield pool


def _do(batch: Batch, source: Source) -> dict[str, pa.Table]:
    """Runs a batch. Returns its summary, and the recorded tables with the numbers of scenario and repetition."""
    import pyarrow as pa

    from eifel import _engine
    from eifel.runs import run

    if not batch.tables:
        columns, failures = _engine.run_many([(source.text, source.origin)], [(0, batch.first, batch.count)], 1)
        for _, repetition, why in failures:
            raise _engine.RunError(f"{source.origin}: repetition {repetition}: {why}")
        summary = {name: np.asarray(values) for name, values in columns.items()}
        summary["scenario"] = np.full(len(summary["flow"]), batch.scenario)
        return {SUMMARY: pa.table(summary)}
    parts: dict[str, list[pa.Table]] = {}
    for repetition in range(batch.first, batch.first + batch.count):
        result = run(source, repetition=repetition, record=batch.tables)
        numbers = [
            {"scenario": batch.scenario, "repetition": repetition, "flow": number, **_numbers(flow)}
            for number, flow in enumerate(result.flows)
        ]
        parts.setdefault(SUMMARY, []).append(pa.Table.from_pylist(numbers))
        for name, table in result.tables.items():
            parts.setdefault(name, []).append(_placed(table, batch.scenario, repetition))
    return {name: joined(tables) for name, tables in parts.items()}


def _numbers(flow: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in flow.items() if name != "flow"}


def _placed(table: pa.Table, scenario: int, repetition: int) -> pa.Table:
    """Returns a recorded table with its scenario and repetition in front."""
    import pyarrow as pa

    for name, number in (("repetition", repetition), ("scenario", scenario)):
        table = table.add_column(0, name, pa.array(np.full(table.num_rows, number, np.int64)))
    return table


def _claim(out: Path, batches: Sequence[Batch], sources: Sequence[Source]) -> None:
    """Claims a folder for these runs. Raises BadInputError if it holds anything else."""
    from eifel.store import engine_build

    asked = [[source.text, source.origin, detectors.sources(source.text)] for source in sources]
    plan = [[batch.scenario, batch.first, batch.count, list(batch.tables)] for batch in batches]
    identity = hashlib.sha256(json.dumps([asked, plan, engine_build()]).encode()).hexdigest()
    files.expect_folder(out)
    out.mkdir(parents=True, exist_ok=True)
    files.remove_leftovers(out)
    manifest = out / MANIFEST
    if manifest.is_file():
        try:
            known = json.loads(manifest.read_text(encoding="utf-8"))["identity"]
        except (ValueError, KeyError, TypeError):
            known = None
        if known != identity:
            raise BadInputError(f"{out}: holds other runs, or those of another engine; expected a new or empty folder")
    elif any(out.iterdir()):
        raise BadInputError(f"{out}: holds something else than runs; expected a new or empty folder")
    files.put(manifest, (json.dumps({"engine": engine_build(), "identity": identity}, indent=2) + "\n").encode())


def _stored(out: Path, batch: Batch) -> dict[str, pa.Table] | None:
    """Returns a stored batch; None if it is not there, or damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        names = (SUMMARY, *batch.tables)
        return {name: pq.ParquetFile(batch.file(out, name)).read() for name in names}
    except (OSError, pa.ArrowException):
        return None


def _store(out: Path, batch: Batch, made: Mapping[str, pa.Table]) -> None:
    """Stores a batch. Its summary comes last: a batch without one is done again."""
    import pyarrow.parquet as pq

    for name in (*batch.tables, SUMMARY):
        content = io.BytesIO()
        pq.write_table(made[name], content, compression="zstd")
        files.put(batch.file(out, name), content.getvalue())
