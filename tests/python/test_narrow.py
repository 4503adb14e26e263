"""What commands print fits a terminal of 80 columns: no number and no name is broken up."""

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
    for name in ("output", "reproduce"):
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
    # A value stands on one line with its interval: no line is a piece of a number.
    assert not [line for line in table[1:] if re.fullmatch(r"\s*[±.\d]{1,3}(\s+[±.\d]{1,3})*", line)]
