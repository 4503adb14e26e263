"""The requests of studies to the engine, and the rows that they compute from invented answers.

Each answer is computed from the scenario's number, the repetition and the flow. Values in wrong
places are thus visible, and long studies take no time.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import golden
from eifel import _engine
from eifel.documents import calibration as page
from eifel.papers import artefacts
from eifel.papers.artefact import Artefact, Repeated, Studied
from eifel.papers.dualrtt import grid
from eifel.papers.responding import calibration, distances, swept
from eifel.papers.study import Effort
from eifel.recommendation import CANDIDATES
from eifel.runs import Runs
from eifel.statistics import Mean
from eifel.studies import (
    captures_protocols,
    captures_tools,
    captures_truth,
    captures_whatif,
    cheating,
    liar_search,
    questions,
)
from test_golden import ALL, digest

NUMBERS = (
    "goodput_bps",
    "time_s",
    "bytes",
    "retransmissions",
    "spurious_timeouts",
    "genuine_timeouts",
    "segments_sent",
)
TOLD: list[tuple[int, int]] = []


class Engine:
    """Answers like `run_many`, and records the digest of every request."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def __call__(
        self,
        many: Sequence[Mapping[str, Any]],
        *,
        repetitions: int = 1,
        threads: int | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> Runs:
        self.asked.append([digest(list(many)), len(many), repetitions, threads])
        if progress is not None:
            progress(1, len(many) * repetitions)
        return made_up(many, repetitions)


def made_up(many: Sequence[Mapping[str, Any]], repetitions: int, more: Iterable[str] = ()) -> Runs:
    places = [
        (number, repetition, flow)
        for number, scenario in enumerate(many)
        for repetition in range(repetitions)
        for flow in range(len(scenario["flow"]))
    ]
    scenario, repetition, flow = (np.array(part) for part in zip(*places, strict=True))
    columns = {"scenario": scenario, "repetition": repetition, "flow": flow}
    for place, name in enumerate(dict.fromkeys((*NUMBERS, *more))):
        own = (31 * scenario + 7 * repetition**2 + 3 * flow + 5 * place) % 101
        columns[name] = 100.0 * (1 + place) + own * (1.0 + place)
    return Runs(columns, [])


@pytest.fixture
def effort(tmp_path: Path) -> Effort:
    TOLD.clear()
    return Effort(5, 3, 2, tmp_path, progress=lambda done, total: TOLD.append((done, total)))


def shown(means: Iterable[Mapping[str, Mean]]) -> dict[str, Any]:
    """Returns for each column the rows that have it, and a summary of its means and intervals."""
    rows = list(means)
    found: dict[str, Any] = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        there = [row.get(name) for row in rows]
        ends = [value.interval or (np.nan, np.nan) if value else (np.nan, np.nan) for value in there]
        found[name] = {
            "mean": golden.summary([np.nan if value is None else value.mean for value in there]),
            "ends": golden.summary(ends),
            "count": golden.summary([0 if value is None else value.count for value in there]),
        }
    return {"rows": len(rows), **found}


def columns_of(found: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: digest(np.asarray(values).tolist()) if np.asarray(values).dtype.kind in "UOb" else golden.summary(values)
        for name, values in found.items()
    }


def measured(artefact: Artefact, found: Mapping[str, Any]) -> dict[str, Any]:
    assert isinstance(artefact.method, Studied)
    return {"columns": columns_of(found), "rows": shown(artefact.method.measure(artefact, Runs(dict(found), [])))}


def check(name: str, artefact: Artefact, effort: Effort, engine: Engine | None = None) -> None:
    assert artefact.study is not None
    found = artefact.study.find(effort)
    asked = [] if engine is None else engine.asked
    golden.check(f"studies/{name}", {**measured(artefact, found), "asked": asked, "told": digest(TOLD)})
    assert len({json.dumps(one) for one in asked}) == len(asked)
    assert all(before <= after for (before, _), (after, _) in itertools.pairwise(TOLD))


OF_RUNS = {
    "detectors.liars": cheating,
    "detectors.liars_repair": cheating,
    "detectors.beside": cheating,
    "detectors.liars_found": liar_search,
    "detectors.liars_fast": liar_search,
    "detectors.liars_sctp": liar_search,
}


