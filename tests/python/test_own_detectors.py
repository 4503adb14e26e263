"""Detectors that are classes of Python: the same as the registry's, in runs, searches, worlds and captures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eifel
from eifel import _engine, batches, cli, detectors
from eifel.errors import BadInputError
from eifel.hunts import part, wrong
from eifel.runs import run
from eifel.scenario import load, override
from own_detectors import SAME, Broken, Failing, FRto, MinRtt, Timestamps

SPIKE = Path(__file__).parents[2] / "examples" / "spike.toml"
DRAWN = int(os.environ.get("EIFEL_DRAWN", "24"))
"""The drawn runs in which each class is compared with the registry's algorithm."""
LOSSY: dict[str, Any] = {
    "duration_s": 20,
    "point_to_point": {"rate_bps": 2_000_000, "delay_ms": 40, "loss": {"kind": "random", "rate": 0.02}},
    "flow": [
        {
            "name": "main",
            "from": "sender",
            "to": "receiver",
            "application": {"kind": "bulk", "bytes": 600_000},
            "sender": {"detect": "none"},
        }
    ],
}


def test_classes_act_as_the_same_detectors_of_the_registry_segment_by_segment() -> None:
    judged = dict.fromkeys(SAME, 0)
    for seed in range(DRAWN):
        drawn = load(_engine.captured(seed)[0])
        for name, of_registry in SAME.items():
            try:
                ours, theirs = (
                    run(override(drawn, {f"flow.{number}.sender.detect": one for number in range(len(drawn.flows))}))
                    for one in (name, of_registry)
                )
            except eifel.ScenarioError as error:
                # The drawn ends lack what it needs.
                assert "is blind without" in str(error), error
                continue
            assert ours.flows == theirs.flows, (seed, name)
            for table in ("transmissions", "arrivals", "acks", "drops", "window", "timer", "spikes"):
                assert ours.tables[table].equals(theirs.tables[table]), (seed, name, table)
            for table in ("episodes", "verdicts"):
                mine, known = ours.frame(table), theirs.frame(table)
                for column in mine:
                    if column != "detector":
                        assert np.array_equal(mine[column], known[column]), (seed, name, table, column)
            judged[name] += len(ours.frame("verdicts"))
    # Otherwise the drawn runs would compare nothing.
    assert all(count > DRAWN / 4 for count in judged.values()), judged


def test_a_class_is_given_by_object_by_name_and_with_parameters() -> None:
    key = "flow.main.sender.detect"
    by_name = eifel.run(SPIKE, settings={key: "own_detectors:MinRtt"})
    assert eifel.run(SPIKE, settings={key: MinRtt}).flows == by_name.flows
    assert eifel.run(SPIKE, settings={key: MinRtt()}).flows == by_name.flows
    half = eifel.run(SPIKE, settings={key: MinRtt(half_srtt=True)})
    assert half.source.settings["flow"][0]["sender"]["detect"] == {"name": "own_detectors:MinRtt", "half_srtt": True}
    assert half.flows == eifel.run(SPIKE, settings={key: {"name": "min-rtt", "limit": "half-srtt"}}).flows


def test_a_class_of_a_function_runs_in_processes_and_gives_the_same_for_any_number_of_them() -> None:
    class Mine(MinRtt):
        """A class that no import finds."""

    scenario = override(load(SPIKE), {"flow.main.sender.detect": Mine})
    alone, two = (eifel.run_many([scenario], repetitions=20, threads=threads) for threads in (1, 2))
    plain = eifel.run_many([SPIKE], repetitions=20, settings={"flow.main.sender.detect": "min-rtt"})
    for name in plain.columns:
        assert np.array_equal(alone[name], two[name])
        assert np.array_equal(alone[name], plain[name]), name


def test_the_command_runs_repetitions_of_a_class_in_processes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(Path(__file__).parent)
    pools: list[int] = []

    class Counted(batches.ProcessPoolExecutor):
        def __init__(self, count: int, **more: Any) -> None:
            pools.append(count)
            super().__init__(count, **more)

    monkeypatch.setattr(batches, "ProcessPoolExecutor", Counted)
    command = ["run", str(SPIKE), "--repetitions", "5", "--json"]
    known = ['flow.main.sender.detect="min-rtt"', 'flow.main.sender.observers=["dsack"]']
    for more, keys in (([], known[:1]), (["-v"], known[:1]), ([], known)):
        told = []
        classed = [key.replace("min-rtt", "own_detectors:MinRtt") for key in keys]
        for of, jobs in ((keys, "1"), (classed, "1"), (classed, "2")):
            pools.clear()
            assert cli.main([*command, *more, "--jobs", jobs, *(f"--set={key}" for key in of)]) == 0
            told.append(capsys.readouterr().out.replace("own_detectors:MinRtt", "min-rtt"))
            assert pools == ([2] if (of, jobs) == (classed, "2") else [])
        assert told[0] == told[1] == told[2]
    for jobs in ("1", "2"):
        asked = [*command, "--jobs", jobs, '--set=flow.main.sender.detect="own_detectors:Failing"']
        assert cli.main(asked) == 1
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and "own_detectors.py" in said and ": repetition " in said


