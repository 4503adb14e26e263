"""Golden headlines, tables of documents, and numbers as words."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import golden
from eifel.cli import main, output
from eifel.cli.compare import _letters, _short
from eifel.documents import calibration
from eifel.papers import artefacts
from eifel.papers.artefact import Measured, MeasuredRow
from eifel.papers.responding import settings
from eifel.registry import algorithms
from eifel.report import build
from eifel.report.headlines import headlines
from eifel.reproduction import reproduce
from eifel.statistics import Mean

TABLES = ("responding.table1", "responding.table3", "detectors.burst", "detectors.responses", "detectors.truth")


def of(name: str) -> Measured:
    """Returns an artefact with values computed from the row's place, which never change with measurements."""
    artefact = artefacts()[name]
    rows = []
    for number, row in enumerate(artefact.rows):
        columns = {column.name: column for column in artefact.columns}
        means = {
            key: Mean(row.published.get(key, 3.0 + (7 * number) % 90) * (1 + 0.01 * (number % 30)), 0.5, 5)
            for key in columns
        }
        if "false_positives" in means:
            means["false_positives"] = Mean(float(number % 5 == 0), None, 1)
        rows.append(MeasuredRow(row, means))
    return Measured(artefact, rows, [], 5, 1, 0.5)


def shown(page: str) -> list[str]:
    """Returns the page's lines, with a placeholder for embedded pictures."""
    return re.sub(r">\s*<", ">\n<", re.sub(r'src="data:[^"]*"', 'src="PICTURE"', page)).splitlines()


@pytest.mark.parametrize("without", [(), TABLES[:1], TABLES[2:3], TABLES[3:4], TABLES[4:]])
def test_the_headlines_of_the_report_match_their_golden(without: tuple[str, ...]) -> None:
    held = [of(name) for name in TABLES if name not in without]
    if not without:
        held += [reproduce("responding.figure1a"), reproduce("responding.figure2")]
    golden.check(f"report/headlines{''.join(f'-without-{name}' for name in without)}", shown(headlines(held)))


def test_nothing_measured_makes_no_headlines() -> None:
    assert headlines([]) == ""
    assert headlines([of("sctp.figure12")]) == ""


def test_the_contents_of_a_report_list_each_artefact_below_its_paper() -> None:
    held = [of(name) for name in (*TABLES, "sctp.figure12")]
    page = build(held)
    contents = page[page.index("<nav") : page.index("</nav>")]
    golden.check("report/contents", shown(contents))
    assert re.findall(r'<a href="#([^"]*)"', contents) == [one.artefact.id for one in held]


def test_the_table_of_variants_has_a_line_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each variant is a line, and its scenarios differ from those of every other variant."""
    asked = []

    def near(change: calibration.Change, repetitions: int) -> calibration.Nearness:
        changed = [json.loads(json.dumps(dict(row.scenario))) for row in calibration.rows()]
        for scenario in changed:
            change(scenario)
        asked.append((golden.rounded(changed), repetitions))
        number = len(asked)
        means = [dict.fromkeys(row.published, 100.0 * number + place) for place, row in enumerate(calibration.rows())]
        return calibration.Nearness(number / 7, {column.name: number for column in settings.COLUMNS}, means)

    monkeypatch.setattr(calibration, "nearness", near)
    golden.check("printed/variants", calibration.variants_table().splitlines())
    assert {repetitions for _, repetitions in asked} == {calibration.REPETITIONS}
    assert len({json.dumps(scenarios) for scenarios, _ in asked}) == len(calibration.VARIANTS)
    golden.check("rows/variants", [_digest(scenarios) for scenarios, _ in asked])


def _digest(value: object) -> str:
    from hashlib import sha256

    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("value", "half_width", "text"),
    [
        (None, None, "-"),
        (float("nan"), 1.0, "-"),
        (0.0, None, "0"),
        (0.0, 0.5, "0.00 ± 0.50"),
        (1.0, None, "1"),
        (9.9999, None, "10"),
        (0.12345, None, "0.1235"),
        (12.3456, None, "12.35"),
        (123.456, None, "123.5"),
        (1234.56, None, "1 235"),
        (1234567.8, None, "1 234 568"),
        (-1234.56, None, "-1 235"),
        (1e-9, None, "1e-09"),
        (1234.5, 0.0, "1 234"),
        (1234.5, 1e-10, "1 234"),
        (1234.5, 234.0, "1 234 ± 234"),
        (1234.5, 23.4, "1 234 ± 23"),
        (12.345, 2.34, "12.3 ± 2.3"),
        (12.345, 0.0234, "12.345 ± 0.023"),
        (2000.0, 1000.0, "2 000 ± 1 000"),
    ],
)
def test_a_number_has_the_digits_that_mean_something(value: float | None, half_width: float | None, text: str) -> None:
    assert output.number(value, half_width) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (1550, "1.6 kB"),
        (999_949, "999.9 kB"),
        (1_000_000, "1.0 MB"),
        (12_340_000, "12.3 MB"),
    ],
)
def test_a_size_is_in_the_unit_that_fits(count: int, text: str) -> None:
    assert output.size(count) == text


def test_scenarios_that_are_compared_have_letters_or_numbers() -> None:
    assert _letters(3) == ["A", "B", "C"]
    assert _letters(26)[-1] == "Z"
    assert _letters(27) == [str(number) for number in range(1, 28)]
    assert _short("a" * 200) == "…" + _short("a" * 200)[1:] and len(_short("a" * 200)) < 60
    assert _short("short") == "short"


def test_the_progress_bar_advances_with_each_transfer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from contextlib import contextmanager

    told: list[tuple[int, int]] = []

    @contextmanager
    def progress(what: str):
        assert what == "transfers"
        yield lambda done, total: told.append((done, total))

    monkeypatch.setattr("eifel.cli.captures.progress", progress)
    assert main(["captures", str(tmp_path / "made"), "--transfers", "3", "--seed", "5"]) == 0
    assert told == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("width", [60, 120])
def test_the_list_of_algorithms_matches_its_golden(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("eifel.cli.output.WIDTH_WITHOUT_TERMINAL", width)
    assert main(["list", "algorithms"]) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    heads = [line for line in lines if line.lstrip().startswith("name")]
    assert heads and all(("parameters" in head) == (width > 80) for head in heads)
    assert any("(SCTP only)" in line for line in lines)
    begins = [line.split(" ")[0] for line in lines]
    assert all(begins.count(algorithm["name"]) >= 1 for algorithm in algorithms())
    # With enough room a row has everything; otherwise the parameters are below it.
    row = next(line for line in lines if line.startswith("eifel-timestamps "))
    assert ("RFC 3522" in row) == (width > 80)
