"""Sweeps: the meaning of a file, refusals, and results that do not depend on their history."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eifel
from eifel import _engine, sweeps
from eifel.cli import BAD_INPUT, FAILED, OK, main
from eifel.errors import BadInputError
from eifel.sweeps.axis import Draw, parse_axis, parse_draw

SCENARIO = {
    "duration_s": 60,
    "point_to_point": {"rate_bps": 1_000_000, "delay_ms": 50, "loss": {"kind": "random", "rate": 0.01}},
    "flow": [
        {"name": "main", "from": "sender", "to": "receiver", "application": {"kind": "bulk", "bytes": 100_000}},
    ],
}
SWEEP: dict[str, Any] = {
    "title": "test",
    "scenario": SCENARIO,
    "repetitions": 7,
    "shard_runs": 10,
    "case": [
        {"name": "plain", "set": {"flow.main.sender.detect": "none"}},
        {"name": "eifel", "set": {"flow.main.sender.detect": "eifel-timestamps"}},
    ],
    "product": {"point_to_point.delay_ms": [20, 100]},
    "random": {"points": 2, "point_to_point.rate_bps": {"log_uniform": [100_000, 10_000_000], "whole": True}},
}
SWEEP_FILE = """
scenario = "scenario.toml"
repetitions = 40
shard_runs = 5
[product]
"flow.main.sender.recover" = ["reno", "newreno"]
"""


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def written(folder: Path) -> Path:
    (folder / "scenario.toml").write_text(eifel_toml(SCENARIO))
    (folder / "sweep.toml").write_text(SWEEP_FILE)
    return folder / "sweep.toml"


def eifel_toml(document: dict[str, Any]) -> str:
    from eifel import toml

    return toml.dumps(document)


def test_cells_are_cases_times_product_times_points() -> None:
    design = sweeps.load(SWEEP)
    assert (design.cells, design.runs, design.shards) == (8, 56, 6)
    cells = [design.cell(number) for number in range(8)]
    assert [cell.case for cell in cells] == ["plain"] * 4 + ["eifel"] * 4
    assert [cell.settings["point_to_point.delay_ms"] for cell in cells] == [20, 20, 100, 100] * 2
    rates = [cell.settings["point_to_point.rate_bps"] for cell in cells]
    assert rates == rates[:2] * 4 and rates[0] != rates[1]
    assert all(isinstance(rate, int) and 100_000 <= rate <= 10_000_000 for rate in rates)
    assert design.source(cells[5]).settings["flow"][0]["sender"]["detect"] == "eifel-timestamps"


def test_a_sweep_of_numpy_s_values_is_the_same() -> None:
    delays, rates = np.array([20, 100]), np.array([1e5, 1e7])
    drawn = {"points": np.int64(2), "point_to_point.rate_bps": {"log_uniform": rates, "whole": np.bool_(True)}}
    design = sweeps.load({**SWEEP, "product": {"point_to_point.delay_ms": delays}, "random": drawn})
    assert [design.cell(number) for number in range(design.cells)] == [
        sweeps.load(SWEEP).cell(number) for number in range(design.cells)
    ]
    steps = sweeps.load({**SWEEP, "product": {"point_to_point.delay_ms": np.linspace(20, 100, 3)}})
    assert steps.kind("point_to_point.delay_ms") == "float"


def test_another_key_changes_no_other_draw() -> None:
    more = {**SWEEP["random"], "point_to_point.queue": {"choice": [{"kind": "unlimited"}]}}
    plain, richer = sweeps.load(SWEEP), sweeps.load({**SWEEP, "random": more})
    key = "point_to_point.rate_bps"
    assert [plain.cell(n).settings[key] for n in range(8)] == [richer.cell(n).settings[key] for n in range(8)]


def test_compared_cells_meet_the_same_random_numbers_unless_that_is_unwanted() -> None:
    design = sweeps.load(SWEEP)
    assert {design.seed_of(design.cell(n)) for n in range(8)} == {design.seed}
    independent = sweeps.load({**SWEEP, "random_numbers": "independent"})
    assert len({independent.seed_of(independent.cell(n)) for n in range(8)}) == 8


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ([1, "a"], (1, "a")),
        ({"linear": [0, 10], "points": 5}, (0, 2.5, 5.0, 7.5, 10)),
        ({"log": [1, 1000], "points": 4, "whole": True}, (1, 10, 100, 1000)),
        ({"linear": [0, 2], "points": 9, "whole": True}, (0, 1, 2)),
    ],
)
def test_axes(written: Any, values: tuple[Any, ...]) -> None:
    assert parse_axis("key", written, "here").values == pytest.approx(values) if 2.5 in values else values


def test_draws_reach_both_ends() -> None:
    dice = parse_draw("key", {"uniform": [1, 6], "whole": True}, "here")
    assert [dice.value(unit / 12) for unit in range(12)] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]
    assert dice.value(1 - 2**-53) == 6
    assert Draw("key", "log_uniform", (1, 100)).value(0.5) == pytest.approx(10)
    assert Draw("key", "choice", ("a", "b")).value(0.5) == "b"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"repetition": 3}, "repetition: no such key; allowed: title"),
        ({"scenario": 3}, "scenario: 3; expected the name of a scenario file"),
        ({"scenario": "nowhere.toml"}, "nowhere.toml: No such file"),
        ({"repetitions": 0}, "repetitions: 0; expected a whole number from 1"),
        ({"random_numbers": "same"}, "random_numbers: 'same'; allowed: common, independent"),
        ({"product": {"point_to_point.delay_ms": []}}, "product.point_to_point.delay_ms: an empty list"),
        ({"product": {"point_to_point.delay_ms": 5}}, "expected a list of values"),
        ({"product": {"x": {"linear": [2, 1], "points": 2}}}, "expected two numbers, the lower one first"),
        ({"product": {"x": {"log": [0, 1], "points": 2}}}, "expected numbers above 0"),
        ({"product": {"x": {"log": [1, 2], "points": 1}}}, "points: 1; expected a whole number from 2"),
        ({"product": {"x": {"lin": [1, 2], "points": 2}}}, "x.lin: no such key; allowed: linear, log"),
        ({"random": {"points": 5}}, "no key to draw"),
        ({"random": {"x": {"uniform": [0, 1]}}}, "random.points: None; expected"),
        (
            {"random": {"points": 2, "x": {"uniform": [0, 1], "choice": [1]}}},
            "uniform and choice given; expected one of",
        ),
        ({"case": [{"name": "a"}]}, "case 0: expected name (a word) and set"),
        ({"case": [{"name": "a", "set": {}}] * 2}, "case 1: there is another one named 'a'"),
        ({"product": {"flow.main.sender.detect": ["none"]}}, "flow.main.sender.detect is set twice"),
        ({"product": {"seed": [1, 2]}}, "seed cannot be swept"),
        ({"product": {"flow.other.sender.detect": ["none"]}}, "flow.other: no such entry"),
        ({"product": {"flow.main.sender.recover": ["none", "reno"]}}, 'unknown algorithm "none"'),
    ],
)
def test_a_bad_sweep_is_refused_before_anything_runs(
    change: dict[str, Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_engine, "run_many", lambda *_: pytest.fail("something ran"))
    with pytest.raises(BadInputError) as refused:
        eifel.sweep({**SWEEP, **change}, out=tmp_path / "out")
    assert words in str(refused.value) and "\n" not in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_the_bytes_do_not_depend_on_threads_or_interruptions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    eifel.sweep(SWEEP, out=tmp_path / "one", executor=sweeps.Local(1))
    eifel.sweep(SWEEP, out=tmp_path / "two", executor=sweeps.Local(2))
    whole = contents(tmp_path / "one")
    assert len(whole) == 8
    assert contents(tmp_path / "two") == whole

    # Interrupted in the third shard. One shard is truncated, another one is missing.
    done, engine = [], _engine.run_many

    def interrupted(*arguments: Any, **options: Any) -> Any:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(arguments)
        return engine(*arguments, **options)

    monkeypatch.setattr(_engine, "run_many", interrupted)
    with pytest.raises(KeyboardInterrupt):
        eifel.sweep(SWEEP, out=tmp_path / "three")
    monkeypatch.setattr(_engine, "run_many", engine)
    assert len(contents(tmp_path / "three")) == 4
    shard = tmp_path / "three" / "runs-000001.parquet"
    shard.write_bytes(shard.read_bytes()[:-9])
    told: list[tuple[int, int]] = []
    eifel.sweep(SWEEP, out=tmp_path / "three", progress=lambda *numbers: told.append(numbers))
    assert contents(tmp_path / "three") == whole
    assert (told[0], told[-1]) == ((10, 56), (56, 56))
    assert sorted(told) == told


def test_the_table_of_a_sweep_has_the_settings_of_each_run(tmp_path: Path) -> None:
    eifel.sweep(SWEEP, out=tmp_path)
    runs = eifel.load_sweep(tmp_path)
    assert runs.num_rows == 56
    rows = runs.to_pylist()
    assert [(row["cell"], row["repetition"]) for row in rows] == [(cell, one) for cell in range(8) for one in range(7)]
    assert {row["case"] for row in rows if row["cell"] < 4} == {"plain"}
    assert {row["point_to_point.delay_ms"] for row in rows} == {20, 100}
    design = sweeps.load(SWEEP)
    alone = eifel.run(design.source(design.cell(5)), repetition=3, record=()).main
    assert rows[5 * 7 + 3]["time_s"] == alone["time_s"]
    assert {row["error"] for row in rows} == {None}


def test_a_run_that_fails_is_a_row_with_the_command_that_repeats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = _engine.run_many

    def broken(scenarios: Any, ranges: Any, *rest: Any, **options: Any) -> Any:
        # The first repetition of a range that holds it is not run.
        columns, _ = engine(
            scenarios, [(at, max(first, 1), count - (first == 0)) for at, first, count in ranges], *rest
        )
        return columns, [(at, 0, "it broke") for at, first, _ in ranges if first == 0]

    monkeypatch.setattr(_engine, "run_many", broken)
    file = written(tmp_path)
    assert main(["sweep", str(file), "--out", str(tmp_path / "out")]) == FAILED
    told = capsys.readouterr().err
    assert "cell 0, repetition 0 failed: it broke" in told and "2 runs failed" in told
    rows = eifel.load_sweep(tmp_path / "out").to_pylist()
    assert len(rows) == 80
    failed = [row for row in rows if row["error"]]
    assert [(row["cell"], row["repetition"], row["time_s"]) for row in failed] == [(0, 0, None), (1, 0, None)]
    monkeypatch.undo()
    command = failed[1]["reproduce"].split()
    assert command[0] == "eifel"
    import shlex

    assert main([*shlex.split(failed[1]["reproduce"])[1:], "--json"]) == OK
    assert json.loads(capsys.readouterr().out)["flows"][0]["mean"]["completed"] == 1


def test_a_folder_of_another_sweep_is_left_alone(tmp_path: Path) -> None:
    eifel.sweep(SWEEP, out=tmp_path)
    before = contents(tmp_path)
    other = {**SWEEP, "repetitions": 8}
    with pytest.raises(BadInputError, match=r"holds another sweep \(test, engine .*--fresh"):
        eifel.sweep(other, out=tmp_path)
    assert contents(tmp_path) == before
    eifel.sweep(other, out=tmp_path, fresh=True)
    assert eifel.load_sweep(tmp_path).num_rows == 64


def test_a_sweep_runs_nothing_if_its_folder_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["sweep", str(written(tmp_path)), "--out", str(tmp_path / "file" / "out")]) == FAILED
    assert "file/out" in capsys.readouterr().err
    with pytest.raises(BadInputError, match="no sweep here"):
        eifel.load_sweep(tmp_path)


def test_a_full_disk_loses_no_finished_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sync, count = os.fsync, []

    def full(handle: int) -> None:
        count.append(handle)
        # Manifest, checksums, and their folder after each; then each shard, its folder and the
        # checksums.
        if len(count) > 4 + 3 * 3:
            raise OSError(28, "No space left on device")
        sync(handle)

    file, out = written(tmp_path), tmp_path / "out"
    monkeypatch.setattr(os, "fsync", full)
    assert main(["sweep", str(file), "--out", str(out)]) == FAILED
    assert "No space left on device; the same command goes on" in capsys.readouterr().err
    monkeypatch.undo()
    assert sorted(contents(out)) == [f"runs-{number:06}.parquet" for number in range(3)] + [
        "shards.sha256",
        "sweep.json",
    ]
    assert main(["sweep", str(file), "--out", str(out)]) == OK
    assert len(contents(out)) == 18


def test_ctrl_c_of_the_command_and_the_same_command_again(tmp_path: Path) -> None:
    file = written(tmp_path)
    (tmp_path / "sweep.toml").write_text(SWEEP_FILE.replace("repetitions = 40", "repetitions = 100000"))
    command = [sys.executable, "-m", "eifel", "sweep", str(file), "--out", str(tmp_path / "out")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(list(tmp_path.glob("out/runs-*"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130 and b"Traceback" not in told
    there = contents(tmp_path / "out")
    assert 3 < len(there) < 40_000 and not any("partial" in name for name in there)
    (tmp_path / "sweep.toml").write_text(SWEEP_FILE)


def test_the_command_prints_the_size_and_the_means_of_a_sweep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path)
    assert main(["sweep", str(file), "--check"]) == OK
    assert capsys.readouterr().out == "cells 2, repetitions 40, runs 80, shards 16\n"
    out = str(tmp_path / "out")
    assert main(["sweep", str(file), "--out", out, "--json", "--show", "time_s"]) == OK
    told = json.loads(capsys.readouterr().out)
    assert [cell["set"] for cell in told["cells"]] == [
        {"flow.main.sender.recover": name} for name in ("reno", "newreno")
    ]
    low, high = told["cells"][0]["interval95"]["time_s"]
    assert low < told["cells"][0]["mean"]["time_s"] < high
    assert main(["sweep", str(file), "--out", out]) == OK
    assert "recover newreno" in capsys.readouterr().out
    new = tmp_path / "new"
    assert main(["sweep", str(file), "--out", str(new), "--show", "speed"]) == BAD_INPUT
    assert "--show speed: no such number; there is: completed, time_s, " in capsys.readouterr().err
    assert not new.exists(), "refused before anything runs"
    assert main(["sweep", str(tmp_path / "none.toml")]) == BAD_INPUT
    assert "No such file" in capsys.readouterr().err
