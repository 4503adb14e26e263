"""The comparison of timers, and the notebook of the thesis's argument."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import eifel
from eifel import store
from eifel.cli import main
from eifel.papers import artefacts
from eifel.papers.artefact import Measured, MeasuredRow
from eifel.papers.thesis import cycles, figures5_16_and_5_17, paths, timers
from eifel.report import build
from eifel.reproduction import reproduce
from eifel.runs import run_many
from eifel.statistics import Mean
from test_claims import OPEN
from test_docs import run_blocks

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def measured() -> Measured:
    return reproduce("thesis.timers", repetitions=2)


def test_the_claims_of_the_timers_hold(measured: Measured) -> None:
    assert [claim["text"] for claim in measured.claims() if not claim["holds"]] == []


@pytest.mark.parametrize(("share", "holding"), [(0.66, True), (0.67, False), (2.0, False)])
def test_linuxs_wait_is_held_against_two_thirds(measured: Measured, share: float, holding: bool) -> None:
    def waits(row: MeasuredRow) -> MeasuredRow:
        each = share if row.row.keys["timer"] == "linux" else 1.0
        means = {"genuine_timeouts_wait_s": Mean(30 * each, None, 2), "genuine_timeouts": Mean(30.0, None, 2)}
        return replace(row, means={**row.means, **means})

    waited = replace(measured, rows=[waits(row) for row in measured.rows])
    claim = next(claim for claim in waited.claims() if "at most two thirds as long" in claim["text"])
    assert claim["holds"] is holding


def test_every_timer_of_the_registry_takes_part(measured: Measured) -> None:
    # It is in the registry to reproduce a fault, and is no choice for a sender.
    faulty = {"never-restarted"}
    assert {timer["name"] for timer in timers.TIMERS.values()} == {
        entry["name"] for entry in eifel.algorithms("rto") if not entry["association"]
    } - faulty
    assert len(measured.rows) == len(paths.MADE) * len(timers.TIMERS) * 2


def test_the_hiccup_of_a_cycle_begins_half_a_segment_after_the_first_ack() -> None:
    spike = cycles.scenario(2.0, "timeout by hiccup")["spike"][0]["at"][0]
    first_ack_s = cycles.WINDOW / 2.0 * cycles.SEGMENT_MS / 1000
    assert spike["start_s"] == pytest.approx(first_ack_s + cycles.SEGMENT_MS / 2000)
    assert spike["end_s"] - spike["start_s"] == pytest.approx(cycles.HELD_S)


def test_counts_are_an_hour(measured: Measured) -> None:
    row = measured.row(path=paths.SHORT, timer="rfc6298", eifel=False)
    runs = run_many([{**row.row.scenario, "seed": 1}], repetitions=2)
    assert row.means["genuine_timeouts"].mean == pytest.approx(float(runs["genuine_timeouts"].mean()) * 60)


def test_over_a_recorded_link_beside_the_others(tmp_path: Path) -> None:
    """Half a second without packets every 20 s: one spike a lap for a timer of 200 ms, hardly one
    for a timer of 1 s.
    """
    trace = tmp_path / "gap.down"
    trace.write_text("".join(f"{ms}\n" for ms in range(4, 19_500, 4)) + "20000\n")
    out = tmp_path / "out"
    ask = ["reproduce", "thesis.timers", "--repetitions", "1", "--out", str(out), "--trace", str(trace), "--json"]
    assert main(ask) == 0
    stored = json.loads((out / "thesis.timers/artefact.json").read_text())
    found = {
        (row["keys"]["timer"], row["keys"]["eifel"]): row for row in stored["rows"] if row["keys"]["path"] == "gap"
    }
    assert len(found) == len(timers.TIMERS) * 2
    assert all(row["measured"]["goodput_kbps"] > 1000 for row in found.values() if row["keys"]["eifel"])
    assert len(stored["rows"]) == (len(paths.MADE) + 1) * len(timers.TIMERS) * 2, "the other paths are measured too"
    again = store.read(out, artefacts()["thesis.timers"])
    assert again is not None
    assert len(again.rows) == len(stored["rows"])
    assert main(["report", "--from", str(out)]) == 0
    assert ">gap<" in (out / "report.html").read_text()


def test_precise_restarts_gain_with_small_packets_and_cost_with_large_ones() -> None:
    """It depends on room in the buffer for the retransmission, as the notebook and figure 5-16 say."""
    sizes = (296, 488, 1500)
    runs = run_many(
        [figures5_16_and_5_17.scenario(restart, size) for size in sizes for restart in ("full", "age")], repetitions=1
    )
    goodput = runs["goodput_bps"].reshape(len(sizes), 2)
    gains = goodput[:, 1] / goodput[:, 0] - 1
    assert gains[0] == pytest.approx(0.21, abs=0.02)
    assert gains[2] < 0


def test_the_page_of_the_thesis_runs_and_its_claims_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = run_blocks((ROOT / "docs/internals/thesis.md").read_text(encoding="utf-8"), tmp_path, monkeypatch)
    known = [text for artefact, texts in OPEN.items() if artefact.startswith("thesis") for text in texts]
    failing = [claim["text"] for claim in names["claims"] if not claim["holds"]]
    assert set(failing) <= set(known)
    page = " ".join((ROOT / "docs" / "internals" / "timers.md").read_text(encoding="utf-8").split())
    linux, rfc6298, eifel = (names["waits"][timer] for timer in ("linux", "rfc6298", "eifel"))
    assert f"for {eifel} round trips of 100 ms (Linux's: {linux}, RFC 6298's: {rfc6298})" in page
    assert f"to {names['slow_start_s']['eifel']:.0f} s at 640 segments" in page


def test_delayed_acks_mislead_a_short_timer_and_the_detector_with_it() -> None:
    made = paths.with_timer(paths.MADE[paths.SHORT], timers.TIMERS["eifel, 1 ms ticks"], eifel=True)
    flow = made["flow"][0]
    flow["tcp"] = {**flow["tcp"], "delayed_ack_every": 2, "delayed_ack_ms": 40}
    run = eifel.run(made, record=[]).main
    page = " ".join((ROOT / "docs" / "internals" / "timers.md").read_text(encoding="utf-8").split())
    said = f"{run['requests']} answers in a minute have {run['spurious_timeouts']} spurious timeouts"
    assert f"{said}, and Eifel detected {run['detected_spurious']}" in page


def test_the_report_has_the_picture_where_a_chart_of_the_run_is_another() -> None:
    page = build([reproduce("thesis.figure5_8")])
    assert page.count('<img class="picture" alt="Prediction flaw in RTO_L') == 1
    assert "new uPlot" not in page, "no chart, nothing that draws one"
