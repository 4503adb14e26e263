"""Daily work: scenario templates, scenarios side by side, scenarios from a pipe."""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pytest

import eifel
from eifel.cli import BAD_INPUT, OK, main
from eifel.cli.new import templates
from eifel.errors import BadInputError
from eifel.statistics import mean_interval
from eifel.sweeps.folder import Folder

SPIKE = str(Path(__file__).parents[2] / "examples" / "spike.toml")
LOSSY = """
seed = 3
repetitions = 6
duration_s = 20
point_to_point = { rate_bps = 2_000_000, delay_ms = 30, loss = { kind = "random", rate = 0.02 } }
[[flow]]
name = "main"
from = "sender"
to = "receiver"
application = { kind = "bulk", bytes = 500_000 }
sender = { recover = "newreno" }
"""
SACK = "flow.main.sender.recover=rfc6675"


@pytest.mark.parametrize("name", templates())
def test_each_scenario_to_begin_with_runs_and_explains_itself(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", name]) == OK
    assert capsys.readouterr().err == f"wrote {name}.toml; eifel run {name}.toml\n"
    text = (tmp_path / f"{name}.toml").read_text()
    assert sum(line.startswith("#") for line in text.splitlines()) >= 3
    assert main(["run", f"{name}.toml", "--repetitions", "2", "--json"]) == OK
    assert all(flow["mean"]["segments_sent"] > 100 for flow in json.loads(capsys.readouterr().out)["flows"])
    (tmp_path / f"{name}.toml").write_text("mine")
    assert main(["new", name]) == BAD_INPUT
    assert "is there already" in capsys.readouterr().err
    assert (tmp_path / f"{name}.toml").read_text() == "mine"
    assert main(["new", name, "--out", "-"]) == OK
    assert capsys.readouterr().out == text and not (tmp_path / "-").exists()


def test_new_lists_the_templates(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new"]) == OK
    shown = capsys.readouterr().out
    assert {"handover", "wifi-reordering", "bottleneck", "requests", "shared-queue"} == set(templates())
    assert all(name in shown for name in templates())
    assert main(["new", "hanover"]) == BAD_INPUT
    assert "new hanover: no such scenario; there is: bottleneck, handover" in capsys.readouterr().err


def test_differences_are_taken_run_by_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "lossy.toml"
    file.write_text(LOSSY)
    assert main(["compare", str(file), "--set", SACK, "--json"]) == OK
    told = json.loads(capsys.readouterr().out)
    assert (told["seed"], told["repetitions"], told["flow"]) == (3, 6, "main")
    assert told["scenarios"] == [str(file), f"{file} with {SACK}"]
    both = [[eifel.run(file, repetition=n, settings=of, record=()).main["time_s"] for n in range(6)]
            for of in ({}, {"flow.main.sender.recover": "rfc6675"})]  # fmt: skip
    time_s = next(one for one in told["numbers"] if one["name"] == "time_s")
    assert time_s["mean"] == pytest.approx([np.mean(of) for of in both])
    differences = np.subtract(both[1], both[0])
    assert time_s["difference"] == [pytest.approx(differences.mean())]
    half = 2.5705818 * differences.std(ddof=1) / np.sqrt(6)
    assert time_s["interval95"][0] == pytest.approx([differences.mean() - half, differences.mean() + half], rel=1e-6)


def test_equal_scenarios_differ_by_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.toml").write_text(LOSSY)
    # The seeds differ; the first one's is used for both.
    (tmp_path / "b.toml").write_text(LOSSY.replace("seed = 3", "seed = 4"))
    files = [str(tmp_path / f"{name}.toml") for name in ("a", "b")]
    plot = tmp_path / "both.svg"
    assert main(["compare", *files, "--plot", str(plot)]) == OK
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:3] == [f"A  {files[0]}", f"B  {files[1]}"]
    rows = [line.split() for line in lines[4:]]
    assert {row[-1] for row in rows} == {"0"}
    assert ["Acknowledged" in plot.read_text(), "/b.toml" in plot.read_text()] == [True, True]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", SPIKE], "with what? expected another scenario, --set KEY.PATH=VALUE or --protocols all"),
        (["compare", SPIKE, "--set", SACK, "--flow", "other"], "no flow other; there is: main"),
        (["compare", SPIKE, SPIKE, "--plot", "x.html"], "expected a name that ends in .png, .svg, .pdf"),
        (["compare", SPIKE, "nowhere.toml"], "nowhere.toml: No such file"),
    ],
)
def test_compare_refuses_bad_arguments(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == BAD_INPUT
    assert words in capsys.readouterr().err


def test_different_seeds_are_not_compared() -> None:
    with pytest.raises(BadInputError, match="scenarios of different seeds"):
        eifel.compare([LOSSY, LOSSY.replace("seed = 3", "seed = 4")], repetitions=2)


def test_a_comparison_shows_itself_under_the_names_given() -> None:
    """With the same seed both meet the same losses, so the difference of equal senders is exactly nothing."""
    found = eifel.compare({"<a>": LOSSY, "slow": LOSSY.replace("delay_ms = 30", "delay_ms = 300")}, repetitions=5)
    lines = repr(found).splitlines()
    assert lines[0].split() == ["flow", "main", "<a>", "slow"]
    slower = found["time_s"]
    assert f"(+{slower.differences[0]} *)" in next(line for line in lines if line.startswith("time_s "))
    assert "&lt;a&gt;" in found._repr_html_() and "<a>" not in found._repr_html_()
    equal = eifel.compare([LOSSY, LOSSY], repetitions=5)["time_s"].cells()
    assert equal == [str(slower.means[0]), f"{slower.means[0]} (+0)"]


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([13.5, 13.78], "13.6 ± 1.8"),
        ([1000, 1200], "1100 ± 1271"),
        ([5], "5"),
        ([2, 2], "2"),
        ([0.001, 0.002], "0.0015 ± 0.0064"),
    ],
)
def test_a_mean_is_shown_with_as_many_digits_as_it_has(values: list[float], shown: str) -> None:
    """By hand: two values lie half their distance from the mean, and Student's t for one degree is 12.706."""
    assert str(mean_interval(values)) == shown


