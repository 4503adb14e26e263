"""Runs `live.loop`: records beside Linux, extracts the path, and emulates it for Linux."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eifel.captured_path import CapturedPath, extract_path
from eifel.errors import PathError
from eifel.papers.live import kernel
from eifel.papers.study import Effort

if TYPE_CHECKING:
    from numpy.typing import NDArray

BYTES = 1_000_000
BUFFER = 250_000
"""The receiver's buffer in bytes. Its window is larger than any path here can fill."""
ROUND_TRIP_MS = 100.0
RATE_BPS = 2_000_000


def path(**more: Any) -> dict[str, Any]:
    """Returns a path of 2 Mbit/s and 100 ms, with these keys of its link changed."""
    flow = {"name": "main", "from": "sender", "to": "receiver", "application": {"kind": "bulk", "bytes": BYTES}}
    link = {
        "rate_bps": RATE_BPS,
        "delay_ms": ROUND_TRIP_MS / 2,
        "queue": {"kind": "drop-tail", "packets": 1000},
        # The way back is so fast that an ACK takes no time on it.
        "back": {"rate_bps": "unlimited", "queue": {"kind": "unlimited"}},
    }
    return {"duration_s": 600, "seed": 11, "point_to_point": {**link, **more}, "flow": [flow]}


SPIKE, QUEUE, LOSSES, REORDERING = "a spike", "a full queue", "random losses", "reordering"
CHANGES = "a rate that changes"
HELD_S = {SPIKE: 2.5}
PATHS: Mapping[str, Mapping[str, Any]] = {
    SPIKE: {
        **path(),
        "spike": [{"links": ["bottleneck"], "holds": "arriving", "at": [{"start_s": 2.0, "length_s": HELD_S[SPIKE]}]}],
    },
    QUEUE: path(queue={"kind": "drop-tail", "packets": 20}),
    LOSSES: path(loss={"kind": "random", "rate": 0.01}),
    REORDERING: path(reorder={"rate": 0.01, "length": 5}),
    CHANGES: path(rate_changes=[{"at_s": 2.5, "rate_bps": RATE_BPS // 4}]),
}
PATH, SHOWN, LOOPED, AGAIN = "as it is", "as recorded", "as extracted, in the box", "as recorded there"
STAGES = (PATH, SHOWN, LOOPED, AGAIN)
COLUMNS = ("rate_bps", "base_rtt_ms", "held_s", "lost", "overtaken", "retransmissions", "goodput_bps")


def find(effort: Effort) -> dict[str, NDArray[Any]]:
    """Runs each path's four stages, with two paths in parallel, since runs mostly wait."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        found = [stage for stages in pool.map(_loop, PATHS) for stage in stages]
    if effort.progress is not None:
        effort.progress(len(found), len(found))
    return {name: np.array([one.get(name, np.nan) for one in found]) for name in COLUMNS}


def _loop(name: str) -> list[dict[str, float]]:
    """Runs the loop once. If a recording shows no path, the later stages stay empty."""
    found: list[dict[str, float]] = [{} for _ in STAGES]
    with tempfile.TemporaryDirectory(prefix="eifel-") as place:
        own = {"rate_bps": RATE_BPS, "base_rtt_ms": ROUND_TRIP_MS, "held_s": HELD_S.get(name, 0.0)}
        found[0], shown = _recorded(Path(place) / "first", PATHS[name], own)
        if shown is None:
            return found
        found[1] = _numbers(shown)
        own = {column: found[1][column] for column in ("rate_bps", "base_rtt_ms", "held_s")}
        found[2], shown = _recorded(Path(place) / "second", shown.scenario, own)
        if shown is not None:
            found[3] = _numbers(shown)
    return found


def _recorded(
    folder: Path, scenario: Mapping[str, Any], own: Mapping[str, float]
) -> tuple[dict[str, float], CapturedPath | None]:
    """Returns Linux's behaviour over a path with the known properties `own`, and the path that its recording shows."""
    folder.mkdir()
    sent = kernel.sends(folder, scenario, BYTES, {}, BUFFER)
    try:
        shown = extract_path(folder / "box" / kernel.RECORDED)
    except PathError as refused:
        print(f"live.loop: {folder.parent.name}: {refused}", file=sys.stderr)
        shown = None
    return {**own, **sent}, shown


def _numbers(shown: CapturedPath) -> dict[str, float]:
    """Returns the properties of a path that a recording shows."""
    seen = shown.found["path"]
    return {
        "rate_bps": seen["rate_bps"],
        "base_rtt_ms": seen["base_rtt_ms"],
        "held_s": sum(hold["end_s"] - sum(hold["start_s"]) / 2 for hold in seen["holds"]),
        "lost": seen["losses"]["at_queue"] + seen["losses"]["random"],
        "overtaken": seen["reordering"]["packets"],
    }
