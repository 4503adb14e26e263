"""Compares the engine in WebAssembly with the native one, and times pages in Chromium: `python benches/web.py`.

A part of `make bench`. Measures the speed of a run under node, as a ratio of CPU seconds in turn
with the native program, and of a capture. Also measures the time to draw a change and the page of a
large run. Says which programs are missing, and skips their measurements.
"""

from __future__ import annotations

import base64
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "python"), str(ROOT / "benches")]

from run import SIMULATOR, cost_of  # noqa: E402

from browser import CHROMIUM, Browser  # noqa: E402

PAGE = ROOT / "crates" / "web" / "page"
SCENARIO = ROOT / "benches" / "scenarios" / "one_flow.toml"
ROUNDS = 5
WANTED_SPEED = 0.4
WANTED_PACKETS = 2e6
WANTED_REDRAW_MS = 100
WANTED_POINTS, WANTED_DRAWN_S = 200_000, 3
PIECE = 1 << 20
LARGE = ROOT / "benches" / "scenarios" / "large_capture.toml"
POINTS = ROOT / "benches" / "scenarios" / "one_flow.toml"


def answers(wasm: Path, requests: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the engine's answers under node, each with its CPU seconds."""
    with tempfile.TemporaryDirectory() as folder:
        asked, told = Path(folder, "requests"), Path(folder, "answers")
        asked.write_text("\n".join(map(json.dumps, requests)), encoding="utf-8")
        script = ROOT / "tests" / "python" / "web_answers.mjs"
        subprocess.run(["node", script, PAGE / "engine.js", wasm, asked, told], check=True)
        return [json.loads(line) for line in told.read_text(encoding="utf-8").splitlines()]


def runs(wasm: Path) -> bool:
    """Measures a run of a minute: native CPU seconds divided by those in WebAssembly."""
    text = SCENARIO.read_text(encoding="utf-8")
    request = {"request": {"ask": "run", "tables": []}, "body": base64.b64encode(text.encode()).decode()}
    ratios = []
    for _ in range(ROUNDS):
        native = cost_of([*SIMULATOR, SCENARIO]).cpu_s
        # The first run includes the compilation; a page repeats runs.
        ratios.append(native / answers(wasm, [request, request])[1]["cpu_s"])
    speed = statistics.median(ratios)
    return judged(f"WebAssembly, one flow: {speed:.2f} of the native speed", WANTED_SPEED, speed)


def large(folder: str) -> Path:
    """Makes a capture of more than 100 MB."""
    capture = Path(folder, "large.pcapng")
    eifel("run", LARGE, "--pcap", capture, "--json")
    return capture


def eifel(*arguments: str | Path) -> None:
    """Runs the command line of this checkout."""
    subprocess.run([ROOT / ".venv" / "bin" / "eifel", *arguments], check=True, capture_output=True)


def captures(wasm: Path) -> bool:
    """Measures the packets of a large capture per CPU second."""
    with tempfile.TemporaryDirectory() as folder:
        capture = large(folder)
        size = capture.stat().st_size
        feed = [
            {"request": {"ask": "feed"}, "file": str(capture), "from": at, "to": min(at + PIECE, size)}
            for at in range(0, size, PIECE)
        ]
        told = answers(wasm, [{"request": {"ask": "open", "name": "large"}}, *feed, {"request": {"ask": "finish"}}])
    # The time of the first piece includes reading the file.
    packets = (told[-2]["frames"] - told[1]["frames"]) / sum(one["cpu_s"] for one in told[2:])
    return judged(
        f"WebAssembly, captures: {packets / 1e6:.2f} million packets a CPU second", WANTED_PACKETS / 1e6, packets / 1e6
    )


def judged(measured: str, wanted: float, got: float, *, at_most: bool = False) -> bool:
    """Prints the measured and the wanted value. Returns whether the wanted value is reached."""
    print(f"{measured} (wanted: {wanted:g})")
    return got <= wanted if at_most else got >= wanted


MOVED = """(async () => {
  const slider = document.querySelector("input[data-control='spike_length_s']"), took = [];
  const figures = ["chart-a", "chart-b"].map((id) => document.getElementById(id));
  for (let i = 0; i < 15; i++) {
    const before = figures.map((one) => one.dataset.runs), begun = performance.now();
    slider.value = 2 + i / 2;
    slider.dispatchEvent(new Event("input"));
    while (figures.some((one, at) => one.dataset.runs === before[at])) {
      await new Promise((done) => requestAnimationFrame(done));
    }
    took.push(performance.now() - begun);
  }
  return took.sort((a, b) => a - b)[7];
})()"""


def page(wasm: Path) -> bool:
    """Measures in Chromium the time from a slider's move to the drawn chart, and a dropped large capture."""
    with tempfile.TemporaryDirectory() as folder, Browser(Path(folder, "profile")) as browser:
        file = Path(folder, "index.html")
        subprocess.run([sys.executable, PAGE / "build.py", wasm, file], check=True, capture_output=True)
        browser.screen(1280, 1200)
        browser.open(file)
        browser.until("document.body.dataset.ready === 'yes' && document.getElementById('chart-b').dataset.runs")
        took = browser.evaluate(MOVED)
        good = judged(f"the README's spike, both senders, drawn in {took:.0f} ms", WANTED_REDRAW_MS, took, at_most=True)
        browser.choose("#file", large(folder))
        said = "document.getElementById('drop-said').textContent"
        browser.until(f"{said}.includes('read in')", seconds=300)
        took = float(browser.evaluate(said).split("read in ")[1].split()[0])
        packets = browser.evaluate("Number(document.getElementById('summary').textContent.match(/(\\d+) frames/)[1])")
        return (
            judged(
                f"the page, captures: {packets / took / 1e6:.2f} million packets a second",
                WANTED_PACKETS / 1e6,
                packets / took / 1e6,
            )
            and good
        )


DRAWN = """(async () => {
  const figure = document.querySelector("figure.chart");
  while (!figure.chart) await new Promise((done) => requestAnimationFrame(done));
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const layers = figure.chart.panels.flatMap((one) => one.layers);
  return [performance.now(), layers.reduce((sum, one) => sum + one.x.length, 0)];
})()"""


def report() -> bool:
    """Measures in Chromium the time from opening a run's page to the drawn chart with more than 200 000 points."""
    with tempfile.TemporaryDirectory() as folder, Browser(Path(folder, "profile")) as browser:
        file = Path(folder, "run.html")
        eifel("run", POINTS, "--set", "duration_s=5", "--plot", file)
        browser.screen(1280, 1200)
        browser.open(file)
        took, points = browser.evaluate(DRAWN)
    seconds = took / 1000
    good = judged(f"a run's page of {points} points, drawn in {seconds:.2f} s", WANTED_DRAWN_S, seconds, at_most=True)
    return good and points >= WANTED_POINTS


def main() -> int:
    """Measures everything. Returns 1 if a value is not as wanted."""
    good = report() if CHROMIUM else True
    if CHROMIUM is None:
        print("chromium is not installed: how soon pages draw is not measured")
    built = subprocess.run(
        [ROOT / "crates" / "web" / "build.sh"], capture_output=True, text=True, check=False, cwd=ROOT
    )
    if built.returncode:
        print(f"WebAssembly is not measured: {built.stderr.strip().splitlines()[-1]}")
        return not good
    if shutil.which("node") is None:
        print("WebAssembly is not measured: node is not installed")
        return not good
    wasm = ROOT / built.stdout.strip().splitlines()[-1]
    build = ["cargo", "build", "--locked", "--quiet", "--release", "-p", "eifel-live", "--bin", "eifel"]
    subprocess.run(build, check=True, cwd=ROOT)
    return 0 if all([good, runs(wasm), captures(wasm), page(wasm) if CHROMIUM else True]) else 1


if __name__ == "__main__":
    sys.exit(main())
