"""How good a protocol is that is advised for the path which one capture shows, on hidden paths."""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Row, Setting, Studied
from eifel.papers.study import Effort, Progress, Study
from eifel.recommendation import CANDIDATES
from eifel.runs import Runs
from eifel.statistics import Mean, mean_interval, percent_interval

PATHS, PART = 120, 10
HIDDEN = 30_000
"""The first seed of the hidden paths. The study was written with seeds from 5000 on."""
ADVISED = "advised"
SENDER = "left1"
NEAR = 1.0
"""In percent: a protocol that delivers so much less than the best is as good."""


def _goodput(path: Mapping[str, Any]) -> dict[str, float]:
    """Returns what each protocol delivers over a path, in bit/s."""
    from eifel import protocols, run

    return {name: float(run(one, record=()).main["goodput_bps"]) for name, one in protocols(path).items()}


def judged(seed: int) -> dict[str, Any]:
    """Returns which protocol a capture over a hidden path advises, or why none, and what each delivers there."""
    from eifel import _engine, extract_path
    from eifel.recording import Wanted, capture
    from eifel.scenario import load

    hidden = json.loads(_engine.whatif_hidden(seed))
    refused, advised = "", ""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "sender.pcapng"
        capture(load(hidden), SENDER, file, Wanted())
        try:
            path = extract_path(file)
        except ValueError as error:
            refused = str(error)
        else:
            refused = path.refused or ""
    if not refused:
        predicted = _goodput(path.scenario)
        advised = max(predicted, key=predicted.__getitem__)
    return {"refused": refused, ADVISED: advised, **_goodput(hidden)}


def _find(effort: Effort) -> Mapping[str, Any]:
    """Judges the hidden paths, ten at a time."""

    def some(number: int, progress: Progress) -> dict[str, Any]:
        found = []
        for one in range(PART):
            found.append(judged(HIDDEN * effort.seed + PART * number + one))
            progress(one + 1)
        return {name: [row[name] for row in found] for name in found[0]}

    return effort.parts("protocols on hidden paths", {"paths": PATHS}, [PART] * (PATHS // PART), some)


def _less(runs: Runs, protocol: str, paths: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Returns by how many percent a protocol, or the advised one, delivers less than the best, by path."""
    each = {name: np.asarray(runs[name], np.float64)[paths] for name in CANDIDATES}
    best = np.max(list(each.values()), axis=0)
    names = np.asarray(runs[ADVISED])[paths] if protocol == ADVISED else [protocol] * int(paths.sum())
    chosen = np.array([each[name][number] for number, name in enumerate(names)])
    less: NDArray[np.float64] = 100 - 100 * chosen / best
    return less


def _measure(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    refused = np.asarray(runs["refused"]) != ""
    rows = []
    for row in artefact.rows:
        less = _less(runs, str(row.keys["protocol"]), ~refused)
        rows.append(
            {
                "near": percent_interval(int((less <= NEAR).sum()), len(less)),
                "less": mean_interval(less),
                "worst": mean_interval([float(less.max())]),
            }
        )
    rows[0]["refused"] = percent_interval(int(refused.sum()), len(refused))
    return rows


def _advised(measured: Measured, column: str) -> float:
    return measured.mean(column, protocol=ADVISED)


ARTEFACT = Artefact(
    id="captures.protocols",
    title="A protocol advised for the path that one capture shows, judged on hidden paths",
    source="this project; docs/researcher.md",
    columns=(
        Column("near", f"Within {NEAR:g} % of the best, % of the paths", digits=1),
        Column("less", "Less than the best, %", digits=2),
        Column("worst", "... at most", digits=1),
        Column("refused", "Paths without advice, %", digits=1),
    ),
    rows=tuple(Row({"protocol": name}) for name in (ADVISED, *CANDIDATES)),
    method=Studied(Study(_find, {"paths": PATHS, "first seed": HIDDEN}, (_find, judged)), measure=_measure, long=True),
    fitted=(
        Setting("hidden paths", "crates/whatif/src/trial.rs", "0.5 to 20 Mbit/s, 8 to 280 ms, three links"),
        Setting(
            "captured",
            "one transfer, at its sender: TCP with an algorithm that is drawn",
            "what an engineer has; the advice knows the path from nothing else",
        ),
        Setting(
            "truth", "each protocol over the hidden path itself, with its spikes and draws", "what was to be predicted"
        ),
    ),
    claims=(
        Claim(
            f"the advised protocol is within {NEAR:g} % of the best on four of five paths",
            lambda m: _advised(m, "near") >= 80,
        ),
        Claim(
            "it delivers less below the best, in the mean, than any protocol that is always used",
            lambda m: all(_advised(m, "less") < m.mean("less", protocol=name) for name in CANDIDATES),
        ),
        Claim(
            "advice is given for half of the paths or more",
            lambda m: _advised(m, "refused") <= 50,
        ),
    ),
)
