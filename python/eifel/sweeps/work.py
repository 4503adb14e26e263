"""One shard of a sweep: its runs, and their results.

A shard depends on nothing but its own contents, so its bytes are equal wherever it runs.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eifel import toml
from eifel.sweeps.design import Cell, Design
from eifel.sweeps.folder import identity_of, sealed

if TYPE_CHECKING:
    import pyarrow as pa

Progress = Callable[[int, int], object]


@dataclass(frozen=True)
class Shard:
    """Runs that are done and stored together: cells, and the range of repetitions of each."""

    number: int
    sweep: str
    """The identity of the sweep."""
    cells: tuple[Cell, ...]
    scenarios: tuple[tuple[str, str], ...]
    """The text and origin of each cell's scenario."""
    ranges: tuple[tuple[int, int, int], ...]
    """For each range: the index of the cell in `cells`, the first repetition, and the number of repetitions."""
    commands: tuple[str, ...]
    """The command that runs each cell again, without its repetition."""
    flows: tuple[tuple[str, ...], ...]
    """The names of each cell's flows."""
    columns: tuple[tuple[str, str], ...]
    """Each swept key, and the kind of its values in the whole sweep."""

    @property
    def runs(self) -> int:
        return sum(count for _, _, count in self.ranges)

    def do(self, threads: int | None = None, progress: Progress | None = None) -> bytes:
        """Runs the shard, and returns it as a Parquet file."""
        from eifel import _engine

        columns, failures = _engine.run_many(self.scenarios, self.ranges, threads, progress, keep_going=True)
        return sealed(_table(self, columns, failures), self.sweep, self.number)


def shard(design: Design, number: int) -> Shard:
    """Returns a shard by number. Runs are counted cell by cell, repetition by repetition."""
    first, last = number * design.shard_runs, min((number + 1) * design.shard_runs, design.runs)
    cells: list[Cell] = []
    ranges = []
    at = first
    while at < last:
        cell, repetition = divmod(at, design.repetitions)
        count = min(design.repetitions - repetition, last - at)
        ranges.append((len(cells), repetition, count))
        cells.append(design.cell(cell))
        at += count
    sources = [design.source(cell) for cell in cells]
    return Shard(
        number,
        identity_of(design),
        tuple(cells),
        tuple((source.text, source.origin) for source in sources),
        tuple(ranges),
        tuple(_command(design, cell) for cell in cells),
        tuple(tuple(flow.name for flow in source.flows) for source in sources),
        tuple((key, design.kind(key)) for key in design.keys),
    )


def _table(work: Shard, columns: dict[str, Any], failures: Sequence[tuple[int, int, str]]) -> pa.Table:
    import pyarrow as pa

    place = [int(value) for value in columns.get("scenario", ())] + [cell for cell, _, _ in failures]
    missing = [None] * len(failures)
    done = len(place) - len(failures)
    table: dict[str, pa.Array] = {"cell": pa.array([work.cells[at].number for at in place], pa.int64())}
    if any(cell.case is not None for cell in work.cells):
        table["case"] = pa.array([work.cells[at].case for at in place], pa.string())
    for key, kind in work.columns:
        table[key] = _values([work.cells[at].settings.get(key) for at in place], kind)
    for name, values in columns.items():
        if name != "scenario":
            known = pa.array(values)
            more = [repetition for _, repetition, _ in failures] if name == "repetition" else missing
            table[name] = pa.concat_arrays([known, pa.array(more, known.type)])
        if name == "flow":
            names = [work.flows[at][flow] for at, flow in zip(place, values.tolist(), strict=False)]
            table["flow_name"] = pa.array([*names, *missing], pa.string())
    if "repetition" not in table:
        table["repetition"] = pa.array([repetition for _, repetition, _ in failures], pa.int64())
    table["error"] = pa.array([None] * done + [why for _, _, why in failures], pa.string())
    again = [f"{work.commands[cell]} --repetitions 1 --repetition {repetition}" for cell, repetition, _ in failures]
    table["reproduce"] = pa.array([None] * done + again, pa.string())
    return pa.table(table)


def _values(values: list[Any], kind: str) -> pa.Array:
    """Returns a column of settings: integers, floats, switches and words natively, everything else as JSON."""
    import pyarrow as pa

    if kind == "json":
        values = [None if value is None else json.dumps(value, sort_keys=True) for value in values]
    elif kind == "float":
        values = [None if value is None else float(value) for value in values]
    types = {"int": pa.int64(), "float": pa.float64(), "bool": pa.bool_(), "str": pa.string(), "json": pa.string()}
    return pa.array(values, types[kind])


def _command(design: Design, cell: Cell) -> str:
    if design.file is None:
        return f"eifel run {shlex.quote(json.dumps(design.source(cell).settings))}"
    settings = {**cell.settings, "seed": design.seed_of(cell)}
    put = [f"--set {shlex.quote(f'{key}={toml.value(value)}')}" for key, value in settings.items()]
    return " ".join(["eifel run", shlex.quote(design.file), *put])
