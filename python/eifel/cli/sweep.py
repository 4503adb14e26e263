"""`eifel sweep`: many scenarios that differ in chosen keys."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eifel import sweeps
from eifel.cli import FAILED, OK
from eifel.cli.output import console, heading, note, print_json, progress, table
from eifel.errors import BadInputError
from eifel.statistics import mean_interval

if TYPE_CHECKING:
    import pyarrow as pa

MOST_CELLS_SHOWN = 60
QUIET_S = 30.0
"""Where there is no terminal, a line of progress comes as often."""


def command(options: argparse.Namespace) -> int:
    """Does the sweep and prints the mean of chosen numbers for each cell."""
    design = sweeps.load(options.sweep)
    out = Path(options.out) if options.out else Path("out") / Path(options.sweep).stem
    if options.check:
        design.check()
        sizes = {"cells": design.cells, "repetitions": design.repetitions, "runs": design.runs, "shards": design.shards}
        print_json(sizes) if options.json else print(", ".join(f"{name} {size}" for name, size in sizes.items()))
        return OK
    wanted = [name.strip() for name in options.show.split(",") if name.strip()]
    executor = _dask(options.dask) if options.dask else sweeps.Local(options.jobs)
    began = time.monotonic()
    try:
        with _progress(design.title) as advance:
            folder = sweeps.sweep(design, out=out, executor=executor, fresh=options.fresh, progress=advance)
    except sweeps.SweepError as error:
        note(f"eifel: {error}; what is finished is in {out}, and the same command goes on from there")
        return FAILED
    except OSError as error:
        note(f"eifel: {error.filename or out}: {error.strerror or error}; the same command goes on from what is stored")
        return FAILED
    runs = folder.table()
    return _show(design, folder, runs, wanted, time.monotonic() - began, as_json=options.json)


def _dask(address: str) -> sweeps.Executor:
    from eifel.sweeps.executor import Dask

    return Dask(address)


@contextmanager
def _progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """The bar of a terminal, or now and then a line: runs done, rate, time left."""
    began = last = time.monotonic()
    first: int | None = None
    with progress(title) as bar:

        def tell(done: int, total: int) -> None:
            nonlocal first, last
            bar(done, total)
            first = done if first is None else first
            now = time.monotonic()
            if now - last >= QUIET_S and not console().is_terminal:
                last = now
                rate = (done - first) / (now - began)
                left = f", {(total - done) / rate:.0f} s left" if rate > 0 else ""
                note(f"{title}: {done} of {total} runs, {rate:.0f} a second{left}")

        yield tell


def _show(
    design: sweeps.Design, folder: sweeps.Folder, runs: pa.Table, wanted: list[str], took: float, *, as_json: bool
) -> int:
    unknown = [name for name in wanted if name not in runs.column_names]
    if unknown:
        raise BadInputError(f"--show {unknown[0]}: no such number; there is: {', '.join(runs.column_names)}")
    failed = [row for row in runs.select(["cell", "repetition", "error", "reproduce"]).to_pylist() if row["error"]]
    cells = _means(design, runs, wanted)
    if as_json:
        print_json(
            {"title": design.title, "folder": str(folder.path), "runs": design.runs, "cells": cells, "failed": failed}
        )
    else:
        out = console()
        out.print(
            heading(
                f"{design.title}  {design.cells} cells, {design.repetitions} repetitions, means with 95 % intervals"
            )
        )
        shown = table(["cell", *wanted], left=1)
        for cell in cells[:MOST_CELLS_SHOWN]:
            name = "  ".join(
                [
                    *([cell["case"]] if cell["case"] else []),
                    *(f"{k.split('.')[-1]} {v}" for k, v in cell["set"].items()),
                ]
            )
            shown.add_row(name, *(_number(cell["mean"][n], cell["interval95"][n]) for n in wanted))
        out.print(shown)
        if len(cells) > MOST_CELLS_SHOWN:
            out.print(
                f"and {len(cells) - MOST_CELLS_SHOWN} cells more: eifel.load_sweep({str(folder.path)!r}) has them all"
            )
        note(f"{design.runs} runs in {folder.path}, {took:.1f} s")
        for row in failed[:3]:
            note(f"cell {row['cell']}, repetition {row['repetition']} failed: {row['error']}\n  {row['reproduce']}")
        if failed:
            note(f"{len(failed)} runs failed: column error says why")
    return FAILED if failed else OK


def _means(design: sweeps.Design, runs: pa.Table, wanted: list[str]) -> list[dict[str, Any]]:
    """The mean of each number over the repetitions of each cell, of the first flow."""
    import pyarrow.compute as pc

    if "flow" not in runs.column_names:
        return []
    first = runs.filter(pc.equal(runs["flow"], 0))
    columns = {name: first[name].to_numpy().astype(float) for name in wanted}
    cell_of = first["cell"].to_numpy()
    cells = []
    # Rows stand in the order of cells.
    for number in range(design.cells):
        begin, end = cell_of.searchsorted([number, number + 1])
        means = {name: mean_interval(values[begin:end]) for name, values in columns.items()}
        cell = design.cell(number)
        cells.append(
            {
                "cell": number,
                "case": cell.case,
                "set": {
                    key: value for key, value in cell.settings.items() if not cell.case or key not in _of_cases(design)
                },
                "mean": {name: mean.mean for name, mean in means.items()},
                "interval95": {name: mean.interval for name, mean in means.items()},
            }
        )
    return cells


def _of_cases(design: sweeps.Design) -> set[str]:
    return {key for case in design.cases for key in case.settings}


def _number(mean: float | None, interval: Any) -> str:
    if mean is None:
        return "-"
    half = (interval[1] - interval[0]) / 2 if interval else None
    written = f"{mean:.4g}" if abs(mean) < 1e4 else f"{mean:,.0f}".replace(",", " ")
    if not half:
        return written
    return f"{written} ± {half:.2g}" if half < 1e4 else f"{written} ± {half:,.0f}".replace(",", " ")
