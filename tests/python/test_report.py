import base64
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import eifel
from eifel.papers import artefacts
from eifel.papers.artefact import Setting
from eifel.report import build, build_run, command_of
from eifel.report.comparison import flows_html
from eifel.reproduction import reproduce

pytestmark = pytest.mark.usefixtures("fake")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def ids() -> list[str]:
    return ["responding.table1", "responding.table3", "responding.figure1a"]


@pytest.fixture
def page(ids: list[str]) -> str:
    return build([reproduce(name, repetitions=5) for name in ids])


def test_published_and_measured_stand_side_by_side(page: str) -> None:
    assert "<span>138.0</span>" in page
    assert "published" in page
    # Far outside: shown in words, not only by colour.
    assert re.search(r"outside: [-+][\d.]+ %", page)
    assert "Fitted settings" in page
    assert "eifel reproduce responding.table1 --seed 1 --repetitions 5" in page
    assert "one-way delay" in page


def test_fitted_and_chosen_settings_are_listed_separately() -> None:
    fitted = Setting("delay <1>", "1 s", "why", rows=("responding.table1: eifel off",))
    table = replace(artefacts()["responding.table1"], fitted=(fitted, Setting("ACK delay", "2 s", "so")))
    page = build([reproduce(table, repetitions=2)])
    assert page.count(">calibration<") == 2, "in the table, and in the card that a phone shows"
    assert page.index("Fitted settings") < page.index("delay &lt;1&gt;") < page.index("Chosen settings")
    assert "(why; fitted to responding.table1: eifel off)" in page
    page = build([reproduce("responding.figure1a")])
    assert "Fitted settings" not in page
    assert "<b>spike</b>: 2.85 to 8.5 s" in page


def test_known_reasons_are_shown_beside_disagreements() -> None:
    table = replace(artefacts()["responding.table1"], known=("a queue of <75>",))
    measured = reproduce(table, repetitions=2)
    assert measured.json()["known"] == ["a queue of <75>"]
    page = build([measured])
    assert page.index("What is known of what does not agree") < page.index("<li>a queue of &lt;75&gt;</li>")
    assert "What is known" not in build([reproduce(replace(table, known=()), repetitions=2)])


def test_every_artefact_can_be_found(page: str, ids: list[str]) -> None:
    for name in ids:
        assert f'<section id="{name}">' in page
        assert f'href="#{name}"' in page


def test_every_artefact_with_a_scenario_opens_in_the_playground_where_there_is_one() -> None:
    measured = [reproduce("responding.figure1a"), reproduce("responding.table1", repetitions=2)]
    page = build(measured, playground="web/index.html")
    carried = re.findall(r'href="web/index.html#scenario=([\w-]+)"', page)
    assert len(carried) == len(measured)
    for one, text in zip(measured, carried, strict=True):
        scenario = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        assert scenario == {"title": one.artefact.title, **one.artefact.rows[0].scenario, "seed": one.seed}
    assert "#scenario=" not in build(measured)


def test_nothing_is_fetched(page: str) -> None:
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", page)
    assert not re.search(r"@import|url\(", page)
    assert len(page) < 3_000_000


def test_text_from_outside_stays_text() -> None:
    bad = '</script><img src=x onerror="alert(1)">'
    flow = {"name": "main", "from": "a", "to": "b"}
    page = build_run(eifel.run({"title": bad, "flow": [flow]}))
    assert "<img" not in page
    assert "&lt;img" in page
    assert page.count("</script>") == page.count("<script")


def test_the_same_results_give_the_same_page(ids: list[str]) -> None:
    def without_times(name: str) -> str:
        measured = reproduce(name, repetitions=2)
        return re.sub(r"took</span> [\d.]+ s", "", build([measured]))

    for name in ids:
        assert without_times(name) == without_times(name)


