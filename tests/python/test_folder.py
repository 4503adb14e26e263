"""The analysis of a folder of captures: its bytes depend neither on the executor nor on interruptions."""

from __future__ import annotations

import json
import os
import shutil
import signal
import warnings
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pyarrow.parquet as pq
import pytest

import eifel
from eifel import _engine
from eifel.cli import BAD_INPUT, FAILED, OK, main
from eifel.sweeps.executor import Cores, SweepError
from eifel.sweeps.folder import Folder

FAULTS = Path(__file__).parents[2] / "crates/capture/tests/faults"
NAMES = sorted(file.name for file in FAULTS.glob("*.pcap"))[:8]


@pytest.fixture
def captures(tmp_path: Path) -> Path:
    """Returns a folder with captures at its top and below it, and with a file that is none."""
    folder = tmp_path / "captures"
    (folder / "day").mkdir(parents=True)
    for number, name in enumerate(NAMES):
        shutil.copy(FAULTS / name, folder / "day" / name if number % 2 else folder / name)
    (folder / "notes.txt").write_text("no capture\n")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def test_the_rows_are_those_of_each_capture_by_itself(captures: Path, tmp_path: Path) -> None:
    rows = eifel.analyze_folder(captures, out=tmp_path / "out").table()
    assert rows.num_rows > 0
    for file in sorted(captures.rglob("*.pcap")):
        name = file.relative_to(captures).as_posix()
        alone = eifel.analyze(file)
        # A connection's rows come when it is over.
        found = sorted((row for row in rows.to_pylist() if row["file"] == name), key=lambda row: row["frame"])
        ends = {one["connection"]: (one["client"], one["server"]) for one in alone.report["connections"]}
        expected = alone.retransmissions.drop_columns("capture").to_pylist()
        assert [(row["client"], row["server"]) for row in found] == [ends[row["connection"]] for row in expected]
        assert [{key: row[key] for key in expected[0]} for row in found] == expected if expected else found == []
    assert rows["error"].null_count == rows.num_rows
    assert rows.equals(eifel.load_sweep(tmp_path / "out"))


