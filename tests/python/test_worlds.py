"""Small worlds in Python; Rust tests cover the counts."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import eifel
from eifel.cli import main
from eifel.errors import BadInputError
from eifel.papers import artefacts
from eifel.papers.study import Effort
from eifel.plots.ladder import ladder_figure
from eifel.studies import questions, small_worlds
from eifel.worlds import Arrow, Ladder, Worlds

LATE_MS = 60


@pytest.fixture(scope="module")
def worlds() -> Worlds:
    return eifel.small_worlds(questions.scenario("f-rto", "rfc4015"), segments=4, late_ms=LATE_MS, threads=2)


def test_counts_and_the_smallest_world(worlds: Worlds) -> None:
    assert worlds.counts["worlds"] == 4**8
    assert worlds.counts["with_loss"] == 4**4 * (4**4 - 3**4)
    assert set(worlds.failed) == set(questions.FAILURES)
    assert worlds.failed["stuck"].smallest is None
    smallest = worlds.failed["false-undo"].smallest
    assert smallest is not None
    assert smallest.fates == "segment 1 lost, segment 4 delayed, ACK of 2 lost, ACK of 3 lost"
    assert [arrow.fate for arrow in smallest.arrows[:4]] == ["lost", "delivered", "delivered", "delayed"]
    assert any("spurious" in text for _, text in smallest.notes)


RECOVERIES: dict[str, Any] = {"rfc6675": "rfc6675", "rack-tlp": {"name": "rack-tlp", "reduction": "prr"}}


@pytest.mark.parametrize("recover", RECOVERIES)
@pytest.mark.parametrize("detect", ["linux", "eifel-f-rto-dsack"])
def test_the_page_shows_the_worlds_on_a_clock_that_neighbours_share(detect: str, recover: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "internals" / "worlds.md").read_text(encoding="utf-8")
    scenario = questions.scenario("eifel-timestamps, plain", "option-1")
    scenario["flow"][0]["sender"] |= {"detect": detect, "recover": RECOVERIES[recover]}
    for late_ms, arrival in ((10, "ahead"), (60, "behind")):
        failed = eifel.small_worlds(scenario, segments=4, late_ms=late_ms, threads=2).failed
        shown = ("false-verdict", "false-undo", "unpaid", "missed", "undecided")
        counts = [f"{failed[name].worlds:,}".replace(",", " ") for name in shown]
        assert f"| {' | '.join([f'`{detect}`', f'`{recover}`', arrival, *counts])} |" in page


def test_the_page_shows_the_smallest_world_and_each_failure(worlds: Worlds) -> None:
    page = (Path(__file__).parents[2] / "docs" / "internals" / "worlds.md").read_text()
    smallest = worlds.failed["false-undo"].smallest
    assert smallest is not None
    assert smallest.text in page
    assert all(f"| `{name}` |" in page for name in worlds.failed)


def test_several_responses_are_asked_about_at_once(worlds: Worlds) -> None:
    asked = ("option-1", "rfc4015")
    each = eifel.small_worlds_each(questions.scenario("f-rto", "none"), asked, segments=4, late_ms=LATE_MS, threads=2)
    assert tuple(each) == asked
    assert each["rfc4015"] == worlds
    assert each["option-1"] != worlds
    for wrong in ((), ("option-9",)):
        with pytest.raises(BadInputError, match="small worlds"):
            eifel.small_worlds_each(questions.scenario("f-rto", "none"), wrong)


def test_with_timestamps_no_world_of_four_segments_misleads_f_rto_or_dualrtt() -> None:
    """PAWS refuses the delayed segments that would mislead them without timestamps."""
    for detect in ("f-rto", "f-rto-sack", "dual-rtt"):
        asked = questions.scenario(detect, "rfc4015")
        without = eifel.small_worlds(asked, segments=4, late_ms=LATE_MS, threads=2)
        asked["flow"][0]["tcp"]["timestamps"] = True
        stamped = eifel.small_worlds(asked, segments=4, late_ms=LATE_MS, threads=2)
        assert without.failed["false-verdict"].worlds > 0 == stamped.failed["false-verdict"].worlds


def test_progress_reaches_the_end() -> None:
    told: list[tuple[int, int]] = []
    eifel.small_worlds(questions.scenario("none", "none"), segments=3, progress=lambda *done: told.append(done))
    assert max(told)[0] == 4096
    assert {total for _, total in told} == {4096}


@pytest.mark.parametrize("number", [{"segments": 0}, {"segments": 9}, {"segments": -1}, {"late_ms": 0}, {"after": 65}])
def test_numbers_out_of_bounds_are_refused(number: dict[str, int]) -> None:
    with pytest.raises(BadInputError, match="small worlds"):
        eifel.small_worlds(questions.scenario("none", "none"), **number)


def test_a_ladder_is_drawn(worlds: Worlds, tmp_path: Path) -> None:
    smallest = worlds.failed["false-undo"].smallest
    assert smallest is not None
    figure = ladder_figure({"a window given back": smallest}, title="Worlds")
    figure.savefig(tmp_path / "ladder.png")
    assert {text.get_text() for text in figure.axes[0].texts} >= {"1, 2, 3, 4", "1 again", "sender", "receiver"}
    sides = {text.get_text(): (text.get_position()[0], text.get_ha()) for text in figure.axes[0].texts}
    assert sides["1, 2, 3, 4"] == (-0.02, "right") and (1.02, "left") in sides.values()
    answers = [arrow.label for arrow in smallest.arrows if not arrow.from_sender]
    assert sides[answers[0]] == (1.02, "left"), answers


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    example = str(Path(__file__).parents[2] / "examples" / "spike.toml")
    assert main(["worlds", example, "--segments", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["worlds"] == 256
    assert main(["worlds", example, "--segments", "2"]) == 0
    assert "256 worlds" in capsys.readouterr().out
    assert main(["worlds", example, "--segments", "9"]) == 2
    assert "segments: 9 is out of bounds; allowed: 1 to 8" in capsys.readouterr().err


def test_the_claims_hold_over_three_segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The artefact itself takes minutes; a smaller question has to give the same claims."""
    monkeypatch.setattr(questions, "SEGMENTS", 3)
    monkeypatch.setattr(questions, "WINDOW", 3)
    monkeypatch.setattr(small_worlds, "_EVERY", 4**6)
    found = small_worlds.ARTEFACT.study.find(Effort(1, 1, os.cpu_count(), tmp_path))
    measured = eifel.store.measured_table(small_worlds.ARTEFACT, eifel.Runs(found, []), 1, 1, 0.0)
    assert [claim["text"] for claim in measured.claims() if not claim["holds"]] == []


def test_all_small_worlds_are_measured_only_by_name() -> None:
    assert artefacts()["detectors.small_worlds"].is_long


def test_a_note_wraps_beyond_36_letters() -> None:
    arrow = Arrow(0, [50], True, "1", "delivered")
    notes = ["x" * 17 + " " + "y" * 18, "x" * 18 + " " + "y" * 18]
    ladder = Ladder("", "", [arrow], [(float(at), text) for at, text in zip((10, 20), notes, strict=True)])
    drawn = ladder_figure({"notes": ladder}).axes[0].texts
    assert [text.get_text() for text in drawn if "x" in text.get_text()] == [notes[0], notes[1].replace(" ", "\n")]
