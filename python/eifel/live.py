"""Runs the engine on a real network: a scenario's first flow, on the wire between two namespaces."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from eifel import scenario as scenarios
from eifel.result import TABLES, Result

ENDS = {"name": "main", "from": "sender", "to": "receiver"}
if TYPE_CHECKING:
    import pyarrow as pa

SHORT = {"duration_s": 5, "point_to_point": {"rate_bps": 10_000_000, "delay_ms": 0}}
SKIPPED = "*** SKIPPED: it needs namespaces and TUN devices:"
"""The beginning of the line that says why live runs are skipped."""


@dataclass(frozen=True)
class Lateness:
    """The lateness of packets that leave the emulated path, in microseconds."""

    median_us: float
    p99_us: float
    max_us: float


@dataclass(frozen=True)
class LiveRun:
    """A run on the wire, recorded like a simulated one."""

    result: Result
    lateness: Lateness


def run(scenario: scenarios.ScenarioLike | scenarios.Source, *, record: Sequence[str] = TABLES) -> LiveRun:
    """Runs the first flow of a scenario live: two hosts in two namespaces, with an emulated path between them.

    The run takes as long as the scenario says. Raises ScenarioError if the scenario is refused,
    PermissionError without the rights for namespaces and TUN devices, and OSError if the system
    refuses something.
    """
    from eifel import _engine

    source = scenarios.load(scenario)
    found, lateness = _engine.live_run(source.text, source.origin, list(record))
    return LiveRun(Result.from_engine(source, 0, found), Lateness(*lateness))


def run_together(many: Sequence[scenarios.ScenarioLike | scenarios.Source]) -> list[LiveRun]:
    """Runs several scenarios in parallel, each in its own namespaces. Slow links mostly wait."""
    with ThreadPoolExecutor(max_workers=max(1, len(many))) as pool:
        return list(pool.map(run, many))


@cache
def missing() -> str:
    """Returns the reason why nothing can run live; empty if live runs work."""
    try:
        run({**SHORT, "flow": [{**ENDS, "application": {"kind": "bulk", "bytes": 1000}}]}, record=())
    except OSError as error:
        return str(error)
    return ""


def fates(folder: Path | str) -> pa.Table:
    """Reads the log of an emulated path, a row per packet: `path.csv` in the folder of `eifel live hiccup --out`.

    Raises OSError if the log does not exist.
    """
    import pyarrow as pa
    from pyarrow import compute, csv

    words = dict.fromkeys(("dir", "fate"), pa.string())
    times = dict.fromkeys(("t_in", "t_out", "t_due"), pa.timestamp("us", tz="UTC"))
    wide = dict.fromkeys(("seq", "ack", "len", "tsval", "tsecr", "n", "bytes", "segment", "copy", "flow"), pa.int64())
    narrow = dict.fromkeys(("flags", "ipid", "protocol"), pa.int32())
    seconds = dict.fromkeys(times, pa.decimal128(18, 6))
    convert = csv.ConvertOptions(column_types={**words, **seconds, **wide, **narrow}, strings_can_be_null=True)
    table = csv.read_csv(str(Path(folder) / "path.csv"), convert_options=convert)
    for name, kind in times.items():
        place = table.schema.get_field_index(name)
        micros = compute.cast(compute.multiply(table[name], pa.scalar(1_000_000)), pa.int64())
        table = table.set_column(place, name, micros.cast(kind))
    return table
