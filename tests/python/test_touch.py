"""The report on an emulated touch screen."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from browser import CHROMIUM, Browser
from eifel.papers import artefacts
from eifel.report import build
from eifel.reproduction import reproduce

pytestmark = [
    pytest.mark.usefixtures("fake"),
    pytest.mark.skipif(CHROMIUM is None, reason="SKIPPED: chromium is not installed, so the report was not opened"),
]

PANEL = "document.querySelectorAll('.chart .u-over')[{}]"
FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 60))))"

# A chart of 0 to 100 s, 200 pixels wide, that records requests.
RECORDER = """(() => {
  const over = document.body.appendChild(document.createElement("div"));
  over.style = "position: fixed; left: 50px; top: 0; width: 200px; height: 100px; z-index: 9";
  let range = { min: 20, max: 60 }, begun = 0, all = 0;
  touchable(over, {
    range: () => range,
    zoom: (min, max) => { range = { min, max }; },
    everything: () => { all += 1; },
    begin: () => { begun += 1; },
  });
  const finger = (kind, id, x, y, type = "touch") => over.dispatchEvent(
    new PointerEvent(kind, { pointerId: id, pointerType: type, clientX: 50 + x, clientY: y }));
  const result = (%s)(finger);
  over.remove();
  return [Math.round(range.min * 1000) / 1000, Math.round(range.max * 1000) / 1000, begun, all];
})()"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(params=[False, True], ids=["light", "dark"])
def phone(browser: Browser, tmp_path: Path, request: pytest.FixtureRequest) -> Browser:
    browser.screen(390, 844, touch=True, dark=request.param)
    file = tmp_path / "report.html"
    measured = [reproduce("responding.table1", repetitions=2), reproduce("responding.figure1a")]
    file.write_text(build(measured), encoding="utf-8")
    browser.open(file)
    browser.evaluate("document.querySelector('figure.chart').scrollIntoView()")
    browser.until("document.querySelectorAll('canvas').length === 3")
    browser.evaluate(FRAMES)
    return browser


def seen(phone: Browser, panel: int = 0) -> str:
    phone.evaluate(FRAMES)
    return str(phone.evaluate(f"document.querySelectorAll('.chart canvas')[{panel}].toDataURL()"))


def place(phone: Browser, panel: int) -> tuple[float, float, float]:
    """Returns a panel's place on the screen: left, top and width."""
    over = PANEL.format(panel)
    phone.evaluate(f"{over}.scrollIntoView({{ block: 'center' }})")
    left, top, width = phone.evaluate(
        f"(({{ left, top, width }}) => [left, top, width])({over}.getBoundingClientRect())"
    )
    return left, top, width


@pytest.mark.parametrize(
    ("fingers", "expected"),
    [
        # 40 s on 200 pixels: a drag begins when the finger is 6 pixels away, and 50 more are 10 s.
        ("f('pointerdown', 1, 100, 50); f('pointermove', 1, 107, 50); f('pointermove', 1, 157, 50)", [10, 50, 1, 0]),
        ("f('pointerdown', 1, 100, 50); f('pointermove', 1, 93, 50); f('pointermove', 1, 43, 90)", [30, 70, 1, 0]),
        # Twice as far apart around 40 s: half the span is visible.
        (
            "f('pointerdown', 1, 75, 50); f('pointerdown', 2, 125, 50);"
            "f('pointermove', 1, 50, 50); f('pointermove', 2, 150, 50)",
            [30, 50, 1, 0],
        ),
        # Fingers above each other zoom too, and the point between them follows them.
        (
            "f('pointerdown', 1, 100, 20); f('pointerdown', 2, 100, 60);"
            "f('pointermove', 1, 50, 30); f('pointermove', 2, 50, 50)",
            [20, 100, 1, 0],
        ),
        # One of two fingers is lifted: the other continues from its place, without a jump.
        (
            "f('pointerdown', 1, 75, 50); f('pointerdown', 2, 125, 50); f('pointerup', 2, 125, 50);"
            "f('pointermove', 1, 125, 50)",
            [10, 50, 1, 0],
        ),
        ("f('pointerdown', 1, 100, 50); f('pointermove', 1, 104, 50); f('pointerup', 1, 104, 50)", [20, 60, 0, 0]),
        (
            "f('pointerdown', 1, 9, 9); f('pointerup', 1, 9, 9); f('pointerdown', 1, 12, 9); f('pointerup', 1, 12, 9)",
            [20, 60, 0, 1],
        ),
        (
            "f('pointerdown', 1, 9, 9); f('pointerup', 1, 9, 9); f('pointerdown', 1, 90, 9); f('pointerup', 1, 90, 9)",
            [20, 60, 0, 0],
        ),
        # The browser took the finger to scroll the page.
        ("f('pointerdown', 1, 9, 9); f('pointercancel', 1, 9, 9); f('pointermove', 1, 99, 9)", [20, 60, 0, 0]),
        ("f('pointerdown', 1, 9, 9, 'mouse'); f('pointermove', 1, 99, 9, 'mouse')", [20, 60, 0, 0]),
    ],
)
def test_a_gesture_gives_the_expected_range(phone: Browser, fingers: str, expected: list[float]) -> None:
    assert phone.evaluate(RECORDER % f"(f) => {{ {fingers} }}") == expected


@pytest.mark.parametrize("panel", [0, 1, 2])
def test_pinch_drag_and_double_tap(phone: Browser, panel: int) -> None:
    left, top, width = place(phone, panel)
    y, middle = top + 40, left + width / 2
    everything = seen(phone, panel)
    phone.fingers(*([(middle - 20 * i, y), (middle + 20 * i, y + 5)] for i in range(1, 6)))
    zoomed = seen(phone, panel)
    assert zoomed != everything
    for to_the_left in (-1, 1):
        phone.fingers(*([(middle - to_the_left * (60 - 20 * i), y)] for i in range(7)))
        moved = seen(phone, panel)
        assert moved not in (zoomed, everything)
        zoomed = moved
    for _ in range(2):
        phone.fingers([(middle, y)])
    assert seen(phone, panel) == everything


@pytest.mark.parametrize("panel", [0, 1, 2])
def test_the_page_scrolls_under_a_finger_on_a_plot(phone: Browser, panel: int) -> None:
    left, top, _ = place(phone, panel)
    everything, before = seen(phone, panel), phone.evaluate("scrollY")
    phone.fingers(*([(left + 100, top + 100 - 20 * i)] for i in range(10)))
    phone.until(f"scrollY > {before} + 60")
    assert seen(phone, panel) == everything


def test_nothing_is_wider_than_the_phone(phone: Browser) -> None:
    assert phone.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_no_value_of_a_table_with_long_titles_is_cut_off(browser: Browser, tmp_path: Path) -> None:
    browser.screen(390, 844, touch=True)
    table = artefacts()["responding.table1"]
    long = tuple(
        replace(column, title="What it takes, against nothing, and with no proxy, %") for column in table.columns
    )
    file = tmp_path / "report.html"
    file.write_text(build([reproduce(replace(table, columns=long), repetitions=2)]), encoding="utf-8")
    browser.open(file)
    edge = "document.querySelector('.rows').closest('section').getBoundingClientRect().right"
    cells = "[...document.querySelectorAll('.rows td > span')].map((cell) => cell.getBoundingClientRect().right)"
    assert browser.evaluate(f"Math.max(...{cells}) - {edge}") <= 0
