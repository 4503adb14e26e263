import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

from eifel.errors import BadInputError
from eifel.papers import artefacts, select
from eifel.papers.artefact import Artefact, Column, Setting

ALL = list(artefacts().values())


def test_an_artefact_is_declared_once_and_in_the_package_of_its_paper() -> None:
    declared = []
    for paper in {artefact.id.partition(".")[0] for artefact in ALL}:
        package = import_module("eifel.studies" if paper in ("captures", "detectors") else f"eifel.papers.{paper}")
        for module in iter_modules(package.__path__, f"{package.__name__}."):
            values = vars(import_module(module.name)).values()
            found = [value.id for value in values if isinstance(value, Artefact) and value.id.startswith(f"{paper}.")]
            declared += found
    assert sorted(declared) == sorted(artefact.id for artefact in ALL)


@pytest.mark.parametrize("artefact", ALL, ids=lambda artefact: artefact.id)
def test_an_artefact_is_complete(artefact: Artefact) -> None:
    assert artefact.title
    assert artefact.source
    assert artefact.claims
    assert artefact.rows or artefact.needs_traces
    for row in artefact.rows:
        assert set(row.published) <= {column.name for column in artefact.columns}
        assert bool(row.scenario) != (artefact.study is not None)
        assert artefact.study or any(flow["name"] == artefact.flow for flow in row.scenario["flow"])
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
    tables = [f"table{number}" for number in range(1, 5)]
    others = ["adaptation", "best_case", "calibration", "front", "red", "rfc5681", "sharing"]
    expected = [*tables, *(f"figure{name}" for name in figures), *others]
    assert [name for name in artefacts() if name.startswith("responding.")] == [f"responding.{e}" for e in expected]
    assert list(artefacts())[-1] == "cellular.trace"


def test_every_figure_of_the_thesis_on_timers_is_there() -> None:
    assert {f"thesis.figure5_{number}" for number in range(8, 20)} <= artefacts().keys()


def test_definitions_differ() -> None:
    assert len({artefact.definition() for artefact in ALL}) == len(ALL)


def test_table_1_has_the_two_rows_that_the_paper_prints() -> None:
    rows = artefacts()["responding.table1"].rows
    assert [(dict(row.keys), dict(row.published)) for row in rows] == [
        (
            {"recovery": "reno-sack", "eifel": False},
            {"time_s": 138.0, "segments_sent": 5234.0, "retransmissions": 234.0}
            | {"spurious_rtos": 4.68, "genuine_rtos": 0.0},
        ),
        (
            {"recovery": "reno-sack", "eifel": True},
            {"time_s": 39.0, "segments_sent": 5088.0, "retransmissions": 88.0}
            | {"spurious_rtos": 1.37, "genuine_rtos": 0.03},
        ),
    ]


@pytest.mark.parametrize("artefact", ALL, ids=lambda artefact: artefact.id)
def test_each_artefact_names_the_settings_that_its_paper_leaves_open(artefact: Artefact) -> None:
    assert artefact.fitted
    for setting in artefact.fitted:
        assert setting.name
        assert setting.value
        assert setting.reason
        assert setting.kind in ("fitted", "chosen")
        assert bool(setting.rows) == (setting.kind == "fitted"), setting.name


def test_settings_were_fitted_to_rows_that_there_are() -> None:
    known = artefacts()
    for setting in {setting for artefact in ALL for setting in artefact.fitted}:
        for fitted_to in setting.rows:
            artefact = known.get(fitted_to.partition(":")[0])
            if artefact is None:
                assert fitted_to.startswith("all rows"), fitted_to
                continue
            only = replace(artefact, fitted=(Setting("x", "1", "y", rows=(fitted_to,)),))
            fitting = [row for row in only.rows if only.is_calibration(row)]
            assert fitting, fitted_to
            assert all(row.published for row in fitting)


@pytest.mark.parametrize(
    ("fitted_to", "expected"),
    [
        ("responding.table2: eifel off", [True, False, True, False, True, False]),
        ("responding.table2: recovery fack, eifel on", [False, False, False, False, False, True]),
        ("responding.table2: fack", [False, False, False, False, True, True]),
        ("responding.table2", [True] * 6),
        ("responding.table1: eifel off", [False] * 6),
        ("what somebody remembered", [False] * 6),
    ],
)
def test_rows_that_were_fitted_to_are_calibration(fitted_to: str, expected: list[bool]) -> None:
    table = replace(artefacts()["responding.table2"], fitted=(Setting("x", "1", "y", rows=(fitted_to,)),))
    assert [table.is_calibration(row) for row in table.rows if row.published] == expected
    unpublished = replace(table, rows=tuple(replace(row, published={}) for row in table.rows))
    assert not any(unpublished.is_calibration(row) for row in unpublished.rows)


