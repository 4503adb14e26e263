"""The artefacts of the wire with the simulator in its place: measurements, claims and drawings."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import golden
from eifel import live
from eifel.cli import main
from eifel.papers import artefacts
from eifel.papers.artefact import Measured, Studied
from eifel.papers.live import kernel, linux, loop, spike, thesis, whatif, wire
from eifel.papers.study import Effort
from eifel.reproduction import reproduce
from eifel.runs import Runs, run
from eifel.store import measured_table
from eifel.toml import dumps
from test_golden import rows_of

LATE_US = (10.0, 20.0, 1500.0)


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    def on_wire(scenario: Mapping[str, Any]) -> live.LiveRun:
        return live.LiveRun(run(scenario), live.Lateness(*LATE_US))

    monkeypatch.setattr(live, "run", on_wire)
    monkeypatch.setattr(live, "run_together", lambda many: list(map(on_wire, many)))


def measured_on_wire(name: str) -> Measured:
    return reproduce(artefacts()[name])


@pytest.mark.usefixtures("simulated")
@pytest.mark.parametrize("name", ["live.spike", "live.thesis"])
def test_the_verdicts_and_picture_of_a_live_figure_match_their_golden(name: str) -> None:
    measured = measured_on_wire(name)
    golden.check(f"rows/{name}", rows_of(measured))
    assert measured.artefact.draw is not None
    golden.check(f"pictures/{name}", golden.picture(measured.artefact.draw(measured)))
    late = [result.main["late_ms"] for result in measured.results]
    assert late == ([0.0, 1.5, 0.0, 1.5] if name == "live.spike" else [1.5] * 5)
    assert all(result.main["difference_ms"] == 0 for result in measured.results)
    # A verdict on one figure does not affect another.
    assert all(claim["holds"] for claim in measured.claims())


@pytest.mark.usefixtures("simulated")
def test_a_wire_that_differs_in_one_figure_fails_its_claims() -> None:
    measured = measured_on_wire("live.thesis")
    failing = {}
    for number, name in enumerate(thesis.FIGURES):
        for other in ({5: 0, 0: 1}.get(number, 5 - number), (number + 2) % len(thesis.FIGURES)):
            if other == number or other >= len(thesis.FIGURES):
                continue
            results = list(measured.results)
            results[number] = results[other]
            rows = list(measured.rows)
            rows[number] = type(rows[number])(rows[number].row, rows[other].means)
            judged = Measured(measured.artefact, rows, results, 1, 1, 0.0).claims()
            failing[f"{name} as in {other}"] = [claim["text"][:40] for claim in judged if not claim["holds"]]
    golden.check("claims/live.thesis-mixed", failing)


@pytest.mark.usefixtures("simulated")
def test_a_wire_that_differs_in_one_world_fails_claims() -> None:
    measured = measured_on_wire("live.spike")
    named = [row.row.name for row in measured.rows]
    failing = {}
    for one in range(len(named)):
        for other in range(len(named)):
            results = list(measured.results)
            results[one] = results[other]
            rows = list(measured.rows)
            rows[one] = type(rows[one])(rows[one].row, rows[other].means)
            judged = Measured(measured.artefact, rows, results, 1, 1, 0.0).claims()
            failing[f"{named[one]} as {named[other]}"] = [claim["text"][:40] for claim in judged if not claim["holds"]]
    golden.check("claims/live.spike-mixed", failing)


def lately(monkeypatch: pytest.MonkeyPatch, late_us: Sequence[Sequence[float]]) -> list[int]:
    """Makes runs on the wire late by these values, try by try. Records the number of runs in each try."""
    asked: list[int] = []

    def together(many: Sequence[Mapping[str, Any]]) -> list[live.LiveRun]:
        asked.append(len(many))
        found = []
        for scenario in many:
            number = int(scenario["seed"])
            late = late_us[number][min(len(asked), len(late_us[number])) - 1]
            found.append(live.LiveRun(run(scenario), live.Lateness(0, 0, late)))
            found[-1].result.main["try"] = len(asked)
        return found

    monkeypatch.setattr(live, "run_together", together)
    return asked


def test_runs_that_were_late_are_tried_again_and_the_least_late_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    short = {**live.SHORT, "flow": [{**live.ENDS, "application": {"kind": "bulk", "bytes": 20_000}}]}
    many = [{**short, "seed": seed} for seed in range(4)]
    on_time, late = wire.ON_TIME_US, wire.ON_TIME_US + 1
    asked = lately(monkeypatch, [[on_time], [late, late + 5, 7.0], [9e3, 8e3, 9e3, 7e3, 8e3], [9e3, 9e3, 9e3]])
    found = wire._on_time(many)
    assert asked == [4, 3, 3, 2, 2]
    assert [one.main["try"] for one in found] == [1, 3, 4, 1]
    assert [one.main["late_ms"] for one in found] == [2.0, 0.007, 7.0, 9.0]
    asked.clear()
    assert wire._on_time([]) == [] and asked == []


def test_every_try_has_a_folder_and_too_many_end() -> None:
    made: list[str] = []

    def late(out: Path) -> float:
        made.append(out.name)
        return 9000.0 - len(made) if len(made) < 4 else 9000.0

    assert wire.least_late(late, Path("place")) == Path("place/try 3")
    assert made == [f"try {number}" for number in (1, 2, 3, 4, 5)]


@pytest.mark.usefixtures("simulated")
def test_our_engine_is_asked_beside_linux_profile_by_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def sends(_folder: Path, path: Any, size: int, sysctls: Mapping[str, int]) -> dict[str, float]:
        asked.append((dict(sysctls), size, path == spike.scenario()))
        number = list(linux.SWITCHES.values()).index(sysctls)
        return {name: 100.0 * number + place for place, name in enumerate(linux.COLUMNS)}

    monkeypatch.setattr(kernel, "sends", sends)
    told: list[tuple[int, int]] = []
    effort = Effort(1, 1, None, Path("nowhere"), progress=lambda done, total: told.append((done, total)))
    found = linux.find(effort)
    assert len(asked) == len(linux.SWITCHES) and told == [(2 * len(linux.SWITCHES), 2 * len(linux.SWITCHES))]
    assert all(size == linux.BYTES and same for _, size, same in asked)
    measured = measured_table(linux.ARTEFACT, Runs(found, []), 1, 1, 0.0)
    golden.check("rows/live.linux", {**rows_of(measured), "asked": [sysctls for sysctls, *_ in sorted(asked, key=str)]})


def test_linux_is_let_send_until_the_box_is_on_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls: list[list[str]] = []
    late = iter([5000.0, 3000.0, 100.0])
    lines = [
        {"dir": "A", "len": "1000", "t_in": "2.5", "t_out": "3.0"},
        {"dir": "A", "len": "0", "t_in": "0.1", "t_out": "0.2"},
        {"dir": "A", "len": "", "t_in": "0.1", "t_out": "99"},
        {"dir": "B", "len": "50", "t_in": "0.3", "t_out": "77"},
        {"dir": "A", "len": "1000", "t_in": "1.5", "t_out": "4.25"},
        {"dir": "A", "len": "1000", "t_in": "4.0", "t_out": ""},
    ]

    def asked(*arguments: str) -> str:
        calls.append([one.replace(str(tmp_path), "FOLDER") for one in arguments])
        if arguments[0] == "judge":
            episodes = [{"undo": None}, {"undo": 3}, {"undo": "dsack"}]
            return json.dumps({"retransmissions": 12, "spurious": 5, "episodes": episodes})
        box = Path(arguments[arguments.index("--out") + 1])
        box.mkdir()
        with (box / "path.csv").open("w") as file:
            writer = csv.DictWriter(file, list(lines[0]))
            writer.writeheader()
            writer.writerows(lines)
        (box / "late").write_text(str(len(calls)))
        return json.dumps({"numbers": {"late_us_max": next(late)}})

    monkeypatch.setattr(kernel, "_eifel", asked)
    found = kernel.sends(tmp_path, spike.scenario(), 5000, {"tcp_sack": 0}, 99_000)
    fates = {"lost": 1, "overtaken": 1}
    goodput_bps = pytest.approx(5000 * 8 / 2.75)
    assert found == {"retransmissions": 12, "spurious": 5, "undos": 2, "goodput_bps": goodput_bps, **fates}
    assert (tmp_path / "box" / "late").read_text() == "3"
    assert (tmp_path / "path.toml").read_text() == dumps(spike.scenario())
    assert (tmp_path / "sink.py").read_text() == kernel.SINK
    assert (tmp_path / "source.py").read_text() == kernel.SOURCE
    assert [call[0] for call in calls] == ["hiccup"] * 3 + ["judge"]
    shown = [[word.replace(kernel.sys.executable, "PYTHON") for word in call] for call in calls]
    golden.check("printed/live-hiccup", shown)


def test_a_refused_command_of_the_wire_is_an_error_of_one_line() -> None:
    with pytest.raises(OSError, match=r"eifel live judge: \['.*--out"):
        kernel._eifel("judge", "nowhere")
    assert "usage" in kernel._eifel("judge", "--help")


def test_a_capture_without_f_rto_predicts_the_run_with_f_rto(monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulator's sender replaces Linux, with F-RTO if requested."""
    asked: list[Any] = []

    def sends(folder: Path, path: Mapping[str, Any], size: int, sysctls: Mapping[str, int]) -> dict[str, float]:
        detect = "f-rto-sack" if sysctls["tcp_frto"] else "none"
        asked.append((folder.name, size, dict(sysctls), path == spike.scenario()))
        one = json.loads(json.dumps(spike.scenario(detect)))
        if path != spike.scenario():
            # The extracted path with the captured sender.
            one = {**json.loads(json.dumps(path)), "seed": 1}
        (folder / "box").mkdir()
        (folder / "scenario.toml").write_text(dumps(one))
        file = folder / "box" / "sender.pcapng"
        assert main(["run", str(folder / "scenario.toml"), "--pcap", str(file)]) == 0
        return {"retransmissions": float(run(one).main["retransmissions"]), "goodput_bps": 1.0}

    monkeypatch.setattr(kernel, "sends", sends)
    monkeypatch.setattr(whatif, "DRAWS", 5)
    artefact = artefacts()["live.whatif"]
    found = whatif.find(Effort(1, 1, None, Path("nowhere")))
    assert isinstance(artefact.method, Studied)
    measured = measured_table(artefact, Runs(found, []), 1, 1, 0.0)
    golden.check("rows/live.whatif", {**rows_of(measured), "asked": asked})
    assert not np.isnan(found["goodput_bps"]).any()