@pytest.mark.parametrize(
    ("detect", "expected"),
    [
        (Failing, 'own_detectors.py:{line}: AttributeError: a fact of kind "retransmitted" has no cumulative'),
        (Broken, "own_detectors.py:{line}: TypeError: observe returned 7; expected None"),
    ],
)
def test_an_error_names_its_line_and_the_fact(detect: type[eifel.Detector], expected: str) -> None:
    # What observe returned is found to be wrong after its last line, so its first line is named.
    line = detect.observe.__code__.co_firstlineno + (detect is Failing)
    settings = {"flow.main.sender.detect": detect}
    with pytest.raises(eifel.RunError, match=r"spike\.toml: repetition 0: ") as caught:
        eifel.run(SPIKE, settings=settings)
    text = str(caught.value)
    assert expected.format(line=line) in text
    assert "\n" not in text
    assert "(during " in text
    assert text.endswith(" s)")
    with pytest.raises(eifel.RunError, match=r"repetition 0: .*own_detectors\.py"):
        eifel.run_many([SPIKE], repetitions=2, settings=settings)


def test_a_reason_that_is_not_a_fixed_sentence_is_refused() -> None:
    class Wordy(eifel.Detector):
        """Gives another reason for each ACK."""

        every_ack = True

        def observe(self, fact: Any, view: Any) -> Any:
            return self.genuine(f"at {view.now_ns}") if fact.kind == "acked" else None

    with pytest.raises(eifel.RunError, match=r"is the reason number 101; a reason is a fixed sentence"):
        eifel.run(SPIKE, settings={"flow.main.sender.detect": Wordy})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nowhere_at_all:Mine", "cannot import nowhere_at_all"),
        ("own_detectors:Nobody", "own_detectors has no Nobody"),
        ("math:sin", "not a subclass of eifel.Detector"),
        ("eifel:Detector", "does not define observe"),
        ("own_detectors:SAME", "not a subclass of eifel.Detector"),
    ],
)
def test_a_name_that_is_no_detector_is_refused_with_its_place(name: str, expected: str) -> None:
    with pytest.raises(eifel.ScenarioError, match=r"sender\.detect") as caught:
        eifel.run(SPIKE, settings={"flow.main.sender.detect": name})
    assert expected in str(caught.value)


def test_parameters_without_a_usable_default_and_needs_that_do_not_exist_are_refused() -> None:
    class Without(MinRtt):
        def __init__(self, share: float = 0.5) -> None:
            super().__init__()

    class Wanting(MinRtt):
        needs = "luck"  # type: ignore[assignment]

    for one, expected in ((Without, "parameter share needs a default"), (Wanting, "needs = 'luck'; allowed")):
        with pytest.raises(BadInputError, match=expected):
            detectors.describe(detectors.name_of(one), "detect")
        with pytest.raises(eifel.ScenarioError, match=expected):
            eifel.run(SPIKE, settings={"flow.main.sender.detect": one})


def test_a_detector_that_needs_timestamps_is_refused_where_there_are_none() -> None:
    settings = {"flow.main.sender.detect": Timestamps, "flow.main.tcp.timestamps": False}
    with pytest.raises(eifel.ScenarioError, match="own_detectors:Timestamps is blind without timestamps"):
        eifel.run(SPIKE, settings=settings)


def test_only_facts_have_what_they_have_and_the_view_is_filled_by_the_engine() -> None:
    seen: dict[str, Any] = {}

    class Watching(eifel.Detector):
        """Keeps what it sees of the first fact of each kind."""

        every_ack = True

        def observe(self, fact: Any, view: Any) -> None:
            names = [name for name in dir(fact) if not name.startswith("_")]
            got = {}
            for name in names:
                try:
                    got[name] = getattr(fact, name)
                except AttributeError as error:
                    assert f"has no {name}" in str(error)
            seen.setdefault(fact.kind, {**got, "now_ns": view.now_ns, "una": view.una, "text": repr(fact)})

    eifel.run(SPIKE, settings={"flow.main.sender.observers": [Watching]})
    assert set(seen) == {"retransmitted", "acked"}
    again = seen["retransmitted"]
    assert {"start", "end", "cause", "copy", "opens", "tsval", "original_tsval", "tx"} <= set(again)
    assert (again["cause"], again["opens"], again["copy"], again["start"]) == ("timeout", True, 1, again["una"])
    assert again["text"] == (
        f"retransmission of {again['start']} to {again['end']} after a timeout, which opens the episode"
    )
    assert {"cumulative", "acked_bytes", "sacks", "dsacks", "tsecr", "echo_age_ns"} <= set(seen["acked"])
    assert "refusal" not in seen["acked"]


def test_an_observer_changes_nothing_and_quiet_acks_are_not_shown() -> None:
    shown: list[str] = []

    class Counting(eifel.Detector):
        """Counts facts, and judges at the first ACK."""

        def observe(self, fact: Any, view: Any) -> Any:
            shown.append(fact.kind)
            return self.genuine("seen") if fact.kind == "acked" else None

    watched = eifel.run(SPIKE, settings={"flow.main.sender.observers": [Counting]})
    plain = eifel.run(SPIKE)
    assert watched.flows == plain.flows
    assert watched.tables["transmissions"].equals(plain.tables["transmissions"])
    # Before the spike there are a hundred ACKs of new data.
    assert shown[0] == "retransmitted"
    assert len(shown) < 60