def test_runs_are_frames_of_other_libraries_and_take_settings() -> None:
    runs = eifel.run_many([LOSSY], repetitions=2, settings={"flow.main.application.bytes": 10_000})
    assert runs.to_pandas()["bytes"].tolist() == runs.to_polars()["bytes"].to_list() == [10_000, 10_000]
    told = repr(runs).splitlines()
    assert told[0] == "Runs of 1 scenario, 2 rows, 18 numbers; of some: mean ± half of its 95 % interval"
    assert told[1].split()[:4] == ["scenario", "flow", "time_s", "goodput_bps"]
    assert told[2].split()[:2] == ["0", "0"]


def test_an_analysis_shows_its_headline_and_in_a_notebook_its_summary() -> None:
    held = eifel.analyze(Path(__file__).parents[2] / "crates/capture/tests/faults/ack_at_once_nots.pcap")
    assert repr(held).startswith("Analysis: 6 of 9 retransmissions were needless: ")
    assert held._repr_html_().startswith("<pre>6 of 9 retransmissions")


def test_a_scenario_from_a_pipe() -> None:
    command = [sys.executable, "-m", "eifel", "run", "-", "--repetitions", "1", "--json"]
    done = subprocess.run(command, input=LOSSY, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["flows"][0]["mean"]["bytes"] == 500_000
    done = subprocess.run(command, input="sed = 1", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.startswith("eifel: standard input:1: sed: unknown key")) == (BAD_INPUT, True)


def test_requests_are_shown_with_percentiles_and_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    main(["new", "shared-queue"])
    one = ["shared-queue.toml", "--set", "duration_s=10", "--repetitions", "3"]
    assert main(["run", *one]) == OK
    shown = capsys.readouterr().out
    assert "99 % within" in shown and "request_p99_s" not in shown
    assert shown.split("requests, s")[1].split()[:2] == ["web", "count"]
    assert main(["run", *one, "--json"]) == OK
    flows = {flow["flow"]: flow["mean"] for flow in json.loads(capsys.readouterr().out)["flows"]}
    times = [flows["web"][f"request_{name}_s"] for name in ("p50", "p90", "p99", "longest")]
    assert times == sorted(times) and flows["web"]["requests"] > 5
    assert not any(name.startswith("request") for name in flows["download"])
    queue = 'point_to_point.queue={ kind = "drop-tail", packets = 500 }'
    found = eifel.compare(["shared-queue.toml", eifel.scenario.override(
        eifel.scenario.load("shared-queue.toml"), eifel.scenario.parse_settings([queue]))],
        repetitions=3, flow="web")  # fmt: skip
    slower = found["request_p50_s"].differences[0].interval
    assert slower is not None and slower[0] > 0.2, "one queue for all is some 400 ms longer"
    assert not any(number.name.startswith("request_") for number in eifel.compare([SPIKE], repetitions=1).numbers)


def test_a_sweep_has_the_percentiles_of_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    main(["new", "shared-queue"])
    (tmp_path / "sweep.toml").write_text(
        'scenario = "shared-queue.toml"\nrepetitions = 2\n'
        '[product]\nduration_s = [5]\n"point_to_point.queue.kind" = ["codel", "fq-codel"]\n'
    )
    assert main(["sweep", "sweep.toml", "--out", "out", "--show", "request_p90_s", "--flow", "web"]) == OK
    table = eifel.load_sweep("out")
    of_web = table["flow_name"].to_numpy() == "web"
    times = table["request_p90_s"].to_numpy().astype(float)
    assert (times[of_web] > 0.04).all() and np.isnan(times[~of_web]).all()


def test_a_sweep_shows_itself_in_a_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.toml").write_text(LOSSY)
    (tmp_path / "sweep.toml").write_text(
        'scenario = "a.toml"\nrepetitions = 2\n[product]\n"flow.main.sender.recover" = ["newreno", "rfc6675"]\n'
    )
    shown = eifel.sweep("sweep.toml", out="out")._repr_html_()
    mean = eifel.load_sweep("out").filter(pc.field("cell") == 1)["time_s"].to_numpy().mean()
    assert f"<td>rfc6675</td><td>main</td><td>2</td><td>{mean:.6g}</td>" in shown
    assert shown.count("<tr>") == 3
    assert "no sweep here" in Folder("nowhere")._repr_html_()


@pytest.mark.parametrize("name", [name for name in eifel.__all__ if not name.endswith("Error")])
def test_help_has_an_example_that_is_python(name: str) -> None:
    text = inspect.getdoc(getattr(eifel, name)) or ""
    example = re.search(r"^Example: `(.+)`\.$", text, re.MULTILINE)
    assert example, name
    ast.parse(example[1])
