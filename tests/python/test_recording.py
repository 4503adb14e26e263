"""Recordings written during the run: their contents and their cost."""

from __future__ import annotations

import csv
import json
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import eifel
from eifel import _engine
from eifel.cli import BAD_INPUT, OK, main
from eifel.recording import Wanted, record_run
from eifel.result import TABLES, Result
from eifel.scenario import load

EXAMPLES = Path(__file__).parents[2] / "examples"
FAST = """
duration_s = {seconds}
point_to_point = {{ rate_bps = 100_000_000, delay_ms = 10, queue = {{ kind = "drop-tail", packets = 200 }} }}
[[flow]]
name = "main"
from = "sender"
to = "receiver"
application = {{ kind = "bulk", endless = true }}
tcp = {{ payload_bytes = 1000, receive_window_segments = 400 }}
"""


@pytest.mark.parametrize("example", ["spike.toml", "request-response.toml"])
def test_a_recording_holds_the_tables_that_a_run_holds_in_memory(example: str, tmp_path: Path) -> None:
    settings = {"duration_s": 60}
    streamed = eifel.record(EXAMPLES / example, tmp_path / "record", settings=settings)
    whole = eifel.run(EXAMPLES / example, settings=settings)
    again = Result.read(tmp_path / "record")
    assert streamed.flows == whole.flows == again.flows
    assert streamed.tables == {}
    assert again.source == whole.source
    assert tuple(again.tables) == TABLES
    for name, table in whole.tables.items():
        kept = again.tables[name]
        assert kept.schema.names == table.schema.names
        assert kept.to_pylist() == table.to_pylist(), name


