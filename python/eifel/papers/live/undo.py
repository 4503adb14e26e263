"""What each undo of this kernel's CUBIC is worth: `eifel live undo` over emulated paths, run by run."""

import csv
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Row, Setting, Studied
from eifel.papers.study import Effort, Study
from eifel.runs import Runs
from eifel.statistics import Mean, mean_interval
from eifel.toml import dumps

TITLE = "live.undo"
RUNS = 30
"""The runs of each cell. Equal numbers have equal draws of the path under each rule."""
AT_ONCE = 16
LIMIT_S = 120
BYTES = 1_500_000
RATE_BPS = 10_000_000
DELAY_MS = 20
QUEUES = (4, 32, 200)
"""Packets, that in transmission included. The path itself holds 33."""
PATHS = ("spike", "reordering", "mixed")
RULES = ("full", "full epoch", "rfc4015", "rfc4015 epoch", "as-carried", "as-carried epoch", "none")
"""The rules of `eifel live undo`; with `epoch` CUBIC's epoch is restored too."""
LINUX = "full"
COLUMNS = (
    Column("seconds", "Done after, s", digits=2),
    Column("against", "more than Linux, s", digits=2),
    Column("undos", "Undos in a run", digits=1),
    Column("after", "Packets lost within two round trips after them", digits=1),
    Column("lost", "Packets lost in all", digits=1),
    Column("late_ms", "Latest packet of the box, ms", digits=1),
)
ENGINE = "import sys; from eifel import _engine; sys.exit(_engine.live([], sys.argv[1:])[0])"
EIFEL = (sys.executable, "-c", ENGINE)
"""`eifel live` without the Parquet file that it adds: that takes as long as the rest of a run."""
NUMBERS = ("queue", "run", "seconds", "undos", "after", "lost", "late_us")

SINK = """
import socket
listener = socket.create_server(("0.0.0.0", 5001))
connection, _ = listener.accept()
while connection.recv(65536):
    pass
connection.sendall(b"x")
"""
SOURCE = """
import os, socket, sys, time
connection = socket.create_connection((os.environ["EIFEL_PEER"], 5001))
begun = time.monotonic()
connection.sendall(bytes(int(sys.argv[1])))
connection.shutdown(socket.SHUT_WR)
connection.recv(64)
with open(sys.argv[2], "w") as file:
    file.write(str(time.monotonic() - begun))
"""


@dataclass(frozen=True)
class Cell:
    """A path under a rule."""

    path: str
    queue: int
    rule: str


CELLS = tuple(Cell(*cell) for cell in product(PATHS, QUEUES, RULES))


def scenario(path: str, queue: int, seed: int) -> dict[str, Any]:
    """Returns the emulated path of a run."""
    draw = np.random.default_rng(seed)
    begins, lasts = draw.uniform(0.7, 0.9), draw.uniform(0.5, 0.8)
    link: dict[str, Any] = {
        "rate_bps": RATE_BPS,
        "delay_ms": DELAY_MS,
        "queue": {"kind": "drop-tail", "packets": queue},
    }
    if path != "spike":
        link["reorder"] = {"rate": 0.01, "late_ms": 30}
    if path == "mixed":
        link["loss"] = {"kind": "random", "rate": 0.005}
    found: dict[str, Any] = {"title": path, "seed": seed, "duration_s": LIMIT_S, "point_to_point": link}
    if path != "reordering":
        held = {"start_s": round(begins, 3), "end_s": round(begins + lasts, 3)}
        found["spike"] = [{"links": ["bottleneck"], "holds": "arriving", "at": [held]}]
    flow = {"name": "main", "from": "sender", "to": "receiver", "application": {"kind": "bulk", "endless": True}}
    return found | {"flow": [flow]}


def find(effort: Effort) -> dict[str, NDArray[Any]]:
    """Runs all cells, run after run: so the machine's load is shared by all rules."""

    def part(number: int, progress: Callable[[int], object]) -> Mapping[str, Sequence[Any]]:
        def one(cell: Cell) -> Mapping[str, Any]:
            return measured(cell, number, effort.seed)

        rows: list[Mapping[str, Any]] = []
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for row in pool.map(one, CELLS):
                rows.append(row)
                progress(len(rows))
        return {name: [row[name] for row in rows] for name in rows[0]}

    return effort.parts(TITLE, {"runs": RUNS, "cells": len(CELLS)}, [len(CELLS)] * RUNS, part)


def measured(cell: Cell, run: int, seed: int) -> dict[str, Any]:
    """Measures a run. Raises OSError if the system refuses something, or the transfer does not end."""
    with tempfile.TemporaryDirectory(prefix="eifel-") as place:
        folder = Path(place)
        texts = {"sink.py": SINK, "source.py": SOURCE}
        texts["path.toml"] = dumps(scenario(cell.path, cell.queue, 1000 * seed + run))
        for name, text in texts.items():
            (folder / name).write_text(text)
        rule, *epoch = cell.rule.split()
        python = (sys.executable, "-I", "-S")
        options = ["--restore-epoch"] if epoch else []
        undo = [*EIFEL, "undo", *options, "--out", str(folder / "undos.csv"), rule]
        source = [*python, str(folder / "source.py"), str(BYTES), str(folder / "seconds")]
        peer = " ".join((*python, str(folder / "sink.py")))
        box = [*EIFEL, "hiccup", "--out", str(folder / "box"), "--peer", peer, str(folder / "path.toml")]
        try:
            done = subprocess.run(
                [*box, "--", *undo, "--", *source], capture_output=True, text=True, check=False, timeout=LIMIT_S
            )
        except subprocess.TimeoutExpired as late:
            raise OSError(f"eifel live undo {cell.rule}: the transfer did not end within {LIMIT_S} s") from late
        if done.returncode != 0:
            raise OSError(f"eifel live undo {cell.rule}: {done.stderr.strip().splitlines()[-1:]}")
        with (folder / "box" / "path.csv").open() as path, (folder / "undos.csv").open() as undos:
            counts = counted(list(csv.DictReader(path)), [float(row["t"]) for row in csv.DictReader(undos)])
        seconds = float((folder / "seconds").read_text())
        return {"path": cell.path, "rule": cell.rule, "queue": cell.queue, "run": run, "seconds": seconds, **counts}


