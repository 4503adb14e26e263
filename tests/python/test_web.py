"""The page without installation answers like the engine itself, never blocks, and never connects."""

from __future__ import annotations

import base64
import gzip
import json
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from browser import CHROMIUM, Browser
from eifel import _engine, cli
from eifel.captures import repairs

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "crates" / "web" / "page"
NODE = shutil.which("node")
SEEDS = 300
TOLD = range(20)
"""Seeds of wild paths on which the transfer comes to rest."""
CORPUS = ROOT / "fuzz" / "corpus"
CAPTURED = ("analysis/*", "qlog/drafts", "qlog/sequence")
"""Captures and logs of the tests. Only whole qlogs."""
PIECE = 1 << 20
LARGE = ROOT / "benches" / "scenarios" / "large_capture.toml"
CHOOSE = """((selector, value) => {
  const one = document.querySelector(selector);
  one.value = value;
  for (const name of ["input", "change"]) one.dispatchEvent(new Event(name, { bubbles: true }));
})"""
KEEP_SAVED = """(() => {
  window.saved = null;
  const before = URL.createObjectURL;
  URL.createObjectURL = (blob) => { window.saved = blob; return before.call(URL, blob); };
})()"""
NAMELESS = """[...document.querySelectorAll("input, select, button, textarea")]
  .filter((one) => !(one.labels && one.labels.length) && !one.getAttribute("aria-label") && !one.textContent.trim())
  .map((one) => one.outerHTML)"""
SHOWN = "document.getElementById('chart-b').dataset.runs"


@pytest.fixture(scope="module")
def wasm() -> Path:
    built = subprocess.run(
        [ROOT / "crates" / "web" / "build.sh"], capture_output=True, text=True, check=False, cwd=ROOT
    )
    if built.returncode == 2:
        pytest.skip(f"SKIPPED: {built.stderr.strip()}")
    assert built.returncode == 0, built.stderr
    return ROOT / built.stdout.strip().splitlines()[-1]


