"""Recordings that are written while the run goes on: what they hold, and what they take."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import eifel
from eifel.cli import BAD_INPUT, OK, main
from eifel.result import TABLES, Result

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
def test_a_recording_holds_what_a_run_holds_in_memory(example: str, tmp_path: Path) -> None:
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
            # Not getrusage: its peak counts what the process was before it became this one.
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
