"""The numbers of the documents are the artefacts' results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from eifel.documents import calibration, contains, measured, recorded, samples, stored
from eifel.papers import artefacts
from eifel.papers.spikes import figures as spikes
from eifel.reproduction import reproduce
from eifel.runs import Runs, run_many

ROOT = Path(__file__).parents[2]
STORE = stored.read()
RECORDED = stored.read(recorded.STORE)


@pytest.mark.parametrize("name", measured.ARTEFACTS)
def test_a_stored_result_has_the_definition_of_its_artefact(name: str) -> None:
    assert STORE[name]["definition"] == artefacts()[name].definition(), "python -m eifel.documents measured"


@pytest.mark.parametrize("name", [name for name in measured.ARTEFACTS if "sample" in STORE[name]])
def test_a_stored_result_is_not_older_than_the_engine(name: str) -> None:
    assert STORE[name]["sample"] == samples.digest(name), f"python -m eifel.documents measured {name}"


def test_every_stored_result_that_can_have_a_sample_has_one() -> None:
    assert samples.unknown(STORE) == []


def test_rows_of_a_real_kernel_have_no_sample_but_its_release_and_the_day(capsys: pytest.CaptureFixture[str]) -> None:
    assert not samples.has_sample("live.undo") and "sample" not in STORE["live.undo"]
    with pytest.raises(SystemExit) as exited:
        samples.main(["live.undo"])
    assert exited.value.code == 0
    one = STORE["live.undo"]
    assert capsys.readouterr().out.splitlines() == [
        f"live.undo: measured by kernel {one['kernel']} on {one['on']}, which no sample repeats",
        "0 of 1 are as measured",
    ]


def test_rows_are_older_once_a_run_gives_another_number(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "sctp.figure14b"
    store = {name: STORE[name], "captures.truth": {"definition": "", "rows": []}}
    assert samples.older(store) == [] and samples.unknown(store) == ["captures.truth"]

    def another(many: Sequence[Any], repetitions: int) -> Runs:
        found = run_many(many, repetitions=repetitions)
        found["time_s"][-1] *= 1 + 1e-9
        return found

    monkeypatch.setattr(samples, "run_many", another)
    assert samples.older(store) == [name]


def test_the_names_of_older_rows_are_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["responding.table1", "responding.table2"]
    found = {names[0]: "other", names[1]: STORE[names[1]]["sample"]}
    monkeypatch.setattr(samples, "digest", found.__getitem__)
    with pytest.raises(SystemExit) as exited:
        samples.main(names)
    assert exited.value.code == 1
    assert capsys.readouterr().out.splitlines() == [
        "responding.table1: older than the engine; python -m eifel.documents measured responding.table1",
        "1 of 2 are as measured",
    ]


@pytest.mark.parametrize("page", sorted({page for page, _ in measured.BLOCKS.values()}))
def test_a_pages_tables_hold_the_stored_numbers(page: str) -> None:
    assert (ROOT / page).read_text(encoding="utf-8") == measured.written(page, STORE)


def test_no_page_calls_a_table_measured_that_is_not_kept() -> None:
    pages = {
        page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md")
    }
    marked = {(name, page) for page, text in pages.items() for name in re.findall(r"<!-- measured: (.*?) -->", text)}
    assert marked == {(name, page) for name, (page, _) in measured.BLOCKS.items()}


@pytest.mark.parametrize(("page", "sentence"), measured.quotes(STORE))
def test_a_pages_sentences_hold_the_stored_numbers(page: str, sentence: str) -> None:
    assert contains(page, sentence)


@pytest.mark.parametrize(("page", "sentence"), recorded.quotes(RECORDED))
def test_a_pages_sentences_about_recorded_links_hold_the_stored_numbers(page: str, sentence: str) -> None:
    assert contains(page, sentence)


def test_measurements_over_recorded_links_name_the_links_and_the_date() -> None:
    for one in RECORDED.values():
        assert one["links"] and all(re.fullmatch("[0-9a-f]{64}", digest) for digest in one["links"].values())
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", one["on"])
        assert one["rows"]


def test_reno_times_out_needlessly_in_figure_7_at_the_fitted_rate_alone() -> None:
    reno = reproduce("spikes.figure7")
    assert [reno.result(run=run).main["spurious_timeouts"] for run in (spikes.STATED, "drawn")] == [0, 1]


@pytest.mark.parametrize("name", ["responding.table1", "thesis.figure5_16"])
def test_measured_again_it_is_the_same(name: str) -> None:
    for row, kept in zip(reproduce(name).json()["rows"], STORE[name]["rows"], strict=True):
        assert row["keys"] == kept["keys"]
        assert row["measured"] == pytest.approx(kept["measured"], abs=1e-6)


def test_the_page_of_the_calibration_has_the_artefacts_counts() -> None:
    """The page has each seed separately; the artefact has the fit's seed, and the mean of the others."""
    found: dict[tuple[str, bool, bool], list[list[int]]] = {}
    for line in (ROOT / "docs" / "internals" / "calibration.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 7 and cells[2] in ("tables 1 and 2", "tables 3 and 4"):
            counts = [int(cell.split(" of ")[0]) for cell in cells[3:]]
            found.setdefault((cells[0], cells[2] == "tables 3 and 4", cells[1] != "1"), []).append(counts)
    rows = STORE["responding.calibration"]["rows"]
    assert len(rows) == len(found) == 12
    for row in rows:
        judge = row["keys"]["judged_by"]
        counts = found[row["keys"]["setting"], "other rows" in judge, "seeds" in judge]
        means = [sum(column) / len(counts) for column in zip(*counts, strict=True)]
        assert means == [row["measured"][name] for name in measured.COLUMNS]


def test_the_page_of_the_calibration_says_how_often_each_setting_was_run() -> None:
    assert all(contains(page, sentence) for page, sentence in calibration.quotes())


def test_findings_say_how_many_values_agree_on_the_other_seeds() -> None:
    """Counts the tables' own setting, over tables 1 to 4, by seed."""
    lines = (ROOT / "docs" / "internals" / "calibration.md").read_text(encoding="utf-8").splitlines()
    counts: dict[str, list[int]] = {}
    for line in lines:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 7 and cells[0] == "the tables'" and cells[1] in "23":
            seen = counts.setdefault(cells[1], [0, 0, 0, 0])
            counts[cells[1]] = [a + int(cell.split(" of ")[0]) for a, cell in zip(seen, cells[3:], strict=True)]
    (time, again, spurious, genuine), other = counts["2"], counts["3"]
    assert (again, genuine) == (other[1], other[3])
    said = (
        f"On two seeds that no fit has seen, {time} and {other[0]} times are within, {spurious} and {other[2]} counts "
        f"of spurious timeouts, {genuine} of genuine ones, and again {again} of what is retransmitted."
    )
    assert said in " ".join((ROOT / "docs" / "internals" / "findings.md").read_text(encoding="utf-8").split())


def test_the_pages_front_is_the_artefacts() -> None:
    lines = (ROOT / "docs" / "internals" / "calibration.md").read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    front = [(float(row[0]), float(row[1]), row[3]) for row in cells if len(row) == 13 and row[0][0].isdigit()]
    rows = STORE["responding.front"]["rows"]
    assert front and rows
    for row in rows:
        here = [
            again for time, again, held in front if held == row["keys"]["held"] and time <= row["keys"]["time within"]
        ]
        if here:
            assert row["measured"]["again"] == pytest.approx(min(here), abs=0.006)