def counted(path: Sequence[Mapping[str, str]], undos: Sequence[float]) -> dict[str, float]:
    """Counts the losses of a run, in all and within two round trips after an undo, from the fate of every packet.

    A round trip ends when everything that was sent by its begin is acknowledged.
    """
    there = sorted((row for row in path if row["dir"] == "A" and row["len"] not in ("", "0")), key=_came)
    first = int(there[0]["seq"])

    def position(text: str) -> int:
        return (int(text) - first) % 2**32

    came = np.array([_came(row) for row in there])
    ends = np.maximum.accumulate([position(row["seq"]) + int(row["len"]) for row in there])
    is_lost = np.array([row["t_out"] == "" for row in there])
    back = sorted(
        (float(row["t_out"]), position(row["ack"])) for row in path if row["dir"] == "B" and row["t_out"] and row["len"]
    )
    after = np.zeros(len(there), dtype=bool)
    for begin in undos:
        after |= (came > begin) & (came <= _round_trip(_round_trip(begin, came, ends, back), came, ends, back))
    late = [1e6 * (float(row["t_out"]) - float(row["t_due"])) for row in path if row["t_out"]]
    return {
        "undos": float(len(undos)),
        "after": float((after & is_lost).sum()),
        "lost": float(is_lost.sum()),
        "late_us": max(late),
    }


def _came(row: Mapping[str, str]) -> float:
    return float(row["t_in"])


def _round_trip(
    begin: float, came: NDArray[np.float64], ends: NDArray[np.int64], back: Iterable[tuple[float, int]]
) -> float:
    """Returns when a round trip ends that begins at this time; that of the last packet, if it never does."""
    sent = ends[came <= begin]
    acknowledged = (at for at, ack in back if at > begin and len(sent) and 2**31 > ack >= sent[-1])
    return next(acknowledged, float(came[-1]))


def measure(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    there = {name: np.asarray(runs[name]) for name in runs.columns}
    return [row_of(there, Cell(**row.keys)) for row in artefact.rows]  # type: ignore[arg-type]


def row_of(there: Mapping[str, NDArray[Any]], cell: Cell) -> dict[str, Mean]:
    """Returns the numbers of a cell. Its times are compared with Linux's run by run."""

    def of(rule: str) -> dict[str, NDArray[Any]]:
        mine = (there["path"] == cell.path) & (there["queue"] == cell.queue) & (there["rule"] == rule)
        order = np.argsort(there["run"][mine])
        return {name: there[name][mine][order] for name in NUMBERS}

    own = of(cell.rule)
    found = {name: mean_interval(own[name]) for name in ("seconds", "undos", "after", "lost")}
    found["late_ms"] = mean_interval(own["late_us"] / 1000)
    if cell.rule == LINUX:
        return found
    return found | {"against": mean_interval(own["seconds"] - of(LINUX)["seconds"])}


def _of(measured: Measured, column: str, **keys: Any) -> float:
    return measured.mean(column, **keys)


ARTEFACT = Artefact(
    id=TITLE,
    title="Undos of this kernel's CUBIC, by what they restore",
    source="the kernel of this machine: `eifel live undo`",
    columns=COLUMNS,
    rows=tuple(Row({"path": cell.path, "queue": cell.queue, "rule": cell.rule}) for cell in CELLS),
    method=Studied(
        Study(
            find,
            {"runs": RUNS, "at_once": AT_ONCE, "bytes": BYTES, "rate_bps": RATE_BPS, "delay_ms": DELAY_MS},
            (find, measured, counted, _round_trip, scenario),
        ),
        measure,
        long=True,
        live=True,
    ),
    claims=(
        Claim(
            "on each path and queue the kernel undoes under Linux's rule, so that there is something to compare",
            lambda m: all(_of(m, "undos", path=p, queue=q, rule=LINUX) > 0 for p, q in product(PATHS, QUEUES)),
        ),
        Claim(
            "with reordering and a queue of 32 packets or more, undoing nothing takes longer than Linux's undo",
            lambda m: all(
                _of(m, "against", path=p, queue=q, rule="none") > 0
                for p, q in product(("reordering", "mixed"), QUEUES[1:])
            ),
        ),
        Claim(
            "behind a queue of 32 packets as-carried's undo loses fewer packets than Linux's",
            lambda m: all(
                _of(m, "after", path=p, queue=32, rule="as-carried") < _of(m, "after", path=p, queue=32, rule=LINUX)
                for p in PATHS
            ),
        ),
    ),
    fitted=(
        Setting("path", "10 Mbit/s, 20 ms each way", "chosen: 33 packets of 1500 bytes fill it"),
        Setting("spike", "0.5-0.8 s, from 0.7-0.9 s on", "chosen: longer than the timer's least, within the transfer"),
        Setting("reordering", "1 % of the packets 30 ms late", "chosen: later than RACK's window begins with"),
        Setting("mixed", "both, and 0.5 % lost", "chosen"),
    ),
)