def test_the_command_of_an_artefact_over_traces_names_the_missing_files(tmp_path: Path) -> None:
    trace = tmp_path / "a.down"
    trace.write_text("1\n")
    measured = reproduce("cellular.trace", traces=[trace])
    assert command_of(measured) == "eifel reproduce cellular.trace --seed 1 --repetitions 1 --trace FILE…"
    assert artefacts()["cellular.trace"].needs_traces


# A slow image delays the loading of the page. By then the charts are drawn and used, and the title
# has the result.
USED = """<img src="/slow" alt="">
<script>
const pause = () => new Promise((done) => setTimeout(done, 120));
setTimeout(async () => {
  const figure = document.querySelector("figure.chart"), canvas = document.querySelector("canvas");
  const over = document.querySelector(".u-over"), box = over.getBoundingClientRect();
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const mouse = (kind, x, y, more) => (more ?? over).dispatchEvent(
    new MouseEvent(kind, {
    bubbles: true, button: 0, movementX: 9, movementY: 9, clientX: box.left + x, clientY: box.top + y }));
  const all = canvas.toDataURL(), changed = [], restored = [];
  for (const act of [
    () => figure.dispatchEvent(new KeyboardEvent("keydown", { key: "+" })),
    () => document.querySelector(".tools button").click(),
    () => over.dispatchEvent(new WheelEvent("wheel", { deltaY: -1, ctrlKey: true, clientX: box.left + 99 })),
    () => { mouse("mousedown", 60, 40); mouse("mousemove", 160, 140); mouse("mouseup", 160, 140, document); },
  ]) {
    act();
    await pause();
    changed.push(canvas.toDataURL() !== all);
    figure.dispatchEvent(new KeyboardEvent("keydown", { key: "0" }));
    await pause();
    restored.push(canvas.toDataURL() === all);
  }
  document.querySelector(".bar button").click();
  await pause();
  changed.push(canvas.toDataURL() !== all);
  document.title = "state " + JSON.stringify({
    canvases: document.querySelectorAll("canvas").length,
    failures: document.querySelectorAll("p.outside").length,
    painted: pixels.filter((value, i) => i % 4 === 3 && value > 0).length,
    too_wide: document.documentElement.scrollWidth - innerWidth,
    changed, restored,
  }).replaceAll('"', "'");
  fetch("/done");
}, 1500);
</script>
"""


@pytest.fixture
def served(page: str) -> Iterator[str]:
    used = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/done":
                used.set()
            if self.path == "/slow":
                used.wait(60)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(page.replace("</body>", USED + "</body>").encode() if self.path == "/" else b"")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.skipif(CHROMIUM is None, reason="SKIPPED: chromium is not installed, so the report was not opened")
@pytest.mark.parametrize("width", [1280, 500])
def test_a_browser_draws_it_and_it_can_be_used(served: str, tmp_path: Path, width: int) -> None:
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]
    command += ["--disable-background-networking", "--disable-component-update", "--no-proxy-server"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},6000", "--dump-dom", served]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    found = re.search(r"<title>state (.*?)</title>", done.stdout)
    assert found, done.stderr[-2000:]
    state = json.loads(found[1].replace("'", '"'))
    assert (state["canvases"], state["failures"]) == (3, 0)
    assert state["painted"] > 5000
    assert state["too_wide"] <= 0, "the page scrolls sideways"
    assert state["changed"] == [True] * 5, "keys, buttons, wheel, drag, a layer switched off"
    assert state["restored"] == [True] * 4


def test_a_runs_summary_is_a_row_for_each_flow_and_a_column_for_each_number_that_is_not_zero() -> None:
    flows = [{"flow": "a<b", "time_s": 2, "undos": 0}, {"flow": "c", "time_s": 0, "undos": 0}]
    assert flows_html(flows) == (
        '<table><thead><tr><th>flow</th><th class="n">time s</th></tr></thead><tbody>'
        '<tr><th>a&lt;b</th><td class="n">2</td></tr><tr><th>c</th><td class="n">0</td></tr></tbody></table>'
    )
