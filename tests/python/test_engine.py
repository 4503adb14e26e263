"""The compiled engine through Python, for which other tests use a fake."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import eifel
import eifel.toml
from eifel import _engine
from eifel.errors import BadInputError
from eifel.papers import artefacts
from eifel.papers.responding import settings
from eifel.result import TABLES
from eifel.sweeps import design

SMALL = settings.slow_link("reno-sack")
CONGESTED = settings.dumbbell("fack", eifel=True, congested=True) | {"duration_s": 20}
ENDLESS = """
duration_s = 1000000
[point_to_point]
rate_bps = 1_000_000_000
delay_ms = 10
[[flow]]
name = "main"
from = "sender"
to = "receiver"
application = { kind = "bulk", endless = true }
"""


def test_every_artefact_has_scenarios_that_are_understood(tmp_path: Path) -> None:
    trace = tmp_path / "t.down"
    trace.write_text("".join(f"{ms}\n" for ms in range(1, 2000, 5)))
    for artefact in artefacts().values():
        for row in artefact.with_traces([trace]).rows if artefact.study is None else ():
            _engine.check(eifel.toml.dumps(row.scenario), "scenario")


def test_summary_and_every_table() -> None:
    result = eifel.run(SMALL)
    assert result.main["completed"]
    assert result.main["bytes"] == 60_000
    assert (result.main["flow"], result.main["from"], result.main["to"]) == ("main", "sender", "receiver")
    assert set(result.tables) == set(TABLES)
    sent = result.of("transmissions")
    assert len(sent) == result.main["segments_sent"]
    assert (sent["kind"] == "retransmission").sum() == result.main["retransmissions"]
    assert ((sent["needed"] == "spurious").sum()) == result.main["spurious_retransmissions"]
    assert result.of("arrivals")["new_bytes"].sum() == 60_000
    assert result.tables["episodes"].column("closed_ns").type == pa.int64()
    assert np.all(np.diff(sent["t_ns"]) >= 0)


def test_columns_are_moved_not_copied() -> None:
    text = eifel.toml.dumps(SMALL)
    run = _engine.run(text, "scenario", 0, ["acks"])
    columns = run.columns()
    assert set(columns) == {"acks"}
    assert columns["acks"]["t_ns"].dtype == np.int64
    assert run.columns() == {}
    assert set(run.categories()) == {"acks.end"}


def test_the_same_seed_gives_the_same_bytes_and_another_does_not() -> None:
    def tables(**how: int) -> dict[str, pa.Table]:
        return eifel.run(CONGESTED, **how).tables

    assert all(tables()[name].equals(other) for name, other in tables().items())
    assert not tables()["transmissions"].equals(tables(seed=2)["transmissions"])
    assert not tables()["transmissions"].equals(tables(repetition=1)["transmissions"])


def test_threads_change_nothing() -> None:
    scenarios = [CONGESTED, SMALL]
    alone = eifel.run_many(scenarios, repetitions=6, threads=1)
    together = eifel.run_many(scenarios, repetitions=6, threads=4)
    assert alone.columns.keys() == together.columns.keys()
    for name in alone.columns:
        assert np.array_equal(alone[name], together[name], equal_nan=alone[name].dtype.kind == "f"), name
    assert alone["scenario"].tolist() == [0] * 12 + [1] * 6
    assert alone["flow"].tolist()[:4] == [0, 1, 0, 1]


def test_many_and_one_agree() -> None:
    many = eifel.run_many([CONGESTED], repetitions=3)
    one = eifel.run(CONGESTED, repetition=2, record=()).main
    row = many.where(flow=0)
    assert row["time_s"][2] == one["time_s"]
    assert row["segments_sent"][2] == one["segments_sent"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed = -1", "seed: "),
        ("sed = 1", "unknown key"),
        ("seed = [", "bad.toml:1"),
        (eifel.toml.dumps(SMALL).replace("eifel-timestamps", "eifel-timestamp"), "eifel-timestamps"),
    ],
)
def test_a_refused_scenario_is_one_line_with_its_place(text: str, message: str) -> None:
    with pytest.raises(_engine.ScenarioError) as caught:
        _engine.check(text, "bad.toml")
    line = str(caught.value)
    assert line.startswith("bad.toml:")
    assert message in line
    assert "\n" not in line
    assert isinstance(caught.value, ValueError)
    assert eifel.ScenarioError is _engine.ScenarioError


def test_unknown_tables_and_nodes_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="packets"):
        eifel.run(SMALL, record=["packets"])
    for asked, message in (({"tables": ["packets"]}, "packets"), ({"captures": ["moon"]}, "moon")):
        with pytest.raises(BadInputError, match=message):
            eifel.record(SMALL, tmp_path / "out", **asked)
        assert not list(tmp_path.iterdir())


def test_the_registry_lists_the_parameters_of_each_algorithm() -> None:
    listed = eifel.algorithms("rto")
    rfc = next(entry for entry in listed if entry["name"] == "rfc6298")
    minimum = next(parameter for parameter in rfc["parameters"] if parameter["name"] == "minimum_ms")
    assert minimum["kind"] == "milliseconds"
    assert minimum["default"] == 1000
    assert {entry["seam"] for entry in eifel.algorithms()} >= {"detect", "respond", "rto", "recover", "congest"}
    json.loads(_engine.schema())


def test_progress_runs_on_the_calling_thread_and_may_stop_the_run() -> None:
    seen: list[int] = []
    eifel.run_many([SMALL], repetitions=1000, progress=lambda done, total: seen.append(done))
    assert seen == sorted(seen)
    assert seen[-1] == 1000
    assert len(seen) <= 210

    def stop(_done: int, _total: int) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        eifel.run_many([SMALL], repetitions=1000, progress=stop)


@pytest.mark.parametrize("repetitions", ["1", "8"])
def test_ctrl_c_ends_a_long_call(tmp_path: Path, repetitions: str) -> None:
    file = tmp_path / "endless.toml"
    file.write_text(ENDLESS)
    command = [sys.executable, "-m", "eifel", "run", str(file), "--repetitions", repetitions]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1.5)
    assert process.poll() is None
    begun = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert errors == "interrupted\n"
    assert time.monotonic() - begun < 5


def test_an_interrupted_reproduce_goes_on_from_there(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "eifel", "reproduce", "responding.table1", "responding.table2"]
    command += ["--repetitions", "4000", "--out", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    finished = tmp_path / "responding.table1" / "manifest.json"
    deadline = time.monotonic() + 120
    while not finished.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert [entry.name for entry in tmp_path.iterdir()] == ["responding.table1"]
    before = finished.stat().st_mtime_ns
    again = [*command[:4], "responding.table1", *command[6:]]
    assert subprocess.run(again, capture_output=True, check=False).returncode == 0
    assert finished.stat().st_mtime_ns == before


@pytest.mark.skipif(
    shutil.which("tshark") is None, reason="SKIPPED: tshark is not installed, so captures were not dissected"
)
@pytest.mark.parametrize("payload", [False, True])
def test_wireshark_opens_a_capture_without_complaint(tmp_path: Path, payload: bool) -> None:
    result = eifel.record(SMALL, tmp_path / "out", tables=(), captures=["sender"], payload=payload)
    with (tmp_path / "out" / "sender.pcapng").open() as file:
        checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
        fields = [
            "-T",
            "fields",
            "-e",
            "frame.number",
            "-e",
            "tcp.len",
            "-e",
            "_ws.malformed",
            "-e",
            "_ws.expert.message",
        ]
        done = subprocess.run(["tshark", "-r", file.name, *checks, *fields], capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert sum(int(row[1]) > 0 for row in rows) == result.main["segments_sent"]
    assert not any(row[2] for row in rows)
    assert not any("checksum" in row[3].lower() for row in rows if len(row) > 3)


def test_python_reads_every_text_that_the_engine_reads(tmp_path: Path) -> None:
    # A byte order mark, and a table over several lines (allowed since TOML 1.1), both before a
    # change.
    text = "\ufeff" + ENDLESS.replace('{ kind = "bulk", endless = true }', '{\n kind = "bulk",\n bytes = 30_000,\n}')
    (tmp_path / "run.toml").write_text(text, encoding="utf-8")
    result = eifel.run(tmp_path / "run.toml", settings={"flow.main.start_s": 1})
    assert (result.summary["main"]["bytes"], result.source.settings["flow"][0]["start_s"]) == (30_000, 1)


def test_errors_in_a_changed_scenario_name_no_line(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(ENDLESS, encoding="utf-8")
    with pytest.raises(eifel.ScenarioError, match=r"run\.toml, as changed: flow\[0\]\.start_s: the number -1 is too"):
        eifel.run(tmp_path / "run.toml", settings={"flow.main.start_s": -1})
    with pytest.raises(eifel.ScenarioError, match=r"^scenario: duration: unknown key; its unit here: duration_s"):
        eifel.run({"duration": 3})


def test_a_scenario_inside_a_sweep_starts_from_the_sweeps_folder(tmp_path: Path) -> None:
    (tmp_path / "link.down").write_text("0\n4\n8\n", encoding="utf-8")
    scenario = ENDLESS.replace("duration_s = 1000000", "duration_s = 1").replace("rate_bps = 1_000_000_000", "TRACE")
    inside = "[scenario]\n" + scenario.replace("[point_to_point]", "[scenario.point_to_point]")
    inside = inside.replace("[[flow]]", "[[scenario.flow]]") + "[product]\nseed_of = [1]\n"
    sweep = tmp_path / "sweep.toml"
    for trace, complaint in [("link", "seed_of: unknown key"), ("none", "sweep.toml: scenario: .* No such file")]:
        sweep.write_text(inside.replace("TRACE", f'trace = "{trace}.down"'), encoding="utf-8")
        with pytest.raises(ValueError, match=complaint):
            design.load(sweep).check()