def test_a_long_run_takes_no_more_memory_than_a_short_one(tmp_path: Path) -> None:
    peaks = []
    for seconds in (2, 20):
        (tmp_path / "scenario.toml").write_text(FAST.format(seconds=seconds))
        script = (
            "import re, sys\nfrom pathlib import Path\nfrom eifel.cli import main\n"
            f"main(['run', {str(tmp_path / 'scenario.toml')!r}, '--record', {str(tmp_path / 'record')!r}, '--json'])\n"
            # getrusage would not do: its peak includes the process before it became this one.
            "print(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1], file=sys.stderr)"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        sent = json.loads(done.stdout)["flows"][0]["mean"]["segments_sent"]
        assert sent > 10_000 * seconds
        peaks.append(int(done.stderr.split()[-1]) / 1000)
    assert peaks[1] < peaks[0] + 40, "megabytes"
    assert peaks[1] < 200
    rows = Result.read(tmp_path / "record").tables["transmissions"].num_rows
    assert rows > 200_000


def test_chosen_tables_and_payload(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = {}
    for more in ([], ["--payload"]):
        asked = ["run", str(EXAMPLES / "spike.toml"), "--record", str(tmp_path / "record")]
        assert main([*asked, "--tables", "acks,window", *more]) == OK
        assert {file.name for file in (tmp_path / "record").iterdir()} == {
            "acks.parquet", "window.parquet", "manifest.json", "sender.pcapng", "receiver.pcapng",
        }  # fmt: skip
        sizes[bool(more)] = (tmp_path / "record" / "sender.pcapng").stat().st_size
    assert sizes[True] > sizes[False] + 900 * 500
    assert main([*asked, "--tables", "none"]) == OK
    assert not list((tmp_path / "record").glob("*.parquet"))
    capsys.readouterr()
    assert main([*asked, "--tables", "acks,packets"]) == BAD_INPUT
    assert re.search(
        r"--tables packets: no such table; there is: transmissions, .*, spikes, or none\n", capsys.readouterr().err
    )


def test_what_is_recorded_captured_drawn_and_shown_is_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["run", str(EXAMPLES / "spike.toml"), "--set", "duration_s=60", "--repetitions", "3"]
    command.append("--json")
    second = ["--repetition", "1"]
    ran: list[int] = []
    real_record, real_run, real_command = _engine.record, _engine.run, _engine.run_command

    def record(*asked: Any) -> Any:
        ran.append(asked[2])
        return real_record(*asked)

    def run(*asked: Any) -> Any:
        ran.append(asked[2])
        return real_run(*asked)

    def run_command(words: Any, source: Any, *more: Any) -> Any:
        ran.extend({0, 1, 2} - {repetition for repetition, _ in source[2]})
        return real_command(words, source, *more)

    for name, one in (("record", record), ("run", run), ("run_command", run_command)):
        monkeypatch.setattr(_engine, name, one)
    said = {}
    alone = [
        ["--record", "alone"],
        ["--pcap", "alone.pcapng"],
        ["--plot", "alone.svg"],
        ["--plot", "alone.html"],
        ["-v"],
    ]
    for more in ([], *alone):
        ran.clear()
        assert main([*command, *more, *(second if more and more != ["-v"] else [])]) == OK
        said[" ".join(more)] = json.loads(capsys.readouterr().out)
        assert sorted(ran) == [0, 1, 2], more
    assert said[""] == said["--record alone"] == said["--pcap alone.pcapng"] == said["--plot alone.svg"]
    ran.clear()
    many = ["--record", "all", "--tables", "acks,queues", "--pcap", "all.pcapng", "--plot", "all.svg", "-v"]
    assert main([*command, *second, *many]) == OK
    assert json.loads(capsys.readouterr().out) == said["-v"]
    assert sorted(ran) == [0, 1, 2]
    same = [("alone.pcapng", "all.pcapng"), ("alone.svg", "all.svg"), ("alone/sender.pcapng", "all.pcapng")]
    same += [(f"alone/{name}", f"all/{name}") for name in ("acks.parquet", "queues.parquet", "receiver.pcapng")]
    for one, other in same:
        assert Path(one).read_bytes() == Path(other).read_bytes(), one
    assert main([*command, *second, "--record", "page", "--plot", "page.html"]) == OK
    assert Path("page.html").read_bytes() == Path("alone.html").read_bytes()
    # What is kept of a streamed run is what a run in memory has.
    streamed = record_run(load(FAST.format(seconds=4)), tmp_path / "fast", Wanted(kept=TABLES), tables=["drops"])
    whole = eifel.run(FAST.format(seconds=4))
    assert whole.tables["transmissions"].num_rows > 1 << 15
    for name, table in whole.tables.items():
        assert streamed.tables[name].to_pylist() == table.to_pylist(), name
    assert [file.name for file in sorted((tmp_path / "fast").iterdir())] == ["drops.parquet", "manifest.json"]


def test_an_interrupted_recording_leaves_the_one_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    eifel.record(EXAMPLES / "spike.toml", tmp_path / "record", tables=["acks"])
    before = {file.name: file.read_bytes() for file in (tmp_path / "record").iterdir()}

    def press(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("eifel.recording.recorded", press)
    with pytest.raises(KeyboardInterrupt):
        eifel.record(EXAMPLES / "spike.toml", tmp_path / "record")
    assert {file.name: file.read_bytes() for file in (tmp_path / "record").iterdir()} == before
    assert [file.name for file in tmp_path.iterdir()] == ["record"]


def test_tables_are_written_as_csv_beside_parquet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables = ["transmissions", "drops", "episodes"]
    eifel.record(EXAMPLES / "spike.toml", tmp_path / "record", tables=tables, csv=True)
    kept = Result.read(tmp_path / "record")
    for name in tables:
        with (tmp_path / "record" / f"{name}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        table = kept.tables[name]
        assert len(rows) == table.num_rows
        for column in table.schema.names:
            words = [
                str(value).lower() if isinstance(value, bool) else str(value) for value in column_of(table, column)
            ]
            assert [row[column] for row in rows] == words, (name, column)
    assert not list((tmp_path / "record").glob("acks.*"))
    assert main(["run", str(EXAMPLES / "spike.toml"), "--csv"]) == BAD_INPUT
    assert "--csv: nothing is recorded; expected --record FOLDER" in capsys.readouterr().err


def column_of(table: pa.Table, name: str) -> list[object]:
    return ["" if value is None else value for value in table.column(name).to_pylist()]


def comments(file: Path) -> list[tuple[int, str]]:
    """Returns the number of each frame with a comment in a pcapng file, and its comment."""
    content, at, frame, found = file.read_bytes(), 0, 0, []
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        if kind == 6:
            frame += 1
            captured = struct.unpack_from("<I", content, at + 20)[0]
            option = at + 28 + (captured + 3) // 4 * 4
            if option < at + length - 4:
                code, size = struct.unpack_from("<HH", content, option)
                assert code == 1
                found.append((frame, content[option + 4 : option + 4 + size].decode()))
        at += length
    return found


def test_captures_have_comments_on_needless_retransmissions_undos_and_drops(tmp_path: Path) -> None:
    spike = eifel.record(EXAMPLES / "spike.toml", tmp_path / "spike", captures=["sender", "receiver"])
    texts = [text for _, text in comments(tmp_path / "spike" / "sender.pcapng")]
    assert sum("needless retransmission" in text for text in texts) == spike.main["spurious_retransmissions"] > 0
    assert sum("undo: cwnd" in text for text in texts) == spike.main["undos"] == 1
    assert sum("calls its episode spurious" in text for text in texts) == 1
    at_receiver = [text for _, text in comments(tmp_path / "spike" / "receiver.pcapng")]
    assert set(at_receiver) == {"needless retransmission"}, "what the sender concludes is seen at the sender"
    lossy = eifel.record(EXAMPLES / "lossy.toml", tmp_path / "lossy", captures=["sender"], settings={"duration_s": 20})
    texts = [text for _, text in comments(tmp_path / "lossy" / "sender.pcapng")]
    dropped = [text for text in texts if "dropped at bottleneck: " in text]
    assert len(dropped) == lossy.main["drops"] > 0
    assert sum("needed retransmission" in text for text in texts) > 0


@pytest.mark.skipif(shutil.which("tshark") is None, reason="SKIPPED: tshark is not installed")
def test_wireshark_shows_the_comments(tmp_path: Path) -> None:
    file = tmp_path / "spike.pcapng"
    assert main(["run", str(EXAMPLES / "spike.toml"), "--pcap", str(file), "--json"]) == OK
    command = ["tshark", "-r", str(file), "-T", "fields", "-e", "frame.number", "-e", "frame.interface_name"]
    shown = subprocess.run([*command, "-Y", "frame.comment contains undo"], capture_output=True, text=True, check=True)
    assert len(shown.stdout.splitlines()) == 1 and shown.stdout.split()[1] == "sender"
