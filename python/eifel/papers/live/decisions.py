"""Linux's undo decisions, and those of `detect = "linux"` and `respond = "linux"` about the same packets."""

import csv
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Row, Setting, Studied
from eifel.papers.live import kernel
from eifel.papers.study import Effort, Study
from eifel.runs import Runs
from eifel.statistics import Mean

TITLE = "live.decisions"
DRAWS = 520
"""Drawn recordings: a tenth of them would be of a LAN, and are left out."""
PART = 65
"""The draws whose results are stored together."""
AT_ONCE = 3
CLASSES = (
    "spike",
    "loss",
    "bursts",
    "reorder-by-count",
    "reorder-by-time",
    "copies",
    "ack-loss",
    "overflow",
    "mixed",
)
ALL = "all"
NONE = "none"
NEAR = 2
"""The distance in segments at which two windows count as equal."""
WORDS = ("recording", "class", "congestion", "signal", "kernel", "model", "when")
NUMBERS = ("begins_s", "kernel_cwnd", "model_cwnd")
COLUMNS = (
    Column("episodes", "Episodes", digits=0),
    Column("undone", "undone by the kernel", digits=0),
    Column("alike", "Decided alike %", digits=2),
    Column("kernel_alone", "Undone by the kernel alone", digits=0),
    Column("model_alone", "by the model alone", digits=0),
    Column("other_evidence", "by other evidence", digits=0),
    Column("other_time", "at another time", digits=0),
    Column("windows", "Windows compared", digits=0),
    Column("near", f"within {NEAR} segments %", digits=2),
)


def find(effort: Effort) -> dict[str, NDArray[Any]]:
    """Records and compares, part by part."""
    kept = effort.folder / f"{TITLE}.recordings"

    def part(number: int, _progress: Callable[[int], object]) -> Mapping[str, Any]:
        folder = kept / f"part {number}"
        # Recordings of an interrupted part may be those of another engine.
        shutil.rmtree(folder, ignore_errors=True)
        return rows(folder, number * PART, effort.seed)

    count = DRAWS * effort.repetitions // PART
    return effort.parts(TITLE, {"draws": DRAWS, "part": PART}, [PART] * count, part)


def rows(folder: Path, first: int, seed: int) -> dict[str, NDArray[Any]]:
    """Makes the recordings from number `first` on, and returns a row per episode, and one per refused recording.

    Raises OSError if the system refuses something.
    """
    call = ["decisions", "--first", str(first), "--count", str(PART), "--seed", str(seed), "--at-once", str(AT_ONCE)]
    done = subprocess.run([*kernel.EIFEL, *call, str(folder)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f"eifel live decisions: {done.stderr.strip().splitlines()[-1:]}")
    found: list[Mapping[str, str]] = []
    for path in sorted(folder.glob("*.csv")):
        with path.open() as file:
            found.extend(csv.DictReader(file))
    refused = [{"recording": path.stem, "when": "refused"} for path in sorted(folder.glob("*.refused"))]
    every = [*found, *refused]
    words = {name: np.array([one.get(name, "") for one in every], dtype=str) for name in WORDS}
    return words | {name: np.array([float(one.get(name) or "nan") for one in every]) for name in NUMBERS}


def measure(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    there = {name: np.asarray(runs[name]) for name in runs.columns}
    counted = there["when"] != "refused"
    return [counts(there, counted & _in(there, str(row.keys["paths"]))) for row in artefact.rows]


def _in(there: Mapping[str, NDArray[Any]], paths: str) -> NDArray[np.bool_]:
    return np.full(len(there["class"]), True) if paths == ALL else there["class"] == paths


def counts(there: Mapping[str, NDArray[Any]], keep: NDArray[np.bool_]) -> dict[str, Mean]:
    """Returns the numbers of some of the episodes."""
    own, other, when = (there[name][keep] for name in ("kernel", "model", "when"))
    kernel_cwnd, model_cwnd = there["kernel_cwnd"][keep], there["model_cwnd"][keep]
    compared = np.isfinite(kernel_cwnd) & np.isfinite(model_cwnd)
    near = np.abs(kernel_cwnd - model_cwnd)[compared] <= NEAR
    same = own == other
    found = {
        "episodes": len(own),
        "undone": (own != NONE).sum(),
        "alike": 100 * (same & (when == "same")).mean() if len(own) else np.nan,
        "kernel_alone": (~same & (other == NONE)).sum(),
        "model_alone": (~same & (own == NONE)).sum(),
        "other_evidence": (~same & (own != NONE) & (other != NONE)).sum(),
        "other_time": (same & (when != "same")).sum(),
        "windows": compared.sum(),
        "near": 100 * near.mean() if len(near) else np.nan,
    }
    return {name: Mean(float(value), None, 1) for name, value in found.items() if np.isfinite(value)}


def _of(measured: Measured, column: str) -> float:
    return measured.mean(column, paths=ALL)


ARTEFACT = Artefact(
    id=TITLE,
    title="Linux's undo decisions, and the model's about the same packets",
    source="the kernel of this machine: its counters and tracepoints; `eifel live decisions`",
    columns=COLUMNS,
    rows=tuple(Row({"paths": paths}) for paths in (ALL, *CLASSES)),
    method=Studied(
        Study(find, {"draws": DRAWS, "part": PART, "at_once": AT_ONCE}, (find, rows)),
        measure,
        long=True,
        live=True,
    ),
    claims=(
        Claim("at least 2000 episodes are compared", lambda m: _of(m, "episodes") >= 2000),
        Claim(
            "the model decides as the kernel in 98 of 100: which undo, and when",
            lambda m: _of(m, "alike") >= 98,
        ),
        Claim(
            f"after an undo cwnd differs by at most {NEAR} segments in 95 of 100",
            lambda m: _of(m, "near") >= 95,
        ),
    ),
    fitted=(
        Setting(
            "fates",
            "those of the kernel's own packets: the model gets the packets and loss signals of the recording",
            "in a simulation the two senders' packets would soon differ, and so would their fates",
        ),
        Setting(
            "windows",
            "those of the kernel before each ACK; compared at the next one",
            "so that a difference is one of this undo",
        ),
        Setting("connections", "one in each recording", "counters are those of a network namespace"),
        Setting("close", "by the sender, after the receiver has everything", "the kernel traces ACKs until then"),
    ),
)
