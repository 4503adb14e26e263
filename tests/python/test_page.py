"""The report as a page: the findings at the top, filtered contents, tables that fold, sort and download."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from browser import CHROMIUM, Browser
from eifel.papers.artefact import Artefact, Claim, Column, Measured, MeasuredRow, Recorded, Row
from eifel.plots.style import new_figure
from eifel.report import _line, build
from eifel.report.comparison import verdict_of
from eifel.report.headlines import _detectors, headlines
from eifel.report.heat import Cell, Spot, heat, spots
from eifel.report.svg import Dot, Line, dots, multiples
from eifel.reproduction import reproduce
from eifel.statistics import Mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = ("responding.table1", "responding.table3", "responding.figure4a", "detectors.responses", "thesis.timers")


def of(within: int, count: int, *holding: bool, name: str = "test.rows") -> Measured:
    column = Column("time_s", "Time, s", relative=0.1)
    rows = tuple(Row({"row": number}, published={"time_s": 100.0}) for number in range(count))
    claims = tuple(Claim("so", lambda _, holds=holds: holds) for holds in holding)
    artefact = Artefact(name, "Rows", "nowhere", (column,), rows, claims=claims)
    means = [{"time_s": Mean(100.0 if number < within else 150.0 + number, 5.0, 3)} for number in range(count)]
    return Measured(artefact, [MeasuredRow(*both) for both in zip(rows, means, strict=True)], [], 3, 1, 0.5)


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [
        (of(10, 10, True), "good"),
        (of(8, 10, True), "mostly"),
        (of(7, 10, True), "outside"),
        (of(9, 10, True, False), "outside"),
        (of(10, 10, False), "outside"),
        (of(4, 5), "mostly"),
    ],
)
def test_mostly_agreeing_values_are_amber_and_a_failed_claim_is_red(measured: Measured, verdict: str) -> None:
    assert verdict_of(measured)[0] == verdict


@pytest.mark.parametrize(("rows", "folded"), [(20, False), (21, True)])
def test_of_many_rows_one_sees_a_picture_and_the_table_is_folded(rows: int, folded: bool) -> None:
    page = build([of(rows, rows, True)])
    assert ("<summary>The table of 21 rows</summary>" in page) == folded
    section = page[page.index('<section id="test.rows"') :]
    assert ('class="dots"' in section) == folded
    if folded:
        assert section.count("<circle") == rows


def test_an_artefact_with_a_picture_of_its_own_gets_no_second() -> None:
    def draw(_: Measured) -> Figure:
        return new_figure(1, (2, 2))[0]

    measured = of(30, 30)
    own = replace(measured, artefact=replace(measured.artefact, method=Recorded(draw, chart=False)))
    section = build([own]).split('<section id="test.rows"')[1]
    assert section.count("<img") == 1 and "<svg" not in section and "The table of 30 rows" in section


def test_a_dot_stands_where_its_value_is() -> None:
    picture = dots(
        [Line("a", [Dot(0.0), Dot(5.0, 2.5, 7.5, "spurious", "<b>")]), Line("b", [Dot(10.0)], (9, 10))], "x & y"
    )
    # From 0 to 10.4, between 60 and 740 pixels.
    assert 'cx="60.0"' in picture and 'cx="386.9"' in picture and 'cx="713.8"' in picture
    assert 'x1="223.5"' in picture and 'x2="550.4"' in picture
    assert "<title>&lt;b&gt;</title>" in picture and "x &amp; y" in picture
    assert dots([], "x") == "" == dots([Line("a", [Dot(float("nan"))])], "x")
    ratios = dots([Line("a", [Dot(0.5), Dot(2.0)])], "x", logarithmic=True)
    places = [float(part.split('"')[0]) for part in ratios.split('cx="')[1:]]
    assert sum(places) / 2 == pytest.approx((60 + 740) / 2, abs=0.1)


def test_small_multiples_have_a_panel_for_each_judged_column() -> None:
    columns = (Column("time_s", "Time, s", relative=0.1), Column("timeouts", "Timeouts", absolute=1), Column("n", "N"))
    rows = tuple(Row({"row": number}, published={"time_s": 10.0}) for number in range(30))
    artefact = Artefact("test.many", "Rows", "nowhere", columns, rows)
    found = [
        MeasuredRow(row, {"time_s": Mean(10.0 + number, None, 1), "timeouts": Mean(100.0 * number, None, 1)})
        for number, row in enumerate(rows)
    ]
    page = build([Measured(artefact, found, [], 1, 1, 0.5)])
    section = page[page.index('<section id="test.many"') :]
    assert section.count("<circle") == 60 and section.count("<svg") == 1
    # A band covers a tenth around the published value; beyond it the dot is red. The other column
    # has no published values.
    assert section.count('class="band"') == 30 and section.count("fill: var(--spurious)") == 28
    first, second = ([float(part.split('"')[0]) for part in section.split('cx="')[1:]][place::30] for place in (0, 1))
    assert ">Time, s</text>" in section and ">Timeouts</text>" in section and ">N</text>" not in section
    width = float(section.split('viewBox="0 0 ')[1].split()[0])
    assert max(first + second) <= width <= 1030
    assert dots([Line("a", [Dot(1.0)])], "x") == multiples([("x", [Line("a", [Dot(1.0)])]), ("empty", [Line("a", [])])])


def test_a_heat_map_has_a_cell_for_each_value_and_says_it() -> None:
    cells = {("a", "x"): Cell(-5.0, "-5", "a < x"), ("a", "y"): Cell(10.0, "10"), ("b", "y"): Cell(float("nan"), "-")}
    picture = heat(["a", "b"], ["x", "y"], cells, "saved, %")
    assert picture.count("<rect") == 2 and "a &lt; x" in picture and ">-5</text>" in picture
    # Values below zero are red. This one is half as strong as the highest.
    assert "fill: var(--bad); fill-opacity: 0.31" in picture and "fill: var(--good); fill-opacity: 0.56" in picture
    grey = heat(["a"], ["x", "y"], {("a", "x"): Cell(1.0, "1"), ("a", "y"): Cell(3.0, "3")}, "")
    assert "var(--sent); fill-opacity: 0.06" in grey and "var(--sent); fill-opacity: 0.56" in grey
    assert heat(["a"], ["x"], {}, "") == ""


def test_spots_stand_higher_and_further_left_the_better_they_are() -> None:
    picture = spots([Spot("early", 0.1, 90.0), Spot("late", 10.0, 95.0)], "delay", "found, %")
    across, up = ([float(part.split('"')[0]) for part in picture.split(f'{place}="')[1:]] for place in ("cx", "cy"))
    # In descending order.
    assert across[0] > across[1] and up[0] < up[1]
    assert ">early</text>" in picture and spots([], "", "") == "" == spots([Spot("never", 0.0, 1.0)], "", "")


def test_names_of_spots_that_stand_together_touch_no_other_name_and_no_spot() -> None:
    crowd = [Spot(f"detector number {place}", 4 + place / 10, 70 + place / 2) for place in range(8)]
    picture = spots([*crowd, Spot("far", 0.2, 10.0)], "delay", "found, %")
    dots = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', picture)]
    names = re.findall(r'<text x="([\d.]+)" y="([\d.]+)">(detector[^<]*|far)</text>', picture)
    boxes = [(float(x), float(x) + 6 * len(name), float(y) - 4) for x, y, name in names]
    assert len(boxes) == len(dots) == 9
    for place, (left, right, middle) in enumerate(boxes):
        assert not [1 for x, y in dots if left <= x <= right and abs(y - middle) < 8]
        others = [box for number, box in enumerate(boxes) if number != place]
        assert not [1 for low, high, at in others if low < right and left < high and abs(at - middle) < 10]


def test_a_table_of_many_rows_and_two_keys_is_a_heat_map() -> None:
    column = Column("time_s", "Time, s", digits=0)
    rows = tuple(Row({"sender": f"s{place // 4}", "response": f"r{place % 4}"}) for place in range(80))
    artefact = Artefact("test.heat", "Rows", "nowhere", (column,), rows)
    found = [MeasuredRow(row, {"time_s": Mean(float(place), None, 1)}) for place, row in enumerate(rows)]
    page = build([Measured(artefact, found, [], 3, 1, 0.5)])
    section = page[page.index('<section id="test.heat"') :]
    assert section.count("<rect") == 80 and "<title>sender s19, response r3: 79</title>" in section


def test_headlines_name_the_artefacts_that_are_not_measured() -> None:
    assert "Not measured here: what detectors find and the map" in headlines(
        [reproduce("responding.table1", repetitions=2)]
    )


def test_an_artefact_shows_its_first_claim_as_the_expected_finding() -> None:
    assert '<p class="see">One should see: so.</p>' in build([of(1, 1, True)])
    assert "One should see: so. <span" in build([of(1, 1, False, True)])
    assert "One should see" not in build([of(1, 1)])


def test_the_report_begins_with_findings_that_quote_its_own_numbers() -> None:
    measured = reproduce("responding.table1", repetitions=5)
    page = build([measured], "2026-01-02")
    times = [measured.mean("time_s", eifel=on) for on in (False, True)]
    assert f"takes {times[0]:.0f} s without Eifel and {times[1]:.0f} s with it" in page
    assert page.index("2026-01-02") < page.index("What was found") < page.index('<section id="responding.table1"')
    judged = [row.agrees(column) for row in measured.rows for column in measured.artefact.columns]
    judged = [verdict for verdict in judged if verdict is not None]
    assert f"{sum(judged)} of {len(judged)} published values come out within their tolerance" in page
    assert "1 of 1 published values" in build([of(1, 1)])


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "report.html"
    measured = [reproduce(name, repetitions=2) for name in NAMES if name != "thesis.timers"]
    most = of(60, 60, *[True] * 12, name="test.most")
    file.write_text(build([*measured, of(25, 30, True), most]), encoding="utf-8")
    return file


FOLLOWING = 4
"""The result of `compareDocumentPosition` for a later node."""


@pytest.mark.skipif(CHROMIUM is None, reason="SKIPPED: chromium is not installed, so the report was not opened")
def test_the_contents_of_a_long_report_are_folded_and_open_while_one_looks_for_something(
    browser: Browser, tmp_path: Path
) -> None:
    file = tmp_path / "long.html"
    many = [of(1, 1, True, name=f"test.figure{number}") for number in range(14)]
    file.write_text(build([*many, of(1, 2, False, name="test.wrong")]), encoding="utf-8")
    browser.screen(1280, 1000)
    browser.open(file)
    shown = "[...document.querySelectorAll('.contents li')].filter((one) => one.checkVisibility()).length"
    assert browser.evaluate(shown) == 0
    assert browser.evaluate("document.querySelector('.contents summary').textContent") == "test 15 1 not as published"
    assert browser.evaluate("document.querySelector('.contents').getBoundingClientRect().height") < 215
    for words, expected in (("figure13", 1), ("", 0)):
        look = f"box.value = '{words}'; box.dispatchEvent(new Event('input'))"
        browser.evaluate(f"{{ const box = document.querySelector('.contents input'); {look}; }}")
        assert browser.evaluate(shown) == expected


@pytest.mark.skipif(CHROMIUM is None, reason="SKIPPED: chromium is not installed, so the report was not opened")
class TestInABrowser:
    @pytest.fixture(params=[(1280, False), (1280, True), (390, False)], ids=["1280", "dark", "390"])
    def page(self, browser: Browser, report: Path, request: pytest.FixtureRequest) -> Browser:
        width, dark = request.param
        browser.screen(width, 1000, dark=dark)
        browser.open(report)
        browser.until("document.querySelectorAll('.take').length > 3")
        return browser

    def test_the_page_fits_the_window_and_no_section_is_endless(self, page: Browser) -> None:
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        if page.evaluate("innerWidth") >= 1280:
            heights = "[...document.querySelectorAll('section')].map((one) => one.getBoundingClientRect().height)"
            assert max(page.evaluate(heights)) < 2000

    def test_no_letter_is_smaller_than_ten_pixels(self, page: Browser) -> None:
        sizes = page.evaluate(
            "[...document.querySelectorAll('main *')].filter((one) => [...one.childNodes].some((node) =>"
            " node.nodeType === 3 && node.data.trim())).map((one) => [parseFloat(getComputedStyle(one).fontSize),"
            " one.outerHTML.slice(0, 60)]).sort((a, b) => a[0] - b[0])[0]"
        )
        assert sizes[0] >= 10, sizes[1]

    def test_the_contents_filter_and_stay_in_sight(self, page: Browser) -> None:
        shown = "[...document.querySelectorAll('.contents li')].filter((one) => one.offsetParent).length"
        assert page.evaluate(shown) == len(NAMES) + 1
        page.evaluate(
            "{ const box = document.querySelector('.contents input'); box.value = 'reno-sack uncongested';"
            " box.dispatchEvent(new Event('input')); }"
        )
        assert page.evaluate(shown) == 1
        order = "document.getElementById('found').compareDocumentPosition(document.querySelector('.contents'))"
        assert page.evaluate(order) == FOLLOWING, "it opens with what was found"
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        top = page.evaluate("document.querySelector('.contents').getBoundingClientRect().top")
        assert (top >= 0) == (page.evaluate("innerWidth") > 640)

    def test_tables_sort_by_the_measured_values(self, page: Browser) -> None:
        table = "document.getElementById('responding.table3').querySelector('table.rows')"
        head = f"{table}.querySelector('th.n')"
        values = f"[...{table}.tBodies[0].rows].map((row) => parseFloat(row.querySelectorAll('td.n')[1].textContent))"
        before = page.evaluate(values)
        page.evaluate(f"{head}.click()")
        assert page.evaluate(values) == sorted(before, reverse=True)
        page.evaluate(f"{head}.click()")
        assert page.evaluate(values) == sorted(before)
        assert page.evaluate(f"{head}.getAttribute('aria-sort')") == "ascending"

    def test_tables_and_pictures_are_taken_away(self, page: Browser) -> None:
        page.evaluate(
            "{ window.taken = []; URL.createObjectURL = (blob) => { taken.push(blob); return '#'; };"
            " HTMLAnchorElement.prototype.click = function () { taken.push(this.download); }; 0 }"
        )
        page.evaluate("document.querySelectorAll('#test\\\\.rows .take').forEach((one) => one.click())")
        named = page.evaluate("taken.filter((one) => typeof one === 'string').sort()")
        assert named == ["test.rows.csv", "test.rows.svg"]
        texts = page.evaluate("Promise.all(taken.filter((one) => one instanceof Blob).map((one) => one.text()))")
        svg, text = sorted(texts, key=lambda text: not text.startswith("<svg"))
        rows = list(csv.DictReader(io.StringIO(text)))
        assert len(rows) == 30 and float(rows[29]["time_s"]) == 179.0 and rows[0]["time_s_published"] == "100.0"
        # The file has its own colours, since it lacks the page's variables.
        assert "fill: rgb(" in svg and "var(--" not in svg


def test_a_verdict_without_delay_stands_at_the_left_end_and_any_other_where_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The package has a function with the module's name.
    module = sys.modules["eifel.report.headlines"]
    delays = {"f-rto": 0.0, "dsack": 2.0}
    row = Row({"situation": "any", "detector": "f-rto"})
    table = SimpleNamespace(
        rows=[SimpleNamespace(row=row)],
        row=lambda situation, detector: SimpleNamespace(
            means={"found": Mean(50.0, None, 1), "delay_rtts": Mean(delays[detector], None, 1)}
        ),
    )
    monkeypatch.setattr(module, "PANEL", SimpleNamespace(detectors=("f-rto",)))
    monkeypatch.setattr(module, "ADVISED", "dsack")
    drawn: list[Spot] = []
    monkeypatch.setattr(module, "spots", lambda shown, *_: drawn.extend(shown) or "")
    _detectors({"detectors.truth": table})
    assert [(spot.name, spot.across) for spot in drawn] == [("f-rto", 0.01), ("dsack", 2.0)]


@pytest.mark.parametrize(("relative", "absolute", "band"), [(0.1, None, (90, 110)), (None, 5.0, (95, 105))])
def test_a_lines_band_is_the_tolerance_of_the_published_value(
    relative: float | None, absolute: float | None, band: tuple[float, float]
) -> None:
    column = Column("time_s", "Time, s", relative=relative, absolute=absolute)
    row = Row({"sender": "a"}, published={"time_s": 100.0})
    assert _line(MeasuredRow(row, {"time_s": Mean(101.0, None, 1)}), column).band == pytest.approx(band)