@pytest.mark.parametrize("name", OF_RUNS)
def test_a_study_of_liars_puts_each_run_in_its_place(
    name: str, effort: Effort, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, searched = Engine(), []

    def search(text: str, origin: str, runs: int, seed: int, tell: Callable[[int], object]) -> str:
        searched.append([digest(text), origin, runs, seed])
        tell(runs // 2)
        return json.dumps({"liar": f'liar = {{ name = "withheld-ack", hold = {len(searched)} }}\n'})

    monkeypatch.setattr(_engine, "hunt_liars", search)
    monkeypatch.setattr(OF_RUNS[name], "run_many", engine)
    check(name, artefacts()[name], effort, engine)
    golden.check(f"studies/{name}-searched", [digest(searched), len(searched)])


def test_table_1_ranks_the_senders_of_each_cell_by_their_delivery(
    effort: Effort, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine()
    monkeypatch.setattr("eifel.runs.run_many", engine)
    check("spikes.table1", artefacts()["spikes.table1"], effort, engine)


@pytest.mark.parametrize(
    "artefact",
    [one for one in ALL if isinstance(one.method, Repeated) and one.method.measure is not None],
    ids=lambda artefact: artefact.id,
)
def test_rows_are_made_of_their_own_runs(artefact: Artefact) -> None:
    assert isinstance(artefact.method, Repeated) and artefact.method.measure is not None
    runs = made_up([row.scenario for row in artefact.rows], 4, [column.number for column in artefact.columns])
    golden.check(f"studies/{artefact.id}", shown(artefact.method.measure(artefact, runs)))


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Makes a sweep over what the tables leave open, with few settings in each stage."""
    engine = Engine()
    for place, name, value in (
        *((swept, "SAMPLE", 6), (swept, "STEPS", 5), (swept, "FINALISTS", 4), (swept, "CHUNK", 4)),
        *((swept, "SCREEN", 1), (swept, "AGAIN", 2), (swept, "FULL", 3), (distances, "run_many", engine)),
    ):
        monkeypatch.setattr(place, name, value)
    return engine


def test_the_sweep_goes_from_stage_to_stage(few: Engine, effort: Effort) -> None:
    found = swept.find(effort)
    told = digest(TOLD)
    golden.check("studies/swept", {"columns": columns_of(found), "asked": few.asked, "told": told})
    for artefact in (calibration.CALIBRATION, calibration.FRONT):
        golden.check(f"studies/{artefact.id}", measured(artefact, found))


def test_the_stored_sweep_is_the_one_of_the_folder(
    few: Engine, effort: Effort, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Effort] = []
    monkeypatch.setattr(swept, "find", lambda effort: asked.append(effort) or {})
    assert swept.stored() == {} and few.asked == [] and effort.repetitions == 3
    (one,) = asked
    assert (one.seed, one.repetitions, one.threads, one.fresh) == (1, 1, None, False)
    assert str(one.folder) == "out/parts" and one.source == swept.STUDY.source


def test_other_values_come_as_near_as_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine()
    monkeypatch.setattr(page, "run_many", engine)
    changed: list[dict[str, Any]] = []
    found = page.nearness(changed.append, 4)
    assert len(changed) == len(page.rows()) and engine.asked[0][1:] == [len(changed), 4, None]
    shown_means = golden.summary([list(row.values()) for row in found.means])
    golden.check("studies/nearness", [found.distance, dict(found.within), sum(found.within.values()), shown_means])


@pytest.mark.parametrize("name", ["dualrtt.table5", "dualrtt.model", "dualrtt.figure7", "dualrtt.figure9"])
def test_spikes_are_counted_by_path_and_threshold(name: str, effort: Effort, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def swept_runs(self: Effort, design: Mapping[str, Any]) -> pa.Table:
        asked.append([digest(design), len(design["case"]), self.repetitions])
        cell, repetition = (part.ravel() for part in np.indices((len(design["case"]), self.repetitions)))
        mixed = (cell * 2654435761 + repetition * 40503 + 12345) % 1009
        # The faster the link, the fewer spikes are found; on the fastest none is.
        rate = cell // 8 % len(grid.RATES_BPS)
        found = {"detected_spurious": mixed % 7 > rate, "spurious_timeouts": mixed % 5 > rate - 1}
        return pa.table({"cell": cell, "repetition": repetition, **{n: v.astype(int) for n, v in found.items()}})

    monkeypatch.setattr(Effort, "sweep", swept_runs)
    artefact = artefacts()[name]
    assert artefact.study is not None
    golden.check(f"studies/{name}", {**measured(artefact, artefact.study.find(effort)), "asked": asked})


def test_captures_are_judged_where_they_were_made(effort: Effort, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captures_truth, "TRANSFERS", {"plain": 6, "wild": 4})
    monkeypatch.setattr(captures_truth, "AT_A_TIME", 2)
    captured = _engine.captured

    def sometimes(seed: int, wild: bool) -> Any:
        if seed % 4 == 1:
            raise _engine.CaptureError("it never came to rest")
        return captured(seed, wild)

    monkeypatch.setattr(_engine, "captured", sometimes)
    check("captures.truth", captures_truth.ARTEFACT, effort)


def test_captures_are_shown_to_each_tool(effort: Effort, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captures_tools, "TRANSFERS", 4)
    monkeypatch.setattr(captures_tools, "AT_A_TIME", 2)
    monkeypatch.setattr("eifel.studies.captures_tools.installed", lambda: ["eifel"])
    monkeypatch.setattr(captures_tools, "installed", lambda: ["eifel"])
    check("captures.tools", captures_tools.ARTEFACT, effort)


def test_predictions_are_judged_by_the_other_traffic_on_the_path(
    effort: Effort, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def trial(seed: int, cross: str, draws: int) -> str:
        asked.append([seed, cross, draws])
        number = len(asked)
        truth = 1000.0 + number
        low, high = truth - (number * 7) % 10 + 2, truth + (number * 3) % 11 - 2
        # The trials cover all cases: sure or not, far apart or not, right or not.
        captured = truth * (1.05, 0.93, 1.004)[number % 3]
        faster = (0.02, 0.5, 0.95, 0.9, 0.1)[number % 5]
        refused = "not one queue" if (number * (2 if cross == "none" else 5)) % 7 < 2 else None
        found = {"low_bps": low, "high_bps": high, "middle_bps": (low + high) / 2, "truth_bps": truth}
        return json.dumps({"refused": refused, **found, "faster": faster, "captured_bps": captured})

    monkeypatch.setattr(_engine, "whatif_trial", trial)
    check("captures.whatif", captures_whatif.ARTEFACT, effort)
    assert len(asked) == sum(captures_whatif.TRIALS.values())
    golden.check("studies/captures.whatif-asked", digest(asked))


def test_protocols_are_judged_on_the_paths_that_are_not_refused(
    effort: Effort, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def judged(seed: int) -> dict[str, Any]:
        asked.append(seed)
        number = len(asked)
        delivers = {name: 1000.0 + (number * (place + 3)) % 17 for place, name in enumerate(CANDIDATES)}
        refused = "" if number % 4 else "not one queue"
        return {"refused": refused, "advised": "" if refused else CANDIDATES[number % len(CANDIDATES)], **delivers}

    monkeypatch.setattr(captures_protocols, "judged", judged)
    check("captures.protocols", captures_protocols.ARTEFACT, effort)
    first = captures_protocols.HIDDEN * effort.seed
    assert asked == [*range(first, first + captures_protocols.PATHS)]


def test_without_a_prediction_no_range_holds_the_truth() -> None:
    columns = {name: np.ones(2) for name in ("low_bps", "high_bps", "middle_bps", "truth_bps", "captured_bps")}
    runs = Runs({**columns, "faster": np.zeros(2), "refused": np.array(["so", "so"])}, [])
    found = captures_whatif._row(runs, np.ones(2, bool))
    assert found["refused"].mean == 100 and found["stated"].mean == 0
    assert not {"width", "error", "order"} & found.keys()


def test_small_worlds_are_asked_for_one_after_another(effort: Effort, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def each(scenario: Any, responds: Sequence[str], **how: Any) -> dict[str, Any]:
        how.pop("progress")(3, 4)
        asked.append([digest(scenario), list(responds), how])
        return {
            respond: SimpleNamespace(
                counts={"worlds": 100 * len(asked) + place},
                caught=10 * len(asked) + place,
                failed={name: SimpleNamespace(worlds=len(asked) + n) for n, name in enumerate(questions.FAILURES)},
            )
            for place, respond in enumerate(responds)
        }

    monkeypatch.setattr(questions, "small_worlds_each", each)
    check("detectors.small_worlds", artefacts()["detectors.small_worlds"], effort)
    golden.check("studies/detectors.small_worlds-asked", asked)
    assert TOLD[-1][1] == sum(len(responds) * 16**questions.SEGMENTS for _, responds, _ in asked)
