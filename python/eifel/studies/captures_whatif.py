"""How often the ranges of `eifel whatif` contain the truth, and how often it refuses, on hidden paths."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Row, Setting, Studied
from eifel.papers.study import Effort, Progress, Study
from eifel.runs import Runs
from eifel.statistics import Mean, mean_interval, percent_interval

CROSS = ("none", "transfer", "bursts")
TRIALS = {"none": 80, "transfer": 20, "bursts": 20}
DRAWS = 60
HIDDEN = 10_000
"""The first seed of the hidden paths. The method was developed on seeds below 100."""
# The least share of draws that establishes an order, and the largest difference of goodputs without
# one.
SURE, APART = 0.9, 0.01
DESIGN = {"trials": TRIALS, "draws": DRAWS, "first seed": HIDDEN}


def _find(effort: Effort) -> Mapping[str, Any]:
    """Runs the trials, ten at a time."""
    from eifel import _engine

    parts = [(cross, first) for cross in CROSS for first in range(0, TRIALS[cross], 10)]

    def some(number: int, progress: Progress) -> dict[str, Any]:
        cross, first = parts[number]
        found = []
        for one in range(first, first + 10):
            found.append(json.loads(_engine.whatif_trial(HIDDEN * effort.seed + one, cross, DRAWS)))
            progress(one - first + 1)
        columns: dict[str, Any] = {name: [row[name] for row in found] for name in found[0]}
        return {**columns, "refused": [row["refused"] or "" for row in found], "cross": [cross] * len(found)}

    return effort.parts("hidden paths", {"trials": TRIALS, "draws": DRAWS}, [10] * len(parts), some)


def _measure(_: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    return [_row(runs, np.asarray(runs["cross"]) == cross) for cross in CROSS]


def _row(runs: Runs, mine: NDArray[np.bool_]) -> dict[str, Mean]:
    refused = np.asarray(runs["refused"])[mine] != ""
    low, high, truth = (runs[name][mine][~refused] for name in ("low_bps", "high_bps", "truth_bps"))
    faster, captured = runs["faster"][mine][~refused], runs["captured_bps"][mine][~refused]
    held = (low <= truth) & (truth <= high)
    found = {
        "paths": mean_interval([float(mine.sum())]),
        "refused": percent_interval(int(refused.sum()), len(refused)),
    }
    if len(held):
        found["held"] = percent_interval(int(held.sum()), len(held))
        found["width"] = mean_interval([float(np.median(100 * (high - low) / truth))])
        found["error"] = mean_interval([float(np.median(100 * np.abs(runs["middle_bps"][mine][~refused] / truth - 1)))])
    stated = (np.maximum(faster, 1 - faster) >= SURE) & (np.abs(truth / captured - 1) > APART)
    right = (faster > 0.5) == (truth > captured)
    found["stated"] = mean_interval([float(stated.sum())])
    if stated.any():
        found["order"] = percent_interval(int((stated & right).sum()), int(stated.sum()))
    return found


def _held(measured: Measured, cross: str) -> float:
    low, high = measured.row(cross=cross).means["held"].interval or (0.0, 0.0)
    return high if low <= 90 <= high else measured.mean("held", cross=cross)


ARTEFACT = Artefact(
    id="captures.whatif",
    title="Predictions from one capture, judged on hidden paths",
    source="this project; docs/reference/captures.md",
    columns=(
        Column("paths", "Hidden paths", digits=0),
        Column("refused", "Refused, %", digits=1),
        Column("held", "90 % ranges that hold the truth, %", digits=1),
        Column("width", "Width of a range, % of the truth", digits=1),
        Column("error", "Error of its middle, %", digits=1),
        Column("stated", "Orders stated", digits=0),
        Column("order", "of them right, %", digits=1),
    ),
    rows=tuple(Row({"cross": cross}) for cross in CROSS),
    method=Studied(Study(_find, DESIGN, (_find,)), measure=_measure, long=True),
    fitted=(
        Setting("hidden paths", "crates/whatif/src/trial.rs", "0.5 to 20 Mbit/s, 8 to 280 ms, three links"),
        Setting("draws", str(DRAWS), "seconds a path"),
        Setting("method", "worked out on seeds below 100", "others judge it"),
    ),
    claims=(
        Claim(
            "nine of ten 90 % ranges hold the truth where nothing else uses the path, within the error of their count",
            lambda m: _held(m, "none") >= 90,
        ),
        Claim(
            "with another transfer or with bursts in the queue, most predictions are refused",
            lambda m: all(m.mean("refused", cross=cross) > 50 for cross in ("transfer", "bursts")),
        ),
        Claim(
            "an order of two senders that is stated is right in nine of ten cases",
            lambda m: m.mean("order", cross="none") >= 90,
        ),
    ),
)