def test_an_interrupted_analysis_goes_on_and_reads_no_finished_capture_again(
    captures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    eifel.analyze_folder(captures, out=tmp_path / "whole")

    def interrupt(done: int, _total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        eifel.analyze_folder(captures, out=tmp_path / "out", progress=interrupt)
    # The progress of the third came before it was stored.
    assert len(list((tmp_path / "out").glob("*.parquet"))) == 2
    read: list[Path | str] = []
    analyze_each = _engine.analyze_each

    def noted(file: Path | str, *rest: Any) -> Any:
        read.append(file)
        return analyze_each(file, *rest)

    monkeypatch.setattr(_engine, "analyze_each", noted)
    eifel.analyze_folder(captures, out=tmp_path / "out")
    assert len(read) == len(NAMES) - 2
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_rows_are_written_before_the_file_is_read(
    captures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = eifel.analyze_folder(captures, out=tmp_path / "whole").table()
    monkeypatch.setattr("eifel.sweeps.captures.ROWS", 3)
    parts = eifel.analyze_folder(captures, out=tmp_path / "parts")
    assert parts.table().equals(whole)
    for file in parts.path.glob("*.parquet"):
        about = pq.ParquetFile(file).metadata
        sizes = [about.row_group(number).num_rows for number in range(about.num_row_groups)]
        assert sizes[:-1] == [3] * (len(sizes) - 1) and sizes[-1] < 3


def test_an_error_of_a_caller_ends_the_analysis_of_a_file() -> None:
    seen: list[str] = []

    def take(found: str) -> None:
        seen.append(found)
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        _engine.analyze_each(FAULTS / "ack_at_once_nots.pcap", take)
    assert len(seen) == 1


def test_a_shard_that_fails_stops_the_others() -> None:
    began, stopped = Event(), Event()

    class Failing:
        number, runs = 0, 1

        def do(self, threads: int | None = None, progress: Callable[[int, int], object] | None = None) -> bytes:
            assert began.wait(10)
            raise ValueError("failed")

    class Endless(Failing):
        def do(self, threads: int | None = None, progress: Callable[[int, int], object] | None = None) -> bytes:
            assert progress is not None
            began.set()
            try:
                while True:
                    progress(0, 1)
            except SweepError:
                stopped.set()
                raise

    with pytest.raises(ValueError, match="failed"):
        list(Cores(2).done([Failing(), Endless()], lambda _: None))
    assert stopped.is_set()


def test_captures_that_cannot_be_read_have_a_row_and_fail_the_command(
    captures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (captures / "cut.pcap").write_bytes((FAULTS / "ack_at_once_nots.pcap").read_bytes()[:5000])
    (captures / "none.pcap").write_bytes(b"hello")
    out = tmp_path / "out"
    assert main(["analyze", str(captures), "--out", str(out), "--json"]) == FAILED
    found = json.loads(capsys.readouterr().out)
    assert [row["file"] for row in found["failed"]] == ["cut.pcap", "none.pcap"]
    assert "the record at byte 4928 is cut off" in found["failed"][0]["error"]
    rows = Folder(out).table()
    assert found["files"] == len(NAMES) + 2
    assert found["retransmissions"] == sum(one["count"] for one in found["counts"]) == rows.num_rows - 2


def test_a_changed_capture_is_refused_and_analysed_anew(
    captures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = ["analyze", str(captures), "--out", str(tmp_path / "out")]
    assert main(ask) == OK
    assert f"captures of {captures}" in capsys.readouterr().out
    shutil.copy(FAULTS / NAMES[0], captures / "more.pcap")
    assert main(ask) == BAD_INPUT
    assert "holds another sweep" in capsys.readouterr().err
    assert main([*ask, "--fresh"]) == OK
    assert len(list((tmp_path / "out").glob("*.parquet"))) == len(NAMES) + 1


def test_results_below_the_captures_are_no_captures(captures: Path) -> None:
    out = captures / "out"
    for _ in range(2):
        eifel.analyze_folder(captures, out=out)
        (out / "copy.pcap").write_bytes(b"")
    assert len(list(out.glob("*.parquet"))) == len(NAMES)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["FOLDER", "--csv", "x.csv"], "--csv: of files; FOLDER is a folder"),
        (["FOLDER", "--fail-if", "spurious>1"], "--fail-if: of files; FOLDER is a folder"),
        (["FILE", "--fresh"], "--fresh: of a folder; expected eifel analyze FOLDER"),
        (["FOLDER", "FILE"], "FOLDER: a folder; expected it alone"),
        (["EMPTY"], "EMPTY: no capture in this folder; expected names that end in .pcap,"),
        (["FOLDER", "--dask", "tcp://127.0.0.1:9"], "--dask tcp://127.0.0.1:9: no scheduler there"),
    ],
)
def test_options_of_the_other_kind_are_refused(
    words: list[str], says: str, captures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if "--dask" in words:
        pytest.importorskip("distributed", reason="Dask is not installed: pip install 'eifel[dask]'")
    (tmp_path / "empty").mkdir()
    known = {"FOLDER": captures, "FILE": captures / NAMES[0], "EMPTY": tmp_path / "empty"}
    assert main(["analyze", *(str(known.get(word, word)) for word in words), *out_of(words, tmp_path)]) == BAD_INPUT
    said = capsys.readouterr().err
    for name, path in known.items():
        says = says.replace(name, str(path)) if name in words else says
    assert said.startswith(f"eifel: {says}") and said.count("\n") == 1


def out_of(words: list[str], tmp_path: Path) -> list[str]:
    return ["--out", str(tmp_path / "out")] if "FILE" not in words else []


def test_a_worker_of_a_cluster_is_killed_and_the_bytes_are_the_same(captures: Path, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'eifel[dask]'")
        from eifel.sweeps.executor import Dask

        eifel.analyze_folder(captures, out=tmp_path / "here")
        killed: list[int] = []
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as cluster:

            def kill(done: int, _total: int) -> None:
                if done and not killed:
                    killed.append(next(iter(cluster.workers.values())).process.pid)
                    os.kill(killed[0], signal.SIGKILL)

            workers = Dask(cluster.scheduler_address)
            eifel.analyze_folder(captures, out=tmp_path / "cluster", executor=workers, progress=kill)
    assert killed
    assert contents(tmp_path / "cluster") == contents(tmp_path / "here")
