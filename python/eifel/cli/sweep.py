"""`eifel sweep`: runs many scenarios that differ in chosen keys."""

from __future__ import annotations

import argparse
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eifel import files, sweeps
from eifel.cli import FAILED, OK
from eifel.cli.output import console, heading, note, number, print_json, progress, table
from eifel.errors import BadInputError
from eifel.statistics import mean_interval

if TYPE_CHECKING:
    import pyarrow as pa

MOST_CELLS_SHOWN = 60
QUIET_S = 30.0
"""The seconds between lines of progress without a terminal."""


def command(options: argparse.Namespace) -> int:
    """Runs the sweep, and prints the mean of chosen numbers for each cell."""
    design = sweeps.load(options.sweep)
    out = Path(options.out) if options.out else Path("out") / Path(options.sweep).stem
    wanted = _wanted(options.show)
    flow = _flow(options.flow, design)
    if options.check:
        design.check()
        sizes = {"cells": design.cells, "repetitions": design.repetitions, "runs": design.runs, "shards": design.shards}
        if options.json:
            print_json("sweep-check", sizes)
        else:
            print(", ".join(f"{name} {size}" for name, size in sizes.items()))
        return OK
    files.expect_folder(out)
    executor = dask(options.dask) if options.dask else sweeps.Local(options.jobs)
    began = time.monotonic()
    try:
        with counted(design.title) as advance:
            folder = sweeps.sweep(design, out=out, executor=executor, fresh=options.fresh, progress=advance)
    except sweeps.SweepError as error:
        note(f"eifel: {error}; what is finished is in {out}, and the same command goes on from there")
        return FAILED
    except OSError as error:
        note(f"eifel: {error.filename or out}: {error.strerror or error}; the same command goes on from what is stored")
        return FAILED
    runs = folder.table()
    failed = [row for row in runs.select(["cell", "repetition", "error", "reproduce"]).to_pylist() if row["error"]]
    cells = _means(design, runs, wanted, flow)
    if options.json:
        head = {"title": design.title, "folder": str(folder.path), "runs": design.runs, "flow": flow}
        print_json("sweep", {**head, "cells": cells, "failed": failed})
    else:
        _show(design, folder, cells, wanted)
        note(f"{design.runs} runs in {folder.path}, {time.monotonic() - began:.1f} s")
        for row in failed[:3]:
            note(f"cell {row['cell']}, repetition {row['repetition']} failed: {row['error']}\n  {row['reproduce']}")
        if failed:
            note(f"{len(failed)} runs failed: column error says why")
    return FAILED if failed else OK


def _wanted(written: str) -> list[str]:
    """Returns the numbers to print. Checks their names before any run."""
    from eifel import _engine

    wanted = [name.strip() for name in written.split(",") if name.strip()]
    known = _engine.summary_numbers()
    for name in wanted:
        if name not in known:
            raise BadInputError(f"--show {name}: no such number; there is: {', '.join(known)}")
    return wanted


def _flow(name: str | None, design: sweeps.Design) -> str:
    flows = [flow.name for flow in design.base.flows]
    if name is None:
        return flows[0]
    if name not in flows:
        raise BadInputError(f"--flow {name}: no such flow; there is: {', '.join(flows)}")
    return name


def dask(address: str) -> sweeps.Executor:
    """Returns the workers of a cluster, which say nothing of their own. Raises BadInputError if there are none."""
    from eifel.sweeps.executor import Dask

    made = Dask(address)
    # This module reports scheduler failures in one line; Dask would print tracebacks.
    logging.getLogger("distributed").setLevel(logging.CRITICAL + 1)
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL + 1)
    return made


@contextmanager
def counted(title: str, unit: str = "runs") -> Iterator[Callable[[int, int], None]]:
    """Shows a bar on a terminal, or periodic lines otherwise: runs done, rate, time left."""
    began = last = time.monotonic()
    first: int | None = None
    with progress(title) as bar:

        def advance(done: int, total: int) -> None:
            nonlocal first, last
            bar(done, total)
            first = done if first is None else first
            now = time.monotonic()
            if now - last >= QUIET_S and not console().is_terminal:
                last = now
                rate = (done - first) / (now - began)
                left = f", {(total - done) / rate:.0f} s left" if rate > 0 else ""
                note(f"{title}: {done} of {total} {unit}, {rate:.0f} a second{left}")

        yield advance


def _show(
    design: sweeps.Design, folder: sweeps.Folder, cells: Sequence[Mapping[str, Any]], wanted: Sequence[str]
) -> None:
    out = console()
    sizes = f"{design.cells} cells, {design.repetitions} repetitions, means with 95 % intervals"
    out.print(heading(f"{design.title}  {sizes}"))
    shown = table(["cell", *wanted], left=1)
    for cell in cells[:MOST_CELLS_SHOWN]:
        case = [cell["case"]] if cell["case"] else []
        name = "  ".join([*case, *(f"{key.split('.')[-1]} {value}" for key, value in cell["set"].items())])
        shown.add_row(name, *(_number(cell["mean"].get(n), cell["interval95"].get(n)) for n in wanted))
    out.print(shown)
    if len(cells) > MOST_CELLS_SHOWN:
        out.print(
            f"and {len(cells) - MOST_CELLS_SHOWN} cells more: eifel.load_sweep({str(folder.path)!r}) has them all"
        )


def _means(design: sweeps.Design, runs: pa.Table, wanted: Sequence[str], flow: str) -> list[dict[str, Any]]:
    """Returns one flow's mean of each number over the repetitions of each cell; none if every run failed."""
    import pyarrow.compute as pc

    columns: dict[str, Any] = {}
    if "flow_name" in runs.column_names:
        runs = runs.filter(pc.equal(runs["flow_name"], flow))
        columns = {name: runs[name].to_numpy().astype(float) for name in wanted}
    cell_of = runs["cell"].to_numpy()
    of_cases = {key for case in design.cases for key in case.settings}
    cells = []
    # Rows are ordered by cell.
    for place in range(design.cells):
        begin, end = cell_of.searchsorted([place, place + 1])
        means = {name: mean_interval(values[begin:end]) for name, values in columns.items() if begin < end}
        cell = design.cell(place)
        cells.append(
            {
                "cell": place,
                "case": cell.case,
                "set": {key: value for key, value in cell.settings.items() if not cell.case or key not in of_cases},
                "mean": {name: mean.mean for name, mean in means.items()},
                "interval95": {name: mean.interval for name, mean in means.items()},
            }
        )
    return cells


def _number(mean: float | None, interval: tuple[float, float] | None) -> str:
    return number(mean, (interval[1] - interval[0]) / 2 if interval else None)
