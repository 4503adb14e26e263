"""Golden outputs of commands in rarer cases: failures, refusals, scores, other tools, and the wire."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import golden
from eifel import _engine, hunts, sweeps, tshark
from eifel.captured_path import CapturedPath
from eifel.cli import main
from eifel.errors import PathError
from test_golden_pages import SWEEP, TWO_FLOWS, lines


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asked")
    (folder / "two.toml").write_text(TWO_FLOWS)
    (folder / "sweep.toml").write_text(SWEEP)
    many = SWEEP.replace("[1_000_000, 3_000_000]", str([500_000 + 10_000 * step for step in range(32)]))
    (folder / "many.toml").write_text(many.replace('"Rates"', '"Many"').replace("repetitions = 2", "repetitions = 1"))
    assert main(["run", str(folder / "two.toml"), "--pcap", str(folder / "two.pcapng")]) == 0
    assert main(["captures", str(folder / "made"), "--transfers", "2", "--seed", "5"]) == 0
    return folder


@pytest.fixture
def asked(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str, list[str]], Mapping[str, Any]]:
    """Returns a function that runs a command in the folder, and compares its output and exit code."""
    monkeypatch.chdir(place)
    capsys.readouterr()

    def run(name: str, arguments: list[str]) -> Mapping[str, Any]:
        code = main(arguments)
        said = capsys.readouterr()
        found = {"code": code, "out": lines(said.out, place), "err": lines(said.err, place)}
        golden.check(f"printed/{name}", found)
        return found

    return run


TRUTH = ["--score", "made/5.sender.truth.csv"]
ASKED = {
    "analyze-score": ["analyze", "made/5.sender.pcapng", *TRUTH],
    "analyze-score-of-another": ["analyze", "two.pcapng", *TRUTH],
    "analyze-score-json": ["analyze", "made/5.receiver.pcapng", *TRUTH, "--json"],
    "analyze-fail-if": ["analyze", "two.pcapng", "--fail-if", "spurious > 0", "--fail-if", "needed > 99 %"],
    "analyze-extract-two": ["analyze", "two.pcapng", "two.pcapng", "--extract-path", "path.toml"],
    "analyze-tshark-two": ["analyze", "two.pcapng", "two.pcapng", "--compare-tshark"],
    "whatif-nothing": ["whatif", "two.pcapng"],
    "whatif-ranges": [
        *("whatif", "two.pcapng", "--draws", "5", "--set", "sender.detect=none"),
        *("--also", "sender.detect=f-rto,sender.respond=rfc4015"),
    ],
    "sweep-many": ["sweep", "many.toml", "--show", "bytes", "--out", "many"],
    "sweep-unknown-number": ["sweep", "sweep.toml", "--show", "bytes,nothing"],
    "sweep-unknown-flow": ["sweep", "sweep.toml", "--flow", "nobody"],
    "sweep-flow": ["sweep", "sweep.toml", "--flow", "plain", "--show", "time_s", "--out", "plain"],
    "sweep-check-json": ["sweep", "sweep.toml", "--check", "--json"],
    "new-all": ["new"],
    "new-all-json": ["new", "--json"],
    "new-unknown": ["new", "nothing"],
    "new-json": ["new", "handover", "--out", "made.toml", "--json"],
    "captures-json": ["captures", "json", "--transfers", "1", "--seed", "5", "--wild", "--json"],
    "hunt-wrong-json": ["hunt", "wrong", "f-rto", "--scenarios", "60", "--seed", "3", "--out", "hunted", "--json"],
    "hunt-nothing": ["hunt", "liars"],
    "reproduce-trace": ["reproduce", "responding.table1", "--trace", "two.toml"],
    "reproduce-lacking": ["reproduce", "detectors.recorded"],
}


@pytest.mark.parametrize("name", ASKED)
def test_the_output_of_a_command_matches_its_golden(name: str, asked: Callable[[str, list[str]], Any]) -> None:
    asked(name, ASKED[name])


def test_the_files_written_from_a_capture_match_their_golden(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    named = {"csv": "a.csv", "otel": "a.json", "annotate": "a.pcapng", "anonymise": "b.pcapng", "xpl": "plots"}
    assert main(["analyze", "two.pcapng", *(word for n, file in named.items() for word in (f"--{n}", file))]) == 0
    written = [*(place / file for file in named.values() if file != "plots"), *sorted((place / "plots").iterdir())]
    found = {str(file.relative_to(place)): [file.stat().st_size, _digest(file)] for file in written}
    del found["a.json"], found["b.pcapng"]  # They contain the version.
    golden.check("printed/analyze-written", found)
    assert json.loads((place / "a.json").read_text())


def _digest(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()[:16]


def test_a_comparison_with_tshark_shows_causes_and_words(
    asked: Callable[[str, list[str]], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tshark, "flags", lambda _file: {12: "retransmission", 40: "spurious retransmission"})
    asked("analyze-tshark", ["analyze", "made/5.sender.pcapng", "--compare-tshark"])
    asked("analyze-tshark-json", ["analyze", "made/5.sender.pcapng", "--compare-tshark", "--json"])


def test_a_refused_path_is_named(
    asked: Callable[[str, list[str]], Any], monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    asked("analyze-extract", ["analyze", "two.pcapng", "--extract-path", "path.toml"])
    assert "eifel run" in (place / "path.toml").read_text()
    monkeypatch.setattr(CapturedPath, "refused", property(lambda _: "the replayed sender differs"))
    asked("analyze-extract-refused", ["analyze", "two.pcapng", "--extract-path", "path.toml"])

    def no_path(*_: object, **__: object) -> None:
        raise PathError("two.pcapng: one queue does not explain it")

    monkeypatch.setattr("eifel.captured_path.extract_path", no_path)
    asked("analyze-no-path", ["analyze", "two.pcapng", "--extract-path", "path.toml"])


def test_an_end_of_a_sweep_says_how_to_go_on(
    asked: Callable[[str, list[str]], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def ends(error: Exception) -> Callable[..., None]:
        def sweep(*_: object, **__: object) -> None:
            raise error

        return sweep

    for name, error in (
        ("failed", sweeps.SweepError("a worker died")),
        ("full", OSError(28, "No space left on device", "ended/shard-0.parquet")),
        ("nameless", OSError("the disk is gone")),
    ):
        monkeypatch.setattr(sweeps, "sweep", ends(error))
        assert asked(f"sweep-{name}", ["sweep", "sweep.toml", "--out", "ended"])["code"] == 1


def test_a_sweep_without_a_terminal_says_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from eifel.cli import sweep as command

    clock = iter([0.0, 10.0, 30.0, 59.0, 60.0, 89.0])
    monkeypatch.setattr(command, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    with command.counted("Rates") as tell:
        for done in (20, 20, 40, 80, 100):
            tell(done, 200)
    said = capsys.readouterr().err.splitlines()
    # A line every half minute, with the rate since the first one. No forecast while nothing is
    # done.
    assert said == ["Rates: 20 of 200 runs, 0 a second", "Rates: 80 of 200 runs, 1 a second, 120 s left"]


def test_the_published_claims_are_searched_until_the_time_is_over(
    asked: Callable[[str, list[str]], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds: list[int] = []

    def hunt(claim: hunts.Claim, scenarios: int, seed: int, _out: Path, _work: object) -> hunts.Found:
        seeds.append(seed)
        refuted = seed == 9 and claim == hunts.PUBLISHED[1]
        worst = {"value": 2.0 if refuted else 0.0, "error": 0.125, "scenario": f"seed = {seed}\n\n"}
        return hunts.Found(claim, scenarios, 6, [], 0.5, worst)

    clock = iter([0.0, 59.0, 120.0, 121.0, *[0.0] * 9])
    monkeypatch.setattr("eifel.cli.hunt.time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(hunts, "hunt", hunt)
    asked("hunt-all", ["hunt", "all", "--minutes", "2", "--scenarios", "7", "--seed", "3"])
    each = len(hunts.PUBLISHED)
    assert seeds == [3] * each + [4] * each + [5] * each
    asked("hunt-all-refuted", ["hunt", "all", "--minutes", "60", "--scenarios", "7", "--seed", "8"])


@pytest.mark.parametrize(("gain", "code"), [(1.051, 1), (1.05, 0)])
def test_a_liar_that_gains_more_than_is_allowed_refutes(
    gain: float, code: int, asked: Callable[[str, list[str]], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[Any] = []

    def search(text: str, origin: str, runs: int, seed: int, tell: Callable[[int], object]) -> str:
        searched.append([origin, runs, seed])
        tell(runs)
        return json.dumps({"gain": gain, "runs": 12, "liar": "liar = { echo = 3 }\n" if gain > 1.05 else ""})

    monkeypatch.setattr(_engine, "hunt_liars", search)
    call = ["hunt", "liars", "two.toml", "--runs", "40", "--seed", "6", "--out", f"liars-{gain}"]
    assert asked(f"hunt-liars-{code}", call)["code"] == code
    assert asked(f"hunt-liars-{code}-json", [*call, "--json", "--most", "1.2"])["code"] == 0
    golden.check(f"printed/hunt-liars-{code}-searched", searched)


def test_a_recording_of_the_wire_is_written_with_a_page(
    asked: Callable[[str, list[str]], Any], monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    ran = _engine.run(TWO_FLOWS, "two.toml", 0, ["transmissions", "window", "timer", "acks"])
    called: list[Any] = []

    def live(command: list[str], arguments: list[str]) -> tuple[int, list[Any]]:
        called.append((command[1:], arguments))
        return 3, [(str(place / "live-run"), TWO_FLOWS, "two.toml", ran)]

    monkeypatch.setattr(_engine, "live", live)
    asked("live-recorded", ["live", "send", "--bytes", "300K", "10.85.0.1:5001"])
    assert called == [(["-m", "eifel", "live"], ["send", "--bytes", "300K", "10.85.0.1:5001"])]
    assert (place / "live-run" / "manifest.json").is_file() and (place / "live-run.html").is_file()


def test_the_log_of_a_box_is_stored_beside_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from pyarrow import parquet

    monkeypatch.setattr(_engine, "live", lambda *_: (0, []))
    words = ["dir", "fate", "t_in", "t_out", "t_due", "seq", "len"]
    box = tmp_path / "box"
    box.mkdir()
    log = "A,ok,1.000001,2.5,2.499999,7,1000\nB,lost,3.25,,,8,0\n"
    (box / "path.csv").write_text(",".join(words) + "\n" + log)
    for arguments, stored in (
        (["hiccup", "path.toml", "--", "run", "--out", str(box)], False),
        (["judge", "--out", str(box)], False),
        (["hiccup", "--out"], False),
        (["hiccup", "--out", str(tmp_path / "none"), "path.toml"], False),
        (["hiccup", "--out", str(box), "path.toml", "--", "true"], True),
    ):
        assert main(["live", *arguments]) == 0
        assert (box / "path.parquet").exists() == stored, arguments
    rows = parquet.read_table(box / "path.parquet").to_pylist()
    assert [str(row["t_in"].time()) for row in rows] == ["00:00:01.000001", "00:00:03.250000"]
    assert [row["t_out"] is None for row in rows] == [False, True]
    assert [(row["dir"], row["fate"], row["seq"], row["len"]) for row in rows] == [
        ("A", "ok", 7, 1000),
        ("B", "lost", 8, 0),
    ]
