import json
from importlib import import_module
from pathlib import Path

import pytest

import eifel.papers
from eifel.errors import BadInputError
from eifel.papers import artefacts, select
from eifel.papers.artefact import Artefact, Column

ALL = list(artefacts().values())


@pytest.mark.parametrize("artefact", ALL, ids=lambda artefact: artefact.id)
def test_an_artefact_is_named_as_its_file(artefact: Artefact) -> None:
    assert import_module(f"eifel.papers.{artefact.id}").ARTEFACT is artefact


@pytest.mark.parametrize("artefact", ALL, ids=lambda artefact: artefact.id)
def test_an_artefact_is_complete(artefact: Artefact) -> None:
    assert artefact.title
    assert artefact.source
    assert artefact.claims
    assert artefact.rows or artefact.needs_traces
    for row in artefact.rows:
        assert set(row.published) <= {column.name for column in artefact.columns}
        assert any(flow["name"] == artefact.flow for flow in row.scenario["flow"])
    assert len({json.dumps(dict(row.keys), sort_keys=True) for row in artefact.rows}) == len(artefact.rows)


def test_every_artefact_of_the_paper_is_there() -> None:
    figures = [
        "1a",
        "1b",
        "2",
        "3a",
        "3b",
        "4a",
        "4b",
        "4c",
        "5a",
        "5b",
        "5c",
        "6a",
        "6b",
        "6c",
        "8a",
        "8b",
        "9a",
        "9b",
        "9c",
    ]
    expected = ["table1", "table2", "table3", "table4", *(f"figure{name}" for name in figures), "best_case", "red"]
    assert [name for name in artefacts() if name.startswith("responding.")] == [f"responding.{e}" for e in expected]
    assert list(artefacts())[-1] == "cellular.trace"


def test_definitions_differ() -> None:
    assert len({artefact.definition() for artefact in ALL}) == len(ALL)


def test_files_are_small() -> None:
    folder = Path(eifel.papers.__file__).parent
    for file in folder.glob("*/*.py"):
        limit = 250 if file.name in ("settings.py", "facts.py") else 120
        assert len(file.read_text().splitlines()) <= limit, file


def test_what_table_1_prints() -> None:
    rows = artefacts()["responding.table1"].rows
    assert [(dict(row.keys), dict(row.published)) for row in rows] == [
        (
            {"recovery": "reno-sack", "eifel": False},
            {"time_s": 138.0, "segments_sent": 5234.0, "spurious_rtos": 4.68, "genuine_rtos": 0.0},
        ),
        (
            {"recovery": "reno-sack", "eifel": True},
            {"time_s": 39.0, "segments_sent": 5088.0, "spurious_rtos": 1.37, "genuine_rtos": 0.03},
        ),
    ]


def test_ids_are_selected_by_how_they_begin() -> None:
    assert [a.id for a in select(["responding.figure4", "responding.table1"])] == [
        "responding.table1",
        "responding.figure4a",
        "responding.figure4b",
        "responding.figure4c",
    ]
    assert [a.id for a in select(["responding.figure2"])] == ["responding.figure2"]
    assert len(select(["responding"])) == len(ALL) - 1
    assert len(select([])) == len(ALL)
    with pytest.raises(BadInputError, match=r"responding\.figure7: no artefact begins with this; there is: resp"):
        select(["responding.figure7"])


def test_tolerance_is_a_share_or_a_distance() -> None:
    column = Column("rtos", "RTOs", relative=0.15, absolute=0.3)
    assert column.agrees(4.0, 4.6)
    assert not column.agrees(4.0, 4.61)
    assert column.agrees(0.0, 0.3)
    assert not column.agrees(0.0, 0.31)
    assert Column("x", "X").agrees(1.0, 2.0) is None


def test_traces_make_rows(tmp_path: Path) -> None:
    trace = tmp_path / "train.down"
    trace.write_text("1\n2\n")
    artefact = artefacts()["cellular.trace"]
    given = artefact.with_traces([trace])
    recoveries = [row.keys["recovery"] for row in given.rows]
    assert recoveries == [r for r in ("reno-sack", "newreno-sack", "fack") for _ in "ab"]
    assert given.rows[0].keys["trace"] == "train"
    trace.write_text("1\n3\n")
    assert artefact.with_traces([trace]).definition() != given.definition()