@pytest.fixture(scope="module")
def page(wasm: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("web") / "index.html"
    subprocess.run([sys.executable, PAGE / "build.py", wasm, out], check=True, capture_output=True)
    return out


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("SKIPPED: chromium is not installed, so the page was not opened")
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def opened(browser: Browser, page: Path) -> Browser:
    browser.screen(1280, 1200)
    show(browser, page)
    return browser


def show(browser: Browser, page: Path, fragment: str = "") -> None:
    browser("Page.navigate", url="about:blank")
    browser("Page.navigate", url=page.as_uri() + fragment)
    browser.until(
        f"document.body && document.body.dataset.ready === 'yes' && {SHOWN}"
        " && document.getElementById('cost-a').textContent !== ''"
    )


def text(browser: Browser, place: str) -> str:
    return str(browser.evaluate(f"document.getElementById({place!r}).textContent"))


def row_of(browser: Browser, label: str, number: int) -> list[str]:
    """Returns the cells of a row of the table with this label."""
    rows = f"document.querySelectorAll('table[aria-label={label}] tbody tr')"
    cells: list[str] = browser.evaluate(f"[...{rows}[{number}].cells].map((cell) => cell.textContent)")
    return cells


def assert_says(browser: Browser, whole: str) -> None:
    """Expects the text of `eifel analyze` on the page, the total as a paragraph of its own."""
    total, rest = whole.split("\n\n", 1)
    assert text(browser, "total") == " ".join(total.split())
    assert text(browser, "summary") == rest


def choose(browser: Browser, selector: str, value: str) -> None:
    browser.evaluate(f"{CHOOSE}({json.dumps(selector)}, {json.dumps(value)})")


def answers(wasm: Path, folder: Path, requests: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the answers of the engine in WebAssembly."""
    if NODE is None:
        pytest.skip("SKIPPED: node is not installed, so WebAssembly was not compared with the engine")
    asked, told = folder / "requests", folder / "answers"
    asked.write_text("\n".join(map(json.dumps, requests)), encoding="utf-8")
    script = Path(__file__).with_name("web_answers.mjs")
    subprocess.run([NODE, script, PAGE / "engine.js", wasm, asked, told], check=True)
    return [json.loads(line) for line in told.read_text(encoding="utf-8").splitlines()]


def read(name: str, capture: bytes) -> list[dict[str, Any]]:
    """Returns the requests that analyse a capture."""
    pieces = [capture[at : at + PIECE] for at in range(0, len(capture), PIECE)]
    feed = [{"request": {"ask": "feed"}, "body": base64.b64encode(piece).decode()} for piece in pieces]
    return [{"request": {"ask": "open", "name": name}}, *feed, {"request": {"ask": "finish"}}]


def test_a_run_says_the_same_bytes_as_the_engine(wasm: Path, tmp_path: Path) -> None:
    scenarios = [_engine.captured(seed)[0] for seed in range(SEEDS)]
    encoded = [base64.b64encode(one.encode()).decode() for one in scenarios]
    told = answers(wasm, tmp_path, [{"request": {"ask": "run", "tables": []}, "body": one} for one in encoded])
    assert len(told) == SEEDS
    for scenario, answer in zip(scenarios, told, strict=True):
        assert answer.get("summary") == _engine.run(scenario, "scenario", 0, []).summary_json(), answer


def test_a_capture_says_the_same_bytes_as_the_engine(
    wasm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A report names a file by its given path, but the page knows only the name.
    monkeypatch.chdir(tmp_path)
    captures = [(name, capture) for seed in range(60) for name, capture, _ in _engine.captured(seed)[1]]
    captures += [(name, capture) for seed in TOLD for name, capture, _ in _engine.captured(seed, wild=True)[1]]
    captures += [(file.name, file.read_bytes()) for place in CAPTURED for file in sorted(CORPUS.glob(place))]
    captures.append(("empty.pcap", b""))
    assert cli.main(["run", str(ROOT / "examples" / "sctp.toml"), "--pcap", "sctp.pcapng", "--json"]) == 0
    captures.append(("sctp.pcapng", Path("sctp.pcapng").read_bytes()))
    requests, ends = [], []
    for name, capture in captures:
        requests += read(name, capture)
        ends.append(len(requests) - 1)
    told = answers(wasm, tmp_path, requests)
    assert len(captures) > 200
    for (name, capture), end in zip(captures, ends, strict=True):
        Path(name).write_bytes(capture)
        assert told[end].get("report") == _engine.analyze([name]).json(), told[end]


def test_bad_requests_and_files_get_a_line_and_the_engine_goes_on(wasm: Path, tmp_path: Path) -> None:
    body = base64.b64encode(b"no scenario").decode()
    requests = [
        {"request": {"ask": "run", "tables": []}, "body": body},
        {"request": {"ask": "run", "tables": ["bogus"]}, "body": base64.b64encode(SPIKE.encode()).decode()},
        {"request": {"ask": "sing"}},
        {"request": {"ask": "feed"}},
        *read("text.pcap", b"this is no capture"),
        *read("cut.qlog", b'{"qlog_version": "0.3", "traces": ['),
        {"request": {"ask": "run", "tables": []}, "body": base64.b64encode(SPIKE.encode()).decode()},
    ]
    told = answers(wasm, tmp_path, requests)
    errors = [str(one.get("error", "")) for one in told]
    assert not any("fault" in error or "\n" in error for error in errors)
    assert "scenario:1" in errors[0]
    assert "unknown table" in errors[1]
    assert "allowed: run" in errors[2]
    assert errors[3] == "no capture is open"
    assert any(error.startswith("text.pcap: ") for error in errors)
    assert any(error.startswith("cut.qlog: ") for error in errors)
    assert "error" not in told[-1]


SPIKE = (ROOT / "examples" / "spike.toml").read_text(encoding="utf-8")


def test_the_page_is_small_and_may_not_connect(page: Path) -> None:
    html = page.read_text(encoding="utf-8")
    assert len(html.encode()) < 1.7e6
    assert "connect-src 'none'" in html
    assert "http://" not in html.replace("http://www.w3.org", "").replace("http://dean", "")


def test_the_page_opens_with_the_readmes_spike(opened: Browser) -> None:
    flow = json.loads(_engine.run(SPIKE, "spike.toml", 0, []).summary_json())[0]
    spurious, again = flow["spurious_retransmissions"], flow["retransmissions"]
    assert f"{spurious} of {again} retransmissions were needless" in text(opened, "cost-b")
    assert "faster" in text(opened, "compared")
    assert opened.evaluate("document.getElementById('chart-b').chart.plots.length") == 3


def test_nothing_can_leave_the_page(opened: Browser, tmp_path: Path) -> None:
    assert opened.evaluate("fetch('http://127.0.0.1:9/').then(() => 'left', (error) => 'refused')") == "refused"
    opened.evaluate(
        "window.told = []; document.addEventListener('securitypolicyviolation',"
        " (event) => told.push(event.effectiveDirective)); 0"
    )
    opened.evaluate("fetch('data:,x').catch(() => 0)")
    opened.evaluate("try { new WebSocket('ws://127.0.0.1:9') } catch {} 0")
    opened.until("told.includes('connect-src')")


def test_a_slider_redraws_both_and_is_in_the_link(opened: Browser, page: Path) -> None:
    before = text(opened, "cost-a")
    choose(opened, "input[data-control='spike_length_s']", "0")
    opened.until("document.getElementById('cost-a').textContent.startsWith('Nothing was retransmitted')")
    opened.until("location.hash.includes('spike_length_s=0')")
    fragment = opened.evaluate("location.hash")
    show(opened, page, fragment)
    assert text(opened, "cost-a").startswith("Nothing was retransmitted")
    opened.evaluate("document.getElementById('reset').click()")
    opened.until(f"document.getElementById('cost-a').textContent === {json.dumps(before)}")


def test_a_redraw_takes_no_tenth_of_a_second(opened: Browser) -> None:
    script = """(async () => {
      const slider = document.querySelector("input[data-control='spike_length_s']");
      const figure = document.getElementById("chart-b");
      const once = async (value) => {
        const runs = figure.dataset.runs, begun = performance.now();
        slider.value = value;
        slider.dispatchEvent(new Event("input"));
        while (figure.dataset.runs === runs) await new Promise((done) => setTimeout(done, 1));
        return performance.now() - begun;
      };
      const took = [];
      for (let i = 0; i < 9; i++) took.push(await once(2 + i));
      return took.sort((a, b) => a - b)[4];
    })()"""
    # `make bench` measures the cost of a change on an idle machine. Here it must only not be
    # excessive.
    assert opened.evaluate(script) < 2000


def test_each_preset_runs(opened: Browser) -> None:
    presets = opened.evaluate("[...document.querySelectorAll('#preset option')].map((one) => one.value)")
    assert len(presets) > 30
    for preset in presets:
        runs = opened.evaluate(SHOWN)
        choose(opened, "#preset", preset)
        opened.until(f"{SHOWN} !== {json.dumps(runs)} || !document.getElementById('failed-b').hidden")
        assert opened.evaluate(
            "document.getElementById('failed-a').hidden && document.getElementById('failed-b').hidden"
        ), (
            preset,
            text(opened, "failed-a"),
            text(opened, "failed-b"),
        )


def test_of_two_directions_both_are_counted_and_the_busier_is_drawn(opened: Browser, page: Path) -> None:
    show(opened, page, "#preset=two-way-thin-return")
    said = text(opened, "cost-b")
    assert "needless" in said and ": 0 bytes" not in said
    drawn = "document.getElementById('chart-b').chart.panels[0].layers.find((one) => one.name === 'segment').x.length"
    assert opened.evaluate(drawn) > 100


def test_menus_choose_algorithms_and_a_refusal_is_one_line(opened: Browser) -> None:
    opened.evaluate("document.querySelectorAll('details.choices').forEach((one) => { one.open = true; }); 0")
    choose(opened, "#sender-b select[name='detect']", "f-rto")
    opened.until("location.hash.includes('b.detect=f-rto')")
    opened.until("document.querySelector(\"#sender-b select[name='detect']\").value === 'f-rto'")
    choose(opened, "#sender-b select[name='detect']", "eifel-bit")
    opened.until("location.hash.includes('b.detect=eifel-bit')")
    # The engine refuses, and the page continues.
    opened.evaluate("location.hash = '#preset=spike&b.detect=bogus'; 0")
    opened.until("!document.getElementById('failed-b').hidden")
    assert "unknown" in text(opened, "failed-b")
    assert "\n" not in text(opened, "failed-b").strip()
    choose(opened, "#sender-b select[name='detect']", "dsack")
    opened.until("document.getElementById('failed-b').hidden")


def test_it_runs_over_sctp_too(opened: Browser) -> None:
    choose(opened, "#transport", "sctp")
    opened.until("document.querySelector(\"#sender-b select[name='retransmit']\") !== null")
    opened.until("document.getElementById('failed-a').hidden && document.getElementById('failed-b').hidden")
    assert "cover" in opened.evaluate("document.querySelector(\"#sender-b select[name='detect']\").value")


def test_step_mode_shows_the_decision_of_each_part(opened: Browser) -> None:
    opened.evaluate("document.getElementById('steps').open = true; 0")
    opened.until("document.getElementById('step-text').textContent !== ''")
    seen = []
    for _ in range(60):
        opened.evaluate("document.getElementById('step-rare').click()")
        seen.append((text(opened, "step-text"), text(opened, "step-why")))
    expired = [why for said, why in seen if said.startswith("The retransmission timer expires")]
    assert expired and "RFC 6298" in expired[0]
    verdicts = [why for said, why in seen if "spurious" in said and said.startswith("eifel-timestamps")]
    assert verdicts and "RFC 3522" in verdicts[0]


def test_toml_for_the_command_line_is_that_scenario(opened: Browser) -> None:
    opened.evaluate("window.kept = ''; navigator.clipboard.writeText = async (text) => { window.kept = text; }; 0")
    opened.evaluate("document.getElementById('toml-b').click()")
    opened.until("window.kept !== ''")
    copied = str(opened.evaluate("window.kept"))
    ours = json.loads(_engine.run(copied, "copied", 0, []).summary_json())
    assert ours == json.loads(_engine.run(SPIKE, "spike.toml", 0, []).summary_json())


def test_a_dropped_capture_is_judged_drawn_and_annotated(opened: Browser, tmp_path: Path) -> None:
    found = [(seed, _engine.captured(seed)[1][0]) for seed in range(20)]
    _, (name, capture, _) = max(
        found, key=lambda one: len(json.loads(_engine.analyze_bytes("x", one[1][1]).json())["retransmissions"])
    )
    file = tmp_path / f"{name}.pcapng"
    file.write_bytes(capture)
    report = json.loads(_engine.analyze_bytes(file.name, capture).json())
    opened.choose("#file", file)
    opened.until("document.getElementById('summary') !== null")
    assert_says(opened, _engine.analyze_bytes(file.name, capture).text())
    again = repairs(report)
    assert f"{len(again)} retransmission" in text(opened, "found")
    assert again and row_of(opened, "Retransmissions", 0)[0] == str(again[0]["frame"])
    opened.evaluate(KEEP_SAVED)
    opened.evaluate(
        "[...document.querySelectorAll('#found button')].find((one) => one.textContent === 'graph').click()"
    )
    opened.until("document.querySelector('#graph figure') && !!document.querySelector('#graph figure').chart")
    opened.evaluate(
        "[...document.querySelectorAll('#found button')]"
        ".find((one) => one.textContent === 'Save with comments (pcapng)').click()"
    )
    opened.until("window.saved && window.saved.type === 'application/octet-stream'")
    assert opened.evaluate("window.saved.size") > len(capture) // 2
    opened.evaluate(
        "[...document.querySelectorAll('#found button')].find((one) => one.textContent.startsWith('Try other')).click()"
    )
    opened.until(
        "document.getElementById('predicted').textContent !== ''"
        " || document.getElementById('drop-said').className === 'outside'"
    )


def test_an_example_is_a_button_away_above_the_fold(opened: Browser, tmp_path: Path) -> None:
    opened.screen(1280, 720)
    for place in ("file", "example"):
        assert opened.evaluate(f"document.getElementById({place!r}).getBoundingClientRect().bottom") < 720
    opened.evaluate("document.getElementById('example').click()")
    opened.until("document.getElementById('summary') !== null")
    assert (
        cli.main(["run", str(ROOT / "examples" / "bandwidth-change.toml"), "--pcap", str(tmp_path / "example.pcapng")])
        == 0
    )
    report = _engine.analyze([tmp_path / "example.pcapng"])
    assert text(opened, "total").startswith("20 of 20 retransmissions were needless")
    assert "set: On the sender" in text(opened, "summary")
    assert_says(opened, report.text().replace(str(tmp_path / "example.pcapng"), "example.pcapng"))
    # The total is to be seen without scrolling.
    assert opened.evaluate("document.getElementById('total').getBoundingClientRect().bottom") < 720


@pytest.mark.parametrize("name", ["keep_alives.pcapng", "sctp_verbose.pcapng", "custom_blocks.pcapng"])
def test_the_page_has_the_totals_and_the_words_of_the_text(opened: Browser, name: str) -> None:
    file = ROOT / "crates" / "capture" / "tests" / "faults" / name
    found = _engine.analyze_bytes(name, file.read_bytes())
    report, words = json.loads(found.json()), json.loads(found.words())
    opened.choose("#file", file)
    opened.until("document.getElementById('summary') !== null")
    assert_says(opened, found.text())
    again = repairs(report)
    assert opened.evaluate("document.querySelectorAll('#found h3').length") == (2 if again else 0)
    assert len(again) == (7 if name.startswith("sctp") else 0)
    for number, of in enumerate(words["directions"]):
        shown = row_of(opened, "Connections", number)
        assert [shown[2], shown[3]] == [of["lines"][0], "; ".join(of["lines"][1:])]
    if again:
        assert row_of(opened, "Retransmissions", 0)[7] == "undone"
    opened.screen(390, 800)
    assert opened.evaluate(
        "document.getElementById('summary').scrollWidth <= document.getElementById('summary').clientWidth"
    )
    opened.screen(1280, 720)


def test_a_bad_file_gets_a_line_and_the_page_goes_on(opened: Browser, tmp_path: Path) -> None:
    bad = tmp_path / "bad.pcap"
    bad.write_bytes(b"no capture at all")
    opened.choose("#file", bad)
    opened.until("document.getElementById('drop-said').className === 'outside'")
    assert text(opened, "drop-said").startswith("bad.pcap: ")
    cut = tmp_path / "cut.pcap.gz"
    cut.write_bytes(b"\x1f\x8b\x08\x00garbage")
    opened.choose("#file", cut)
    opened.until("document.getElementById('drop-said').textContent.startsWith('cut.pcap.gz: ')")
    good = tmp_path / "good.pcapng"
    good.write_bytes(_engine.captured(3)[1][0][1])
    opened.choose("#file", good)
    opened.until("document.getElementById('summary') !== null")
    empty = tmp_path / "empty.pcap"
    empty.write_bytes(b"")
    opened.choose("#file", empty)
    opened.until("document.getElementById('summary')?.textContent.startsWith('empty.pcap: 0 frames')")
    assert text(opened, "total").endswith("the capture holds no packet.")
    assert "tcpdump -i any -w file.pcap" in text(opened, "summary")


ALIVE = """(() => {
  window.alive = 0;
  const Before = Worker;
  window.Worker = class extends Before {
    constructor(...told) { super(...told); alive += 1; }
    terminate() { alive -= 1; super.terminate(); }
  };
})()"""


@pytest.mark.parametrize("name", ["qlog/drafts", "analysis/snoop"])
def test_logs_of_quic_and_snoop_files_are_read_too(
    opened: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    content = (CORPUS / name).read_bytes()
    for file, stored in ((Path("dropped"), content), (Path("dropped.gz"), gzip.compress(content))):
        file.write_bytes(stored)
        opened.evaluate("document.getElementById('found').replaceChildren()")
        opened.choose("#file", file.absolute())
        opened.until("document.getElementById('summary') !== null")
        assert_says(opened, _engine.analyze([file.name]).text())


def test_each_file_gives_its_memory_back(opened: Browser, tmp_path: Path) -> None:
    opened.evaluate(ALIVE)
    for seed in (3, 5, 7):
        file = tmp_path / f"{seed}.pcapng"
        file.write_bytes(_engine.captured(seed)[1][0][1])
        opened.choose("#file", file)
        opened.until(f"document.getElementById('drop-said').textContent.startsWith('{file.name}: read in')")
        assert opened.evaluate("alive") == 1, "its worker alone holds a file, and goes with it"
    bad = tmp_path / "bad.pcap"
    bad.write_bytes(b"no capture at all")
    opened.choose("#file", bad)
    opened.until("document.getElementById('drop-said').className === 'outside'")
    assert opened.evaluate("alive") == 0


def test_a_links_scenario_opens_and_goes_on_in_the_link(opened: Browser, page: Path) -> None:
    scenario = tomllib.loads(SPIKE) | {"title": "Seen in a report"}
    carried = base64.urlsafe_b64encode(json.dumps(scenario).encode()).decode().rstrip("=")
    show(opened, page, f"#scenario={carried}")
    flow = json.loads(_engine.run(SPIKE, "spike.toml", 0, []).summary_json())[0]
    assert f"{flow['spurious_retransmissions']} of {flow['retransmissions']}" in text(opened, "cost-b")
    assert "Seen in a report" in text(opened, "about")
    choose(opened, "input[data-control='spike_length_s']", "0")
    opened.until("location.hash.includes('spike_length_s=0')")
    assert carried in opened.evaluate("location.hash")
    for wrong in ("eyJhIjox", "bnVsbA", "e30", "%FF"):
        show(opened, page, f"#scenario={wrong}")
        assert text(opened, "said").startswith("The link's scenario cannot be read: expected")
        assert text(opened, "cost-b") != ""


def test_a_large_capture_can_be_cancelled_and_is_read(opened: Browser, tmp_path: Path) -> None:
    file = tmp_path / "large.pcapng"
    assert cli.main(["run", str(LARGE), "--pcap", str(file), "--json"]) == 0
    assert file.stat().st_size > 100_000_000
    opened.choose("#file", file)
    opened.until(
        "!document.getElementById('drop-cancel').hidden && document.getElementById('drop-progress').value > 0.01"
    )
    opened.evaluate("document.getElementById('drop-cancel').click()")
    opened.until("document.getElementById('drop-said').textContent === 'stopped'")
    opened.choose("#file", file)
    begun = time.monotonic()
    while opened.evaluate("document.getElementById('summary') === null"):
        assert time.monotonic() - begun < 120
        # The page answers while it reads.
        assert opened.evaluate("1 + 1") == 2
        time.sleep(0.2)


@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_a_phone(browser: Browser, page: Path, dark: bool) -> None:
    browser.screen(390, 844, touch=True, dark=dark)
    show(browser, page)
    assert browser.evaluate("document.documentElement.scrollWidth <= 390")
    assert browser.evaluate(NAMELESS) == []


def test_the_builder_wants_an_engine(tmp_path: Path) -> None:
    wrong = subprocess.run(
        [sys.executable, PAGE / "build.py", tmp_path / "none", tmp_path / "out"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
    assert "expected an engine" in wrong.stderr
