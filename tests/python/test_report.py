import re
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import eifel
from eifel.papers import artefacts
from eifel.report import build, build_run, command_of
from eifel.reproduce import reproduce

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
    # Far outside: said in words, not only by colour.
    assert re.search(r"outside: [-+]\d+ %", page)
    assert "Fitted settings" in page
    assert "eifel reproduce responding.table1 --seed 1 --repetitions 5" in page
    assert "one-way delay" in page


def test_every_artefact_can_be_found(page: str, ids: list[str]) -> None:
    for name in ids:
        assert f'<section id="{name}">' in page
        assert f'href="#{name}"' in page


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


def test_the_command_of_a_trace_names_what_is_missing(tmp_path: Path) -> None:
    trace = tmp_path / "a.down"
    trace.write_text("1\n")
    measured = reproduce("cellular.trace", traces=[trace])
    assert command_of(measured) == "eifel reproduce cellular.trace --seed 1 --repetitions 1 --trace FILE…"
    assert artefacts()["cellular.trace"].needs_traces


# An image that takes its time keeps the page from being loaded; by then the charts are drawn, and the title says how.
DRAWN = """<img src="/slow" alt="">
<script>
addEventListener("load", () => {
  const canvas = document.querySelector("canvas");
  const pixels = canvas ? canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data : [];
  document.title = "state " + [
    document.querySelectorAll("canvas").length,
    document.querySelectorAll("p.outside").length,
    pixels.filter((value, i) => i % 4 === 3 && value > 0).length,
    document.documentElement.scrollWidth - innerWidth,
  ].join(" ");
});
</script>
"""


@pytest.fixture
def served(page: str) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/slow":
                time.sleep(3)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(page.replace("</body>", DRAWN + "</body>").encode() if self.path == "/" else b"")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
@pytest.mark.parametrize("width", [1280, 500])
def test_a_browser_draws_it(served: str, tmp_path: Path, width: int) -> None:
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]
    command += ["--disable-background-networking", "--disable-component-update", "--no-proxy-server"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},6000", "--dump-dom", served]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    found = re.search(r"<title>state (.*?)</title>", done.stdout)
    assert found, done.stderr[-2000:]
    canvases, failures, painted, too_wide = map(int, found[1].split())
    assert (canvases, failures) == (3, 0)
    assert painted > 5000
    assert too_wide <= 0, "the page scrolls sideways"
