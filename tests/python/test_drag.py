"""The report's charts with a real mouse and keys: in every panel, to the left and to the right."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import CHROMIUM, Browser
from eifel.report import build
from eifel.reproduction import reproduce

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="SKIPPED: chromium is not installed, so nothing was dragged")

CHART = "[...document.querySelectorAll('figure.chart')].at(-1).chart"
FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))))"
MODES = [(1280, False), (1280, True), (390, False), (390, True)]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "report.html"
    measured = [reproduce("responding.table1", repetitions=2)]
    measured += [reproduce(name) for name in ("responding.figure1a", "responding.figure2")]
    file.write_text(build(measured), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(params=MODES, ids=[f"{width}{' dark' * dark}" for width, dark in MODES])
def opened(browser: Browser, page: Path, request: pytest.FixtureRequest) -> Browser:
    width, dark = request.param
    browser.screen(width, 1200, dark=dark)
    browser.open(page)
    browser.evaluate("window.faults = []; addEventListener('error', (event) => faults.push(event.message)); 0")
    browser.evaluate("[...document.querySelectorAll('figure.chart')].at(-1).scrollIntoView()")
    browser.until(f"!!{CHART} && {CHART}.plots.length === 3")
    browser.evaluate(FRAMES)
    return browser


def scales(browser: Browser) -> list[dict[str, Any]]:
    """Returns the ranges of each panel, read within twenty seconds. A page that hangs answers later."""
    begun = time.monotonic()
    browser.evaluate(FRAMES)
    told: list[dict[str, Any]] = browser.evaluate(
        f"{CHART}.plots.map((plot) => Object.fromEntries(Object.entries(plot.scales)"
        ".map(([name, { min, max }]) => [name, { min, max }])))"
    )
    assert time.monotonic() - begun < 20
    assert browser.evaluate("faults") == []
    return told


def place(browser: Browser, panel: int) -> tuple[float, float, float, float]:
    """Returns a panel's place on the screen."""
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
    full = before[0]["x"]["max"]
    low, high = (full * side for side in sorted(sides))
    near = 3 * full / width
    for of in after:
        assert of["x"] == {"min": pytest.approx(low, abs=near), "max": pytest.approx(high, abs=near)}
        assert of["y"]["max"] > of["y"]["min"]
    # The values of each panel fill it again: part of the time has fewer segments.
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


def spans(browser: Browser) -> list[float]:
    """Returns the time span of each panel."""
    return [of["x"]["max"] - of["x"]["min"] for of in scales(browser)]


@pytest.mark.parametrize("panel", [0, 1, 2])
@pytest.mark.parametrize("side", [0.1, 0.9])
def test_the_wheel_zooms_about_the_pointer_once_the_chart_is_held(opened: Browser, panel: int, side: float) -> None:
    left, top, width, height = place(opened, panel)
    full = spans(opened)
    x, y = left + side * width, top + height / 2
    before = opened.evaluate("scrollY")
    opened.wheel(x, y, -40)
    opened.until(f"scrollY < {before}")
    assert spans(opened) == full, "the page scrolls under a wheel that nobody has given to the chart"
    left, top, width, height = place(opened, panel)
    x, y = left + side * width, top + height / 2
    opened.drag((x, y), (x, y))
    before = opened.evaluate("scrollY")
    opened.wheel(x, y, -40)
    after = scales(opened)
    for of in after:
        assert of["x"]["max"] - of["x"]["min"] == pytest.approx(0.8 * full[0])
        at = of["x"]["min"] + side * 0.8 * full[0]
        assert at == pytest.approx(side * full[0], abs=3 * full[0] / width), "what is under the pointer stays there"
    assert opened.evaluate("scrollY") == before
    opened.wheel(x, y, 40)
    assert spans(opened) == pytest.approx(full)


def test_keys_zoom_move_and_restore(opened: Browser) -> None:
    left, top, width, height = place(opened, 0)
    full = spans(opened)[0]
    opened.drag((left + width / 2, top + height / 2), (left + width / 2, top + height / 2))
    opened.press("+")
    opened.press("i")
    assert spans(opened) == pytest.approx([full / 4] * 3)
    low = scales(opened)[0]["x"]["min"]
    opened.press("ArrowRight")
    assert scales(opened)[2]["x"]["min"] == pytest.approx(low + full / 16)
    opened.press("ArrowLeft")
    opened.press("h")
    assert scales(opened)[1]["x"]["min"] == pytest.approx(low - full / 16)
    opened.press("-")
    assert spans(opened) == pytest.approx([full / 2] * 3)
    opened.press("0")
    assert spans(opened) == pytest.approx([full] * 3)
