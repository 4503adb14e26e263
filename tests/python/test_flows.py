"""Repeated flows of a scenario are flows with their own names and numbers, wherever numbers are shown."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import eifel
from eifel.cli import BAD_INPUT, OK, main
from eifel.cli.flows import GAP, Flows, fitted
from eifel.cli.output import number, progress
from eifel.flows import Flow, flows_of
from eifel.papers.artefact import Artefact, Column, Row, means_of
from eifel.statistics import Mean

EXAMPLE = Path(__file__).parents[2] / "examples" / "request-response.toml"
CLIENTS = [f"client{number}" for number in range(1, 11)]


def clients(count: int, *, requests: int = 2) -> dict[str, Any]:
    """Returns clients that begin one after another, and one more flow that is no client."""
    answer = {"kind": "request-response", "requests": requests, "request_bytes": 300, "response_bytes": 5000}
    ends = {"from": "left#", "to": "right#"}
    return {
        "duration_s": 20,
        "seed": 5,
        "dumbbell": {
            "left": count,
            "right": count,
            "bottleneck": {"rate_bps": 1_000_000, "delay_ms": 10},
            "access": {"rate_bps": "unlimited", "delay_ms": 1},
        },
        "flow": [
            {"name": "first", "from": "left1", "to": "right1", "application": {"kind": "bulk", "bytes": 50_000}},
            {"name": "client#", "repeat": count, **ends, "start_s": {"exponential": 0.5}, "application": answer},
        ],
    }


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["run", *arguments, "--json"]) == OK
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_flows_are_counted_as_the_engine_counts_them() -> None:
    settings = clients(3)
    names = [flow["flow"] for flow in eifel.run(settings, record=()).flows]
    assert [flow.name for flow in flows_of(settings)] == names == ["first", "client1", "client2", "client3"]
    assert flows_of(settings)[2] == Flow("client2", "left2", "right2", "client#")
    assert flows_of(settings)[0] == Flow("first", "left1", "right1")


def test_the_shipped_example_shows_each_of_its_flows(capsys: pytest.CaptureFixture[str]) -> None:
    many = told(capsys, str(EXAMPLE), "--repetitions", "2")
    assert [flow["flow"] for flow in many["flows"]] == [*CLIENTS, "bursts"]
    assert [flow["from"] for flow in many["flows"]] == [*(f"left{n}" for n in range(1, 11)), "left1"]
    both = [eifel.run(EXAMPLE, repetition=repetition, record=()).summary for repetition in (0, 1)]
    for flow in many["flows"]:
        for name in ("time_s", "segments_sent", "goodput_bps"):
            assert flow["mean"][name] == pytest.approx(np.mean([of[flow["flow"]][name] for of in both])), flow["flow"]
    bursts = next(flow for flow in many["flows"] if flow["flow"] == "bursts")
    assert bursts["mean"]["completed"] == 0 and bursts["mean"]["segments_sent"] > 1700


def test_one_repetition_has_the_shape_of_several(capsys: pytest.CaptureFixture[str]) -> None:
    one = told(capsys, str(EXAMPLE), "--repetitions", "1")
    two = told(capsys, str(EXAMPLE), "--repetitions", "2")

    def shape(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: shape(inner) for key, inner in value.items() if key != "interval95"}
        return [shape(inner) for inner in value] if isinstance(value, list) else type(value)

    assert shape(one) == shape(two)
    assert set(one["flows"][0]["interval95"].values()) == {None}
    assert two["flows"][0]["interval95"].keys() == one["flows"][0]["mean"].keys()
    assert (one["repetitions"], two["repetitions"]) == (1, 2)


def test_a_table_of_means_finds_a_flow_behind_repeated_ones() -> None:
    settings = clients(3)
    settings["flow"].append(
        {"name": "main", "from": "left2", "to": "right2", "application": {"kind": "bulk", "bytes": 1000}}
    )
    artefact = Artefact("test.one", "One", "here", (Column("bytes", "Bytes"),), (Row({"row": 1}, settings),))
    assert means_of(artefact, eifel.run_many([settings]))[0]["bytes"].mean == 1000


def test_a_sweep_names_the_flow_of_each_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sweep = {"title": "s", "scenario": clients(2), "product": {"dumbbell.bottleneck.delay_ms": [10, 20]}}
    eifel.sweep(sweep, out=tmp_path / "out")
    rows = eifel.load_sweep(tmp_path / "out").to_pylist()
    assert [row["flow_name"] for row in rows] == ["first", "client1", "client2"] * 2
    assert [row["flow"] for row in rows] == [0, 1, 2] * 2
    file = tmp_path / "sweep.toml"
    from eifel import toml

    file.write_text(toml.dumps(sweep))
    asked = ["sweep", str(file), "--out", str(tmp_path / "other"), "--show", "bytes", "--json"]
    assert main([*asked, "--flow", "client2"]) == OK
    cells = json.loads(capsys.readouterr().out)["cells"]
    assert [cell["mean"]["bytes"] for cell in cells] == [row["bytes"] for row in rows if row["flow_name"] == "client2"]
    assert main([*asked, "--flow", "client9"]) == BAD_INPUT
    assert "--flow client9: no such flow; there is: first, client1, client2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("value", "half_width", "text"),
    [
        (0.0, None, "0"),
        (1.0, 0.0, "1"),
        (202_486.4, 7123.0, "202 486 ± 7 123"),
        (17_885.2, 31.0, "17 885 ± 31"),
        (109.23, 7.989, "109.2 ± 8.0"),
        (0.1, 0.2262, "0.10 ± 0.23"),
        (1499.97, None, "1 500"),
        (12.25, None, "12.25"),
        (0.00001234, None, "0.00001234"),
        (1.5e-12, None, "1.5e-12"),
        (-3.5, None, "-3.5"),
        (float("nan"), None, "-"),
        (None, None, "-"),
    ],
)
def test_a_number_and_its_interval_have_the_same_digits(value: float, half_width: float | None, text: str) -> None:
    assert number(value, half_width) == text


@pytest.mark.parametrize("chosen", [None, "client3", "bursts", "all"])
def test_any_flow_is_recorded_and_drawn(chosen: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record, plot, pcap = tmp_path / "record", tmp_path / "run.svg", tmp_path / "run.pcapng"
    asked = ["run", str(EXAMPLE), "--repetitions", "1", "--set", "duration_s=20"]
    asked += ["--record", str(record), "--plot", str(plot), "--pcap", str(pcap)]
    assert main([*asked, *(["--flow", chosen] if chosen else [])]) == OK
    ends = {
        None: {"left1", "right1"},
        "client3": {"left3", "right3"},
        "bursts": {"left1", "right1"},
        "all": {f"{side}{number}" for side in ("left", "right") for number in range(1, 11)},
    }[chosen]
    assert {file.stem for file in record.glob("*.pcapng")} == ends
    assert pcap.stat().st_size > 1000
    drawn = sorted(file.name for file in tmp_path.glob("*.svg"))
    if chosen == "all":
        assert drawn == sorted(f"run.{name}.svg" for name in [*CLIENTS, "bursts"])
    else:
        assert drawn == ["run.svg"]
        assert f"flow {chosen or 'client1'}" in plot.read_text()


def test_an_unknown_flow_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(EXAMPLE), "--flow", "client11"]) == BAD_INPUT
    assert capsys.readouterr().err == (
        f"eifel: --flow client11: no such flow; there is: {', '.join([*CLIENTS, 'bursts'])}, or all\n"
    )


def test_a_recording_replaces_another_recording_and_no_other_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "record"
    asked = ["run", str(EXAMPLE), "--repetitions", "1", "--set", "duration_s=2", "--record", str(record)]
    assert main([*asked, "--flow", "client1"]) == OK
    assert main([*asked, "--flow", "client2"]) == OK
    assert {file.stem for file in record.glob("*.pcapng")} == {"left2", "right2"}
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("years of work")
    capsys.readouterr()
    assert main([*asked[:-1], str(other)]) == BAD_INPUT
    assert "holds something else than a recording; expected a new or an empty folder" in capsys.readouterr().err
    assert [file.name for file in other.iterdir()] == ["thesis.tex"]
    (tmp_path / "file").write_text("")
    assert main([*asked[:-1], str(tmp_path / "file")]) == BAD_INPUT
    assert "file: a file; expected the name of a folder" in capsys.readouterr().err


@pytest.mark.parametrize(("spare", "left_out"), [(0, 0), (-1, 1)])
def test_a_column_that_just_fits_is_shown(spare: int, left_out: int) -> None:
    mean = Mean(123.0, None, 1)
    entries = [Flows(f"flow{number}", [{"alpha": mean, "beta": mean}]) for number in range(20)]
    # The longest title and the names, each with the gap after it.
    width = len("flow19") + GAP + len("alpha") + GAP + len("beta") + GAP + spare
    out = Console(file=io.StringIO(), width=width)
    assert fitted(out, "flow", entries, ["alpha", "beta"], verbose=False) == left_out


def test_progress_shows_numbers_only_where_there_are_any(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress("running"):
        pass
    shown = capsys.readouterr().err
    assert "running" in shown
    assert "0/?" not in shown
    with progress("running") as advance:
        advance(3, 10)
    assert "3/10" in capsys.readouterr().err