def test_a_figures_settings_are_those_of_its_run() -> None:
    chosen = {setting.name: setting.value for setting in artefacts()["responding.figure4a"].fitted}
    assert chosen["spike"] == "2.85 to 8.5 s"
    assert chosen["one-way delay"] == "200 ms"
    assert chosen["link rate"] == "30000 bit/s"
    assert "lost segment" not in chosen, "figure 4's losses are stated"
    chosen = {setting.name: setting.value for setting in artefacts()["responding.figure3a"].fitted}
    assert chosen["lost segment"] == "10"
    chosen = {setting.name: setting.value for setting in artefacts()["responding.figure1b"].fitted}
    assert (chosen["instant of the change"], chosen["payload"]) == ("6 s", "1460 bytes")
    assert "link rate" not in chosen, "300 and 10 kbit/s are stated"
    table_run = artefacts()["responding.figure8a"].fitted
    assert table_run[0].kind == "chosen"
    assert table_run[1:] == artefacts()["responding.table1"].fitted


def test_ids_are_selected_by_how_they_begin() -> None:
    assert [a.id for a in select(["responding.figure4", "responding.table1"])] == [
        "responding.table1",
        "responding.figure4a",
        "responding.figure4b",
        "responding.figure4c",
    ]
    assert [a.id for a in select(["responding.figure2"])] == ["responding.figure2"]
    assert len(select(["responding"])) == sum(artefact.id.startswith("responding.") for artefact in ALL)
    assert len(select([])) == len(ALL)
    with pytest.raises(BadInputError, match=r"responding\.figure7: no artefact begins with this; nearest: .*; "):
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
    other = tmp_path / "bus.down"
    other.write_text("5\n")
    both = [artefact.with_traces(given) for given in ([trace, other, trace], [other, trace])]
    assert both[0].definition() == both[1].definition(), "the order is not the order of the command line"
    assert [row.keys["trace"] for row in both[0].rows] == ["bus"] * 6 + ["train"] * 6
    assert [number for number in range(12) if both[0].begins_group(number)] == [6]
    up = tmp_path / "train.up"
    up.write_text("5\n")
    assert {row.keys["trace"] for row in artefact.with_traces([trace, up]).rows} == {"train.down", "train.up"}
    (tmp_path / "b").mkdir()
    again = tmp_path / "b" / "train.down"
    again.write_text("5\n")
    assert {row.keys["trace"] for row in artefact.with_traces([trace, again]).rows} == {str(trace), str(again)}
    trace.write_text("1\n3\n")
    assert artefact.with_traces([trace]).definition() != given.definition()


@pytest.mark.parametrize("name", [one.id for one in ALL if one.id.startswith("sctp.figure") and one.is_recorded])
def test_a_figure_of_single_associations_has_its_first_run_by_todays_rules_too(name: str) -> None:
    first, *_, last = artefacts()[name].rows
    assert last.keys == {"run": "RFC 9260"}
    rules = [row.scenario["flow"][0]["sctp"].get("rules", "rfc9260") for row in (first, last)]
    assert rules == ["rfc2960", "rfc9260"]
    plain = {key: value for key, value in first.scenario["flow"][0]["sctp"].items() if key != "rules"}
    assert last.scenario["flow"][0] == {**first.scenario["flow"][0], "sctp": plain}


@pytest.mark.parametrize("name", ["11a", "11b", "12", "13a", "13b", "14a", "14b"])
def test_a_figure_of_many_associations_has_rows_by_each_rule(name: str) -> None:
    settings = [row.keys["setting"] for row in artefacts()[f"sctp.figure{name}"].rows]
    assert settings[0] == "RFC 2960" and "RFC 9260" in settings
    assert name in ("11a", "12") or {"ns-2", "RFC 2960, both ways"} <= {*settings}


@pytest.mark.parametrize("number", [4, 5, 6, 7, 8, 9, 10, 11])
def test_a_figure_over_one_spike_has_rows_with_the_settings_that_the_paper_states(number: int) -> None:
    rows = artefacts()[f"spikes.figure{number}"].rows
    named = {str(value) for row in rows for value in row.keys.values()}
    if number in (7, 8, 9):
        assert "46.8 kbit/s" in named
    if number in (5, 6, 10, 11):
        assert {row.keys["spike"] for row in rows if row.keys["sender"] == "reno"} == {"at 28 s", "drawn"}
    if number not in (7, 8):
        assert "sctp, 52/68 bytes" in named
        uplink, downlink = 536 + 52, 68
        sctp = next(row for row in rows if "sctp, 52/68 bytes" in row.keys.values()).scenario["flow"][0]["sctp"]
        assert (sctp["message_bytes"] + sctp["data_header_bytes"], sctp["sack_bytes"]) == (uplink, downlink)
