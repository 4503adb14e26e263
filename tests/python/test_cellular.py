"""Recorded links through the engine and the command line. The recordings here are invented; none is shipped."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from eifel import store
from eifel.cli import main
from eifel.cli.reproduce import show
from eifel.papers import artefacts
from eifel.reproduction import reproduce
from eifel.studies import recorded, situations, truth
from eifel.studies.crossed_situations import CROSSED


def recording(file: Path, gap_ms: int, every_ms: int = 4) -> Path:
    """Writes a minute with a packet every few milliseconds, and one gap in the middle."""
    instants = [ms if ms < 30_000 else ms + gap_ms for ms in range(every_ms, 60_000, every_ms)]
    file.write_text("".join(f"{ms}\n" for ms in instants))
    return file


@pytest.fixture
def traces(tmp_path: Path) -> list[Path]:
    return [recording(tmp_path / "tunnel.down", 8_000), recording(tmp_path / "open.down", 0)]


def test_a_gap_is_a_spurious_timeout_and_eifel_saves_the_go_back_n(traces: list[Path]) -> None:
    measured = reproduce("cellular.trace", traces=traces)
    assert [row.row.keys["trace"] for row in measured.rows] == ["open"] * 6 + ["tunnel"] * 6
    for recovery in ("reno-sack", "newreno-sack", "fack"):
        off, on = (measured.row(trace="tunnel", recovery=recovery, eifel=eifel).means for eifel in (False, True))
        assert off["spurious_timeouts"].mean >= 10, "the recording begins again some 13 times"
        assert on["spurious_timeouts"].mean >= 10
        assert on["spurious_retransmissions"].mean < 0.2 * off["spurious_retransmissions"].mean
        for eifel in (False, True):
            still = measured.row(trace="open", recovery=recovery, eifel=eifel).means
            assert still["timeouts"].mean == 0
            # One packet of at most 1500 bytes every 4 ms, with 1448 bytes of data.
            assert 0.95 * 2896 < still["goodput_kbps"].mean <= 2896
    assert all(claim["holds"] for claim in measured.claims())


def test_the_command_prints_stores_and_reports_it(
    traces: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    ask = ["reproduce", "cellular.trace", "--out", out, "--trace", *map(str, traces)]
    assert main(ask) == 0
    shown = capsys.readouterr().out
    lines = [line.split() for line in shown.splitlines()]
    rows = [line[:3] for line in lines if line and line[0] in ("open", "tunnel")]
    assert rows == [
        [trace, recovery, eifel]
        for trace in ("open", "tunnel")
        for recovery in ("reno-sack", "newreno-sack", "fack")
        for eifel in ("off", "on")
    ]
    for title in ("Goodput, kbit/s", "Retransmissions", "Timeouts"):
        assert title in shown
    table = list(csv.DictReader((tmp_path / "out/cellular.trace/cellular.trace.csv").read_text().splitlines()))
    assert len(table) == 12
    # The other order is the same measurement, which is read from the store.
    assert main([*ask[:-2], *map(str, reversed(traces)), "--json"]) == 0
    again = json.loads(capsys.readouterr().out)["artefacts"][0]
    stored = json.loads((tmp_path / "out/cellular.trace/artefact.json").read_text())
    assert again == stored
    assert main(["report", "--from", out]) == 0
    assert ">tunnel<" in (tmp_path / "out/report.html").read_text()


def test_a_narrow_terminal_has_the_trace_above_its_rows(traces: list[Path]) -> None:
    out = Console(width=80, record=True, file=io.StringIO())
    show(out, reproduce("cellular.trace", traces=traces))
    lines = out.export_text().splitlines()
    assert [line.strip() for line in lines if line.startswith("trace ")] == ["trace open", "trace tunnel"]
    assert sum(line.split()[:2] == ["newreno-sack", "on"] for line in lines) in (2, 4)
    assert not any("…" in line for line in lines), "nothing is cut off"
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "an empty file"),
        (b"1\nx\n3\n", "line 2"),
        (b"5\n3\n", "line 2: 3 after 5"),
        (b"-5\n", "line 1"),
        (b"0\n0\n", "no time above 0"),
        (b"\xff\xfe\x00", "UTF-8"),
    ],
)
def test_a_recording_that_is_none_is_one_line_and_2(
    content: bytes, said: str, traces: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.down"
    bad.write_bytes(content)
    out = tmp_path / "out"
    assert main(["reproduce", "cellular.trace", "--out", str(out), "--trace", str(traces[0]), str(bad)]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert str(bad) in message
    assert said in message
    assert not out.exists(), "nothing was measured before all was looked at"


def test_a_trace_that_is_not_there_or_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in (tmp_path / "none.down", tmp_path):
        assert main(["reproduce", "cellular.trace", "--trace", str(name), "--out", str(tmp_path / "out")]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_nothing_recorded_is_shipped() -> None:
    assert artefacts()["cellular.trace"].rows == ()


def test_recorded_links_are_rows_of_their_own_in_the_judgement(traces: list[Path], tmp_path: Path) -> None:
    """The mix gives equal results with any recordings beside it."""
    given = artefacts()["detectors.truth"].with_traces(traces)
    few = tuple(replace(situation, points=2) for situation in situations.SITUATIONS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(truth, "SITUATIONS", few)
        patch.setattr(truth, "CROSSED", tuple(replace(one, points=1, duration_s=20) for one in CROSSED))
        patch.setattr(recorded, "POINTS", 3)
        alone = reproduce("detectors.truth", out=tmp_path)
        beside = reproduce(given, out=tmp_path)
    for row in alone.rows:
        there = beside.row(**row.row.keys)
        assert {name: mean.mean for name, mean in there.means.items()} == {
            name: mean.mean for name, mean in row.means.items()
        }
    found = {
        name: beside.row(situation=f"recorded: {name}", detector="eifel-timestamps") for name in ("open", "tunnel")
    }
    assert found["tunnel"].means["episodes"].mean > 3, "each flow meets the gap two or three times"
    assert found["tunnel"].means["found"].mean > 90
    # Without a key it is read with its stored links. Another recording of that name is another
    # measurement.
    stored = store.read(tmp_path, artefacts()["detectors.truth"])
    assert stored is not None
    assert len(stored.rows) == len(beside.rows)
    recording(traces[0], 4_000)
    assert artefacts()["detectors.truth"].with_traces(traces).definition() != given.definition()


def test_a_recording_that_is_none_is_refused_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "words.down"
    file.write_text("1\nnext\n")
    assert main(["reproduce", "detectors.truth", "--out", str(tmp_path / "out"), "--trace", str(file)]) == 2
    assert "expected a time in whole milliseconds" in capsys.readouterr().err