def test_small_worlds_follow_a_class_along_every_course() -> None:
    counted = [
        eifel.small_worlds(override(load(SPIKE), {"flow.main.sender.detect": one}), segments=2).counts
        for one in ("own_detectors:FRto", "f-rto-sack")
    ]
    assert counted[0] == counted[1]


def test_a_hunt_judges_a_class_like_the_same_detector_of_the_registry() -> None:
    ours, theirs = (part(wrong(name), 12, 5, 2) for name in ("own_detectors:MinRtt", "min-rtt"))
    for one in (ours, theirs):
        one["worst"].pop("scenario")
        for found in one["against"]:
            found.pop("scenario")
    assert ours == theirs
    assert "own_detectors" in wrong("own_detectors:MinRtt").name
    assert wrong("own_detectors:MinRtt").digest(1) != wrong("min-rtt").digest(1)


def test_detectors_are_judged_by_the_oracle_over_runs() -> None:
    lossy = {**LOSSY, "spike": [{"links": ["bottleneck"], "holds": "arriving", "at": [{"start_s": 2.0, "end_s": 5.0}]}]}
    judged = eifel.judge([lossy], Timestamps, MinRtt(half_srtt=True), FRto, "eifel-timestamps", repetitions=3)
    names = [score.name for score in judged.scores]
    assert names == ["Timestamps", "MinRtt(half_srtt=True)", "FRto", "eifel-timestamps"]
    assert len({(score.spurious, score.genuine) for score in judged.scores}) == 1
    assert judged["Timestamps"].genuine > 3
    assert judged["Timestamps"].found == judged["eifel-timestamps"].found > 0
    assert judged["Timestamps"].false == 0
    assert "of" in repr(judged)
    assert "<table>" in judged._repr_html_()
    assert judged.episodes.num_rows == 4 * (judged.scores[0].spurious + judged.scores[0].genuine)
    assert judged.plot(columns=1).get_figwidth() == pytest.approx(3.4)
    results = [eifel.run(lossy, repetition=number) for number in range(3)]
    assert eifel.judge(results, Timestamps).scores[0].found == judged["Timestamps"].found
    with pytest.raises(BadInputError, match="no detector"):
        eifel.judge(lossy)


def test_detectors_are_judged_over_captures_by_the_analysers_verdicts(tmp_path: Path) -> None:
    files = []
    for seed in range(12):
        place, content, _ = _engine.captured(seed)[1][0]
        file = tmp_path / f"{seed}.{place}.pcapng"
        file.write_bytes(content)
        files.append(file)
    judged = eifel.judge(files, FRto, "f-rto-sack", MinRtt)
    ours, _, early = judged.scores
    assert ours.spurious + ours.genuine > 20
    assert early.spurious == ours.spurious
    # Nothing of it stays for the next analysis.
    told = eifel.analyze(files[0]).report["retransmissions"]
    assert all(":" not in one["detector"] for row in told for one in row["first_told"])
    with pytest.raises(BadInputError, match="different truths"):
        eifel.judge([files[0], SPIKE], MinRtt)
    with pytest.raises(eifel.RunError, match=r"own_detectors\.py"):
        eifel.judge(files, Failing)


def test_many_runs_are_recorded_stored_and_resumed(tmp_path: Path) -> None:
    out = tmp_path / "runs"
    asked: dict[str, Any] = {"repetitions": 20, "record": ["episodes"]}
    many = {"none": LOSSY, "mine": override(load(LOSSY), {"flow.main.sender.detect": "own_detectors:Timestamps"})}
    first = eifel.run_many(many, out=out, **asked)
    plain = eifel.run_many({"none": LOSSY}, repetitions=20)
    assert np.array_equal(first.where("none")["retransmissions"], plain["retransmissions"])
    assert first.tables["episodes"].column_names[:2] == ["scenario", "repetition"]
    assert "mine" in repr(first)
    assert list(first.to_pandas().columns[:2]) == ["name", "scenario"]
    before = {file: file.stat().st_mtime_ns for file in out.iterdir()}
    removed = sorted(out.glob("summary-*"))[1]
    removed.unlink()
    told: list[tuple[int, int]] = []
    again = eifel.run_many(many, out=out, progress=lambda *done: told.append(done), **asked)
    assert told == [(40, 40)]
    for name in first.columns:
        assert np.array_equal(first[name], again[name]), name
    assert again.tables["episodes"].equals(first.tables["episodes"])
    kept = [file for file, when in before.items() if file.stat().st_mtime_ns == when and file.name != "runs.json"]
    assert len(kept) == len(before) - 3
    with pytest.raises(BadInputError, match="holds other runs"):
        eifel.run_many(many, out=out, repetitions=4)
    with pytest.raises(BadInputError, match="no scenario third; there is: none, mine"):
        first.where("third")
