"""The output of commands fits a terminal of 80 columns, without broken numbers or names."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
from rich.console import Console

from eifel.cli import main
from eifel.papers import artefacts
from eifel.registry import algorithms

WIDTH = 80


@pytest.fixture(params=[WIDTH, 120])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    for name in ("output", "reproduce", "run"):
        module = importlib.import_module(f"eifel.cli.{name}")
        monkeypatch.setattr(module, "console", lambda: Console(highlight=False, width=request.param))
    return int(request.param)


def test_every_algorithm_has_its_name_on_one_line(width: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "algorithms"]) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert max(map(len, lines)) <= width
    begins = {line.split(" ")[0] for line in lines}
    assert {algorithm["name"] for algorithm in algorithms()} <= begins


@pytest.mark.parametrize(
    "name", ["responding.table1", "responding.table2", "detectors.responses", "responding.figure4a"]
)
def test_every_value_of_an_artefact_is_whole(
    name: str, width: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", name, "--repetitions", "2", "--pictures", "none", "--out", str(tmp_path)]) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    table = lines[: next(number for number, line in enumerate(lines) if re.match(r"  (holds|FAILS) ", line))]
    assert max(map(len, table)) <= width
    artefact = artefacts()[name]
    for row in artefact.rows:
        last = str(list(row.keys.values())[-1])
        assert any(last in line.split() or last in ("True", "False") for line in table), row.name
    # A value is on one line with its interval: no line is part of a number.
    assert not [line for line in table[1:] if re.fullmatch(r"\s*[±.\d]{1,3}(\s+[±.\d]{1,3})*", line)]


MANY = """
duration_s = 6
point_to_point = { rate_bps = 20_000_000, delay_ms = 20, queue = { kind = "drop-tail", packets = 50 } }
[[spike]]
links = ["bottleneck"]
holds = "sending"
at = [{ start_s = 1, length_s = 1.5 }]
[[flow]]
name = "asks#"
repeat = 30
from = "sender"
to = "receiver"
application = { kind = "request-response", requests = 20, request_bytes = 300, response_bytes = 3000, think_ms = 100 }
sender = { detect = "none", observers = ["eifel-timestamps", "dsack"] }
"""


def test_notes_on_thirty_flows_are_folded(width: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Requests, verdicts and waits of a group take a column or a row, like its numbers. --flows shows each flow."""
    file = tmp_path / "many.toml"
    file.write_text(MANY, encoding="utf-8")
    assert main(["run", str(file), "-v"]) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert max(map(len, lines[1:])) <= width and len(lines) < 60
    titles = ("requests, s", "queueing delay, ms")
    heads = [re.split(r"  +", line) for line in lines if line.startswith(titles)]
    assert heads == [[title, "asks# (30 flows)"] for title in titles]
    rows = [line.split() for line in lines if line.startswith(("eifel-timestamps", "dsack"))]
    assert [row[:2] for row in rows] == [["eifel-timestamps", "asks#"], ["dsack", "asks#"]]
    assert all(sum(map(int, row[2:6])) >= 20 for row in rows), "nearly every flow's timer expired in the spike"
    assert main(["run", str(file), "-v", "--flows"]) == 0
    unfolded = capsys.readouterr().out
    assert "asks#" not in unfolded and unfolded.count("asks30") >= 4
