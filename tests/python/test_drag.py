"""The charts under a real mouse: drags in every panel, to the left and to the right, flat and steep."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import eifel
from browser import CHROMIUM, Browser
from eifel.report import build_run

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="SKIPPED: chromium is not installed, so nothing was dragged")

SPIKE = Path(__file__).parents[2] / "examples" / "spike.toml"
CHART = "document.querySelector('figure.chart').chart"
FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))))"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "run.html"
    file.write_text(build_run(eifel.run(SPIKE)), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(params=[(1280, False), (1280, True), (390, False)], ids=["1280", "1280 dark", "390"])
def opened(browser: Browser, page: Path, request: pytest.FixtureRequest) -> Browser:
    width, dark = request.param
    browser.screen(width, 1200, dark=dark)
    browser.open(page)
    browser.evaluate("window.faults = []; addEventListener('error', (event) => faults.push(event.message)); 0")
    browser.until(f"!!{CHART} && {CHART}.plots.length === 3")
    browser.evaluate(FRAMES)
    return browser


def scales(browser: Browser) -> list[dict[str, Any]]:
    """The ranges of each panel, read within two seconds: a page that hangs answers later."""
    begun = time.monotonic()
    browser.evaluate(FRAMES)
    told: list[dict[str, Any]] = browser.evaluate(
        f"{CHART}.plots.map((plot) => Object.fromEntries(Object.entries(plot.scales)"
        ".map(([name, { min, max }]) => [name, { min, max }])))"
    )
    assert time.monotonic() - begun < 2
    assert browser.evaluate("faults") == []
    return told


def place(browser: Browser, panel: int) -> tuple[float, float, float, float]:
    """Where a panel is on the screen."""
    browser.evaluate(f"{CHART}.plots[{panel}].over.scrollIntoView({{ block: 'center' }})")
    left, top, width, height = browser.evaluate(
        f"(({{ left, top, width, height }}) => [left, top, width, height])"
        f"({CHART}.plots[{panel}].over.getBoundingClientRect())"
    )
    return left, top, width, height


@pytest.mark.parametrize("panel", [0, 1, 2])
@pytest.mark.parametrize("sides", [(0.02, 0.12), (0.12, 0.02), (0.15, 0.45), (0.55, 0.85), (0.98, 0.85)])
@pytest.mark.parametrize("rise", [0, 23])
def test_a_flat_drag_zooms_in_time_and_rescales_every_panel(
    opened: Browser, panel: int, sides: tuple[float, float], rise: int
) -> None:
    left, top, width, height = place(opened, panel)
    before = scales(opened)
    y = top + height / 2
    opened.drag((left + sides[0] * width, y), (left + sides[1] * width, y + rise))
    after = scales(opened)
    low, high = (before[0]["x"]["max"] * side for side in sorted(sides))
    for of in after:
        assert of["x"] == {"min": pytest.approx(low, abs=0.8), "max": pytest.approx(high, abs=0.8)}
        assert of["y"]["max"] > of["y"]["min"]
    # Each panel's values fill it again: the segments of a part are fewer than all.
    assert after[0]["y"]["max"] - after[0]["y"]["min"] < before[0]["y"]["max"] - before[0]["y"]["min"]
    left, top, *_ = place(opened, panel)
    opened.double_click(left + 50, top + 50)
    for of, once in zip(scales(opened), before, strict=True):
        assert of == {axis: {end: pytest.approx(value) for end, value in ends.items()} for axis, ends in once.items()}


@pytest.mark.parametrize("panel", [0, 1, 2])
def test_a_steep_drag_zooms_in_both_directions(opened: Browser, panel: int) -> None:
    left, top, width, height = place(opened, panel)
    before = scales(opened)
    opened.drag((left + 0.2 * width, top + 0.25 * height), (left + 0.6 * width, top + 0.75 * height))
    after = scales(opened)
    y = before[panel]["y"]
    span = y["max"] - y["min"]
    assert after[panel]["y"] == {
        "min": pytest.approx(y["min"] + 0.25 * span, abs=span / 50),
        "max": pytest.approx(y["min"] + 0.75 * span, abs=span / 50),
    }
    assert {round(of["x"]["min"], 6) for of in after} == {round(after[panel]["x"]["min"], 6)}
    assert after[panel]["x"]["max"] < before[panel]["x"]["max"]


def test_the_legend_lives_after_many_drags(opened: Browser) -> None:
    before = scales(opened)
    for number in range(6):
        left, top, width, height = place(opened, number % 3)
        opened.drag((left + 5, top + height / 2), (left + 5 + width / 4, top + height / 2 + number))
        opened.drag((left + width - 9, top + height / 2), (left + width / 2, top + height / 2 + number))
    scales(opened)
    hidden = "document.querySelector('.bar button').getAttribute('aria-pressed')"
    opened.evaluate("document.querySelector('.bar button').click()")
    assert opened.evaluate(hidden) == "false"
    left, top, *_ = place(opened, 0)
    opened.double_click(left + 30, top + 30)
    assert scales(opened)[0]["x"] == before[0]["x"]


def test_a_click_and_a_hair_of_a_drag_change_nothing(opened: Browser) -> None:
    left, top, width, height = place(opened, 0)
    before = scales(opened)
    opened.drag((left + width / 2, top + height / 2), (left + width / 2, top + height / 2))
    opened.drag((left + width / 2, top + height / 2), (left + width / 2 + 1, top + height / 2))
    assert scales(opened) == before
