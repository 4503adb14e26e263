"""The engine on a real network, from Python: a scenario's first flow, on the wire between two namespaces."""

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
"""How the line begins that says what is not run here."""


@dataclass(frozen=True)
class Lateness:
    """How late the box let packets go, in microseconds."""

    median_us: float
    p99_us: float
    max_us: float


@dataclass(frozen=True)
class LiveRun:
    """A run on the wire, recorded as a simulated one is."""

    result: Result
    lateness: Lateness


def run(scenario: scenarios.ScenarioLike | scenarios.Source, *, record: Sequence[str] = TABLES) -> LiveRun:
    """Runs the first flow of a scenario live: two hosts of ours, with the box between the kernels of two namespaces.

    It takes as long as the scenario says. Raises ScenarioError if the scenario is refused, PermissionError without the
    rights for namespaces and TUN devices, OSError for what the system refuses.
    """
    from eifel import _engine

    source = scenarios.load(scenario)
    found, lateness = _engine.live_run(source.text, source.origin, list(record))
    return LiveRun(Result.from_engine(source, 0, found), Lateness(*lateness))


def run_together(many: Sequence[scenarios.ScenarioLike | scenarios.Source]) -> list[LiveRun]:
    """Runs some at once, each in namespaces of its own: slow links wait for time, not for the machine."""
    with ThreadPoolExecutor(max_workers=max(1, len(many))) as pool:
        return list(pool.map(run, many))


@cache
def missing() -> str:
    """What is missing to run anything live; empty if nothing is."""
    try:
        run({**SHORT, "flow": [{**ENDS, "application": {"kind": "bulk", "bytes": 1000}}]}, record=())
    except OSError as error:
        return str(error)
    return ""


def fates(folder: Path | str) -> pa.Table:
    """The log of a box, a row for each packet's fate: `path.csv` of the folder of `eifel live hiccup --out`.

    Raises OSError if it is not there.
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