def test_a_loop_goes_round_once_for_each_path(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The simulator's sender replaces Linux, over the requested path."""
    asked: list[Any] = []

    def sends(
        folder: Path, path: Mapping[str, Any], size: int, sysctls: Mapping[str, int], buffer: int
    ) -> dict[str, float]:
        asked.append((size, dict(sysctls), buffer))
        (folder / "box").mkdir()
        one = {**json.loads(json.dumps(path)), "seed": 1}
        (folder / "scenario.toml").write_text(dumps(one))
        assert main(["run", str(folder / "scenario.toml"), "--pcap", str(folder / "box" / kernel.RECORDED)]) == 0
        found = run(one).main
        return {"retransmissions": float(found["retransmissions"]), "lost": 3.0, "overtaken": 2.0, "goodput_bps": 1e6}

    monkeypatch.setattr(kernel, "sends", sends)
    told: list[tuple[int, int]] = []
    effort = Effort(1, 1, None, Path("nowhere"), progress=lambda done, total: told.append((done, total)))
    found = loop.find(effort)
    assert told == [(20, 20)]
    # Two rounds of four paths, and one of the refused path.
    assert asked == [(loop.BYTES, {}, loop.BUFFER)] * 9
    assert "live.loop: " in capsys.readouterr().err
    measured = measured_table(artefacts()["live.loop"], Runs(found, []), 1, 1, 0.0)
    golden.check("rows/live.loop", rows_of(measured))
