"""Compares the drawing of a run and of a capture in the page with their tables."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eifel
from browser import CHROMIUM, Browser
from eifel import _engine
from eifel.report import build_run
from eifel.report.capture import build_captures

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="SKIPPED: chromium is not installed, so no chart was read")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PANELS = """document.querySelector("figure.chart").chart.panels.map((panel) => Object.fromEntries(panel.layers.map(
  ({ name, colour, x, y, top }) => [name, { colour, x: [...x], y: [...y], top: top ? [...top] : null }])))"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def panels(browser: Browser, file: Path, page: str) -> list[dict[str, dict[str, Any]]]:
    """Returns the layers of the first chart by panel and name."""
    file.write_text(page, encoding="utf-8")
    browser.open(file)
    browser.until("document.querySelector('figure.chart').chart !== undefined")
    found: list[dict[str, dict[str, Any]]] = browser.evaluate(PANELS)
    return found


def test_every_mark_is_where_the_tables_say(browser: Browser, tmp_path: Path) -> None:
    result = eifel.run(EXAMPLES / "spike.toml")
    sequence, window, timer = panels(browser, tmp_path / "run.html", build_run(result))
    sent, acks = result.of("transmissions"), result.of("acks")
    size = int(np.bincount(sent["len"][sent["segment"] > 0]).argmax())
    again = sent["kind"] == "retransmission"
    for name, mask in (
        ("segment", sent["kind"] == "new"),
        ("spurious retransmission", again & (sent["needed"] == "spurious")),
    ):
        assert mask.any()
        assert sequence[name]["x"] == pytest.approx(sent["t_ns"][mask] // 1000 / 1e6)
        assert sequence[name]["y"] == pytest.approx((sent["start"][mask] - 1) / size + 1)
    assert sequence["ACK"]["y"] == pytest.approx((acks["cumulative"] - 1) / size + 1)
    assert window["cwnd"]["y"] == pytest.approx(result.of("window")["cwnd"] / 1e3)
    rows = result.of("timer")
    rto = rows["rto_ns"][rows["rto_ns"] >= 0]
    assert timer["RTO"]["y"] == pytest.approx(rto // 1000 / 1e6)
    assert len(timer["timeout"]["x"]) == int((rows["event"] == "expired").sum()) > 0


def test_a_chart_holds_the_data_of_one_end(browser: Browser, tmp_path: Path) -> None:
    result = eifel.run(EXAMPLES / "request-response.toml")
    sequence, *_ = panels(browser, tmp_path / "run.html", build_run(result, [0]))
    sent = result.of("transmissions")
    assert 0 < len(sent) < len(result.frame("transmissions").where(flow=0)), "both ends send data"
    assert len(sequence["segment"]["x"]) == int((sent["kind"] == "new").sum())


def test_the_paths_of_an_association_have_a_colour_each(browser: Browser, tmp_path: Path) -> None:
    scenario = tomllib.loads((EXAMPLES / "sctp.toml").read_text(encoding="utf-8"))
    # Heartbeats sample the second path too.
    scenario["flow"][0]["sctp"]["heartbeat_interval_s"] = 1
    result = eifel.run(scenario)
    sequence, window, timer = panels(browser, tmp_path / "run.html", build_run(result))
    drawn = {name: layer["colour"] for name, layer in sequence.items()}
    assert (drawn["path 1"], drawn["path 2, again"], drawn["spurious"]) == ("sent", "needed", "spurious")
    assert {name: layer["colour"] for name, layer in window.items()} == {
        "cwnd, path 1": "sent",
        "cwnd, path 2": "needed",
    }
    sent = result.of("transmissions")
    on = (sent["path"] == 0) & (sent["kind"] != "retransmission")
    assert len(sequence["path 1"]["x"]) == int(on.sum())
    assert {name for name in timer if name.startswith("RTO")} == {"RTO, path 1", "RTO, path 2"}


def test_a_captures_verdicts_are_drawn(browser: Browser, tmp_path: Path) -> None:
    captures = (one for seed in range(50) for one in _engine.captured(seed)[1])
    for name, capture, _ in captures:
        file = tmp_path / f"{name}.pcapng"
        file.write_bytes(capture)
        analysis = eifel.analyze(file)
        rows = analysis.report["retransmissions"]
        if len({row["verdict"] for row in rows if row["connection"] == rows[0]["connection"]}) > 1:
            break
    (drawn,) = panels(browser, tmp_path / "page.html", build_captures(analysis))
    mine = [row for row in rows if (row["connection"], row["sender"]) == (rows[0]["connection"], rows[0]["sender"])]
    columns = analysis.time_sequence(rows[0]["connection"], from_server=rows[0]["sender"] == "server")
    for verdict in ("spurious", "needed"):
        frames = [row["frame"] for row in mine if row["verdict"] == verdict]
        at = np.isin(columns["frame"], frames)
        if at.any():
            assert drawn[f"{verdict} retransmission"]["x"] == pytest.approx(columns["sent_s"][at], abs=1e-6)
            assert drawn[f"{verdict} retransmission"]["top"] == pytest.approx(columns["end"][at] / 1e3)
    assert drawn["ACK"]["y"] == pytest.approx(columns["cumulative"] / 1e3)
