"""The report's map shows the measured values, and responds to mouse, fingers and keys."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from browser import CHROMIUM, Browser
from eifel.papers.artefact import Artefact, Column, Measured, MeasuredRow, Row, Studied
from eifel.papers.study import Study
from eifel.report import build
from eifel.report.atlas import Cases, atlas
from eifel.statistics import Mean
from eifel.studies import atlas as study
from eifel.sweeps import load


@dataclass(frozen=True)
class Axis:
    name: str
    title: str
    values: tuple[float, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Point:
    name: str
    place: dict[str, float]


AXES = (
    Axis("rate", "Rate", (1, 2, 3), ("slow", "middling", "fast")),
    Axis("spike", "Spike", (1, 5), ("short", "long")),
    Axis("loss", "Loss", (0, 1), ("none", "some")),
)
FAMILIES = {"SACK": "no detector", "Eifel, SACK": "Eifel"}
CASES = Cases(
    "A case:",
    (Point("the bad one", {"rate": 3, "spike": 5, "loss": 1}),),
    {"rate": 1, "spike": 1, "loss": 0},
    ("rate", "spike"),
)


def show(measured: Measured) -> str:
    return atlas(measured, AXES, FAMILIES, CASES)


def place(number: int) -> dict[str, float]:
    return {"rate": 1 + number // 4, "spike": (1, 5)[number // 2 % 2], "loss": number % 2}


ARTEFACT = Artefact(
    id="test.atlas",
    title="A map",
    source="nowhere",
    columns=(Column("SACK", "SACK"), Column("Eifel, SACK", "Eifel, SACK")),
    rows=tuple(Row(place(number)) for number in range(12)),
    method=Studied(Study(lambda _: {}, {}, ()), measure=lambda *_: [], show=show),
)


def measured() -> Measured:
    rows = []
    for number, row in enumerate(ARTEFACT.rows):
        gain = 1.5 if row.keys["spike"] == 5 else 1.01
        without = 100.0 + number
        rows.append(MeasuredRow(row, {"SACK": Mean(without, 2, 3), "Eifel, SACK": Mean(without * gain, 4, 3)}))
    return Measured(ARTEFACT, rows, [], 3, 1, 0.5)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Browser:
    file = tmp_path / "report.html"
    file.write_text(build([measured()]), encoding="utf-8")
    browser.screen(1200, 900)
    browser.open(file)
    browser.until("document.querySelectorAll('.atlas .map button').length === 6")
    return browser


in_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="SKIPPED: chromium is not installed, so the map was not opened"
)


def cells(page: Browser) -> list[str]:
    return page.evaluate("[...document.querySelectorAll('.atlas .map button')].map((cell) => cell.innerText.trim())")


def result(page: Browser) -> str:
    return page.evaluate("document.querySelector('.atlas .result').innerText")


def chosen(page: Browser) -> str:
    return page.evaluate("document.querySelector('.atlas [aria-selected=true]').ariaLabel")


def press(page: Browser, key: str) -> None:
    for kind in ("keyDown", "keyUp"):
        page("Input.dispatchKeyEvent", type=kind, key=key, code=key)


@in_browser
def test_each_place_of_the_map_names_the_winner_and_its_lead(page: Browser) -> None:
    assert [cell.split("\n")[0] for cell in cells(page)] == ["=", "=", "=", "+50 %", "+50 %", "+50 %"]
    assert "Detecting gains nothing to speak of here: SACK is within 3 %" in result(page)
    page.evaluate("document.querySelectorAll('.atlas .map button')[4].click()")
    assert chosen(page).startswith("Rate middling, Spike long: Eifel, SACK, 50 % more")
    shown = result(page)
    assert "Rate middling · Spike long · Loss none" in shown
    assert "Eifel, SACK brings most, 50 % more than the best without a detector (SACK)." in shown
    # Row 6 of the grid: 106 and 159.
    assert "159 kbit/s ± 2.5 %" in shown
    assert "106 kbit/s ± 1.9 %" in shown
    assert "−33 %" in shown


@in_browser
def test_keys_walk_through_it(page: Browser) -> None:
    page.evaluate("document.querySelector('.atlas [aria-selected=true]').focus()")
    for key in ("ArrowRight", "ArrowDown", "ArrowRight", "ArrowRight"):
        press(page, key)
    assert chosen(page).startswith("Rate fast, Spike long")
    assert page.evaluate("document.activeElement.ariaLabel").startswith("Rate fast, Spike long")


@in_browser
def test_cases_and_sides_can_be_chosen(page: Browser) -> None:
    choose = (
        "((select, value) => { select.value = value; select.onchange(); })"
        "(document.querySelectorAll('.atlas select')[%d], '%s')"
    )
    page.evaluate(choose % (0, "0"))
    assert "Rate fast · Spike long · Loss some" in result(page)
    page.evaluate(choose % (1, "2"))
    assert [cell.split("\n")[0] for cell in cells(page)] == ["=", "=", "+50 %", "+50 %"]
    # The axis on the other side changes places with it.
    page.evaluate(choose % (2, "2"))
    assert [cell.split("\n")[0] for cell in cells(page)] == ["=", "+50 %", "=", "+50 %"]
    page.evaluate("document.querySelector('.atlas input[type=radio]').click()")
    assert "Rate slow · Spike long · Loss some" in result(page)
    assert page.evaluate("document.querySelector('.atlas select').value") == ""


@in_browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_phone_has_room_for_it(page: Browser, dark: bool) -> None:
    page.screen(360, 740, touch=True, dark=dark)
    page.until("innerWidth === 360")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    narrowest = "Math.min(...[...document.querySelectorAll('.atlas .map button')].map((cell) => cell.offsetWidth))"
    assert page.evaluate(narrowest) > 40
    last = "document.querySelectorAll('.atlas .map button')[5].getBoundingClientRect()"
    x, y = page.evaluate(f"(({{ left, top }}) => [left + 5, top + 5])({last})")
    page.evaluate(f"scrollTo(0, {y - 300})")
    page.fingers([(x, 300)])
    page.until("document.querySelector('.atlas [aria-selected=true]').ariaLabel.startsWith('Rate fast, Spike long')")


def test_the_page_has_the_map_in_place_of_the_table_and_asks_nobody() -> None:
    html = build([measured()])
    assert 'class="atlas"' in html
    assert 'class="rows"' not in html
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "")


def test_the_grid_and_the_sweep_are_in_the_same_order() -> None:
    plan = load({**study.design("test"), "seed": 1, "repetitions": 1})
    rows = study.ROWS
    assert plan.cells == len(study.SENDERS) * len(rows)
    for number in (0, 1, 5, 777, len(rows) - 1, len(rows), plan.cells - 1):
        cell, row = plan.cell(number), rows[number % len(rows)]
        assert cell.case == list(study.SENDERS)[number // len(rows)]
        for axis in study.AXES:
            assert cell.settings[axis.key] == row.keys[axis.name] * axis.scale
    plan.source(plan.cell(0))


def test_the_cases_of_table_1_are_places_of_the_grid() -> None:
    assert len({point.name for point in study.POINTS}) == 8
    places = [dict(row.keys) for row in study.ROWS]
    assert all(dict(point.place) in places for point in study.POINTS)
    assert study.START in places


def test_the_labels_of_the_maps_axes_are_their_values() -> None:
    units = {"kbit/s": 1e3, "Mbit/s": 1e6, "ms": 1.0, "s": 1.0, "%": 0.01, "": 1.0}
    for axis in study.AXES:
        # Round trips are in milliseconds, and spikes in seconds.
        seconds = 1000.0 if axis.name == "rtt_ms" else 1.0
        for value, label in zip(axis.values, axis.labels, strict=True):
            number, _, unit = label.partition(" ")
            read = 0.0 if label == "none" else float(number) * (seconds if unit == "s" else units[unit])
            assert read == pytest.approx(value), (axis.name, label)
