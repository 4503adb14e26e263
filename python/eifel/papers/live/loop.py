"""The loop: a recording beside Linux, the path that it shows, and Linux again over that path, emulated."""

import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.captured_path import CapturedPath, extract_path
from eifel.errors import PathError
from eifel.flows import main_flow
from eifel.papers.artefact import Artefact, Claim, Column, Measured, Row, Setting, Studied, counts
from eifel.papers.live import kernel
from eifel.papers.study import Effort, Study

BYTES = 1_000_000
BUFFER = 250_000
"""The receiver's buffer in bytes. Its window is larger than any path here can fill."""
ROUND_TRIP_MS = 100.0
RATE_BPS = 2_000_000


def path(**more: Any) -> dict[str, Any]:
    """Returns a path of 2 Mbit/s and 100 ms, with these keys of its link changed."""
    flow = main_flow(application={"kind": "bulk", "bytes": BYTES})
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
COLUMNS = (
    Column("rate_bps", "Rate, Mbit/s", scale=1e-6, digits=3),
    Column("base_rtt_ms", "Round trip, ms", digits=1),
    Column("held_s", "Held, s", digits=3),
    *counts("lost", "overtaken", "retransmissions"),
    Column("goodput_bps", "Goodput, Mbit/s", scale=1e-6, digits=3),
)


def find(effort: Effort) -> dict[str, NDArray[Any]]:
    """Runs each path's four stages, with two paths in parallel, since runs mostly wait."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        found = [stage for stages in pool.map(_loop, PATHS) for stage in stages]
    if effort.progress is not None:
        effort.progress(len(found), len(found))
    return {column.name: np.array([one.get(column.name, np.nan) for one in found]) for column in COLUMNS}


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
    seen = shown.found["path"]
    return {
        "rate_bps": seen["rate_bps"],
        "base_rtt_ms": seen["base_rtt_ms"],
        "held_s": sum(hold["end_s"] - sum(hold["start_s"]) / 2 for hold in seen["holds"]),
        "lost": seen["losses"]["at_queue"] + seen["losses"]["random"],
        "overtaken": seen["reordering"]["packets"],
    }


STEADY = tuple(name for name in PATHS if name != CHANGES)
"""The paths that one queue with one rate explains."""


FIRST, AGAIN_SHOWN = (PATH, SHOWN), (LOOPED, AGAIN)
"""Pairs of stages in which the recording of the first shows the second."""
ROUND = (PATH, LOOPED)


def _near(measured: Measured, column: str, stages: tuple[str, str], share: float = 0.0, apart: float = 0.0) -> bool:
    """Returns whether two stages of each steady path differ by at most this share, or by at most this amount."""
    pairs = ([measured.mean(column, path=path, stage=stage) for stage in stages] for path in STEADY)
    return all(abs(one - other) <= max(apart, share * max(one, other)) for one, other in pairs)


def _holds_as_long(measured: Measured) -> bool:
    held = [[measured.mean("held_s", path=path, stage=stage) for stage in STAGES] for path in STEADY]
    return all(max(lengths) - min(lengths) <= ROUND_TRIP_MS / 1e3 for lengths in held)


def _refused(measured: Measured) -> bool:
    return not any(measured.row(path=CHANGES, stage=stage).means for stage in (SHOWN, LOOPED, AGAIN))


ARTEFACT = Artefact(
    id="live.loop",
    title="Recorded, extracted, and put into the box",
    source="the kernel of this machine; `eifel live record`, `eifel analyze --extract-path`, `eifel live hiccup`",
    columns=COLUMNS,
    rows=tuple(Row({"path": path, "stage": stage}) for path in PATHS for stage in STAGES),
    method=Studied(
        Study(find, {"paths": PATHS, "bytes": BYTES}, (kernel, find, _loop, _recorded, _numbers)),
        kernel.measure,
        live=True,
    ),
    claims=(
        Claim(
            "a recording shows the rate and the round trip within 1 %",
            lambda m: all(_near(m, column, FIRST, 0.01) for column in ("rate_bps", "base_rtt_ms")),
        ),
        Claim("and holds as long as they were, to a round trip", _holds_as_long),
        Claim(
            "it shows each packet that the box lost, and each that it let others overtake",
            lambda m: all(_near(m, c, stages) for c in ("lost", "overtaken") for stages in (FIRST, AGAIN_SHOWN)),
        ),
        Claim(
            "of the box with the extracted path it shows that path again, within 1 %",
            lambda m: all(_near(m, column, AGAIN_SHOWN, 0.01) for column in ("rate_bps", "base_rtt_ms")),
        ),
        Claim(
            "over the extracted path Linux is as fast as over the path itself, within 5 %",
            lambda m: _near(m, "goodput_bps", ROUND, 0.05),
        ),
        Claim(
            "and retransmits as many segments, within one or a tenth",
            lambda m: _near(m, "retransmissions", ROUND, 0.10, 1),
        ),
        Claim("a path whose rate changes is refused", _refused),
    ),
    fitted=(
        Setting("paths", "2 Mbit/s, 100 ms", "one impairment each"),
        Setting("sender", "Linux with Reno, else as it is", "the default of some machines paces by its own model"),
    ),
)
