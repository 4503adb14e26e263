"""The plugin for Wireshark, as tshark runs it."""

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import eifel
from eifel import wireshark
from eifel.cli import main
from eifel.errors import BadInputError

CAPTURES = Path(__file__).parents[2] / "crates" / "capture" / "tests" / "faults"
needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="SKIPPED: tshark is not installed")


def shows_lua() -> bool:
    said = subprocess.run(["tshark", "--version"], capture_output=True, text=True, check=False).stdout
    return "with Lua" in said


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """Installs the plugin for a user whose home is empty."""
    if not shows_lua():
        pytest.skip("SKIPPED: this tshark has no Lua")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "WIRESHARK_CONFIG_DIR", wireshark.ENVIRONMENT):
        monkeypatch.delenv(name, raising=False)
    assert main(["wireshark", "install"]) == 0
    written = [Path(line) for line in capsys.readouterr().out.splitlines() if line.startswith("/")]
    assert [path.name for path in written] == ["eifel.lua", "preferences", "colorfilters"]
    assert all(path.is_file() and tmp_path in path.parents for path in written)
    return tmp_path


def tshark(capture: Path, *words: str) -> list[str]:
    done = subprocess.run(["tshark", "-n", "-r", str(capture), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@needs_tshark
def test_a_display_filter_finds_what_the_analysis_counts(home: Path) -> None:
    seen: Counter[str] = Counter()
    for capture in sorted(CAPTURES.glob("*.pcap*")):
        rows = {row["frame"]: row for row in eifel.analyze(capture).report["retransmissions"]}
        names = ("verdict", "cause", "confidence", "reason", "evidence_frame")
        fields = [word for name in names for word in ("-e", f"eifel.{name}")]
        shown = tshark(capture, "-Y", "eifel.verdict", "-T", "fields", "-e", "frame.number", *fields)
        expected = [
            "\t".join(str(value) for value in (frame, *("" if row[name] is None else row[name] for name in names)))
            for frame, row in sorted(rows.items())
        ]
        assert shown == expected, capture.name
        spurious = tshark(capture, "-Y", 'eifel.verdict == "spurious"', "-T", "fields", "-e", "frame.number")
        assert len(spurious) == sum(row["verdict"] == "spurious" for row in rows.values()), capture.name
        seen.update(row["verdict"] for row in rows.values())
    assert min(seen["needed"], seen["spurious"]) > 5


BUNDLED = """
duration_s = 20
point_to_point = { rate_bps = 2_000_000, delay_ms = 50, queue = { kind = "drop-tail", packets = 20 } }
[[spike]]
links = ["bottleneck"]
holds = "arriving"
at = [{ start_s = 2, length_s = 2 }]
[[flow]]
name = "main"
from = "sender"
to = "receiver"
transport = "sctp"
application = { kind = "bulk", bytes = 500_000 }
sctp = { message_bytes = 300 }
"""


@needs_tshark
def test_a_packet_with_several_chunks_has_the_verdict_of_each(home: Path) -> None:
    (home / "bundled.toml").write_text(BUNDLED)
    capture = home / "bundled.pcap"
    assert main(["run", str(home / "bundled.toml"), "--pcap", str(capture)]) == 0
    expected: dict[int, list[str]] = {}
    for row in eifel.analyze(capture).report["retransmissions"]:
        expected.setdefault(row["frame"], []).append(row["verdict"])
    shown = tshark(capture, "-Y", "eifel.verdict", "-T", "fields", "-e", "frame.number", "-e", "eifel.verdict")
    assert shown == [f"{frame}\t{','.join(verdicts)}" for frame, verdicts in sorted(expected.items())]
    assert max(map(len, expected.values())) > 2


@needs_tshark
def test_the_profile_has_a_column_for_the_verdict_and_expert_items_say_why_wireshark_differs(home: Path) -> None:
    capture = CAPTURES / "retransmission_same_tick.pcap"
    plain = tshark(capture, "-C", wireshark.PROFILE, "-Y", "frame.number == 84")
    assert " needed fast " in plain[0]
    reordered = tshark(capture, "-Y", "eifel.differs", "-T", "fields", "-e", "_ws.expert.message")
    assert reordered
    assert all("what is retransmitted early looks reordered" in line for line in reordered)
    coloured = tshark(capture, "-C", wireshark.PROFILE, "-T", "fields", "-e", "frame.coloring_rule.name", "--color")
    assert any("Needed retransmission" in line for line in coloured)


@needs_tshark
def test_a_file_that_cannot_be_found_is_said_in_the_first_frame(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(wireshark.ENVIRONMENT, str(home / "absent.pcap"))
    shown = tshark(CAPTURES / "lan_reorder_v6.pcap", "-T", "fields", "-e", "_ws.expert.message", "-c", "1")
    assert "absent.pcap" in shown[0]


def test_findings_of_a_named_file_are_lines_with_tabs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["wireshark", "findings", str(CAPTURES / "retransmission_same_tick.pcap")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split("\t")[:4] == ["84", "needed", "certain", "the original never passed the capture point"]
    assert {line.count("\t") for line in lines} == {len(wireshark.ORDER)}


def test_without_wireshark_a_folder_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wireshark.shutil, "which", lambda _: None)
    with pytest.raises(BadInputError, match=r"neither tshark nor wireshark is installed; expected .* or --folder"):
        wireshark.install(None)
    assert wireshark.install(tmp_path / "plugins") == [tmp_path / "plugins" / wireshark.PLUGIN]
    text = (tmp_path / "plugins" / wireshark.PLUGIN).read_text()
    assert "@" not in text.replace("os.getenv", "") and "-m eifel" in text


def test_the_open_capture_is_that_of_the_nearest_ancestor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    capture, other = tmp_path / "open.pcap", tmp_path / "notes.txt"
    capture.write_bytes(b"\xd4\xc3\xb2\xa1" + bytes(20))
    other.write_text("no capture")
    files = {3: [other], 2: [other, capture, tmp_path / "gone.pcap"]}
    monkeypatch.delenv(wireshark.ENVIRONMENT, raising=False)
    monkeypatch.setattr(wireshark, "_parent", {os.getpid(): 3, 3: 2, 2: 1}.__getitem__)
    monkeypatch.setattr(wireshark, "_files_of", files.__getitem__)
    assert wireshark.opened() == capture
    files[2] = []
    with pytest.raises(BadInputError, match="expected its name in the variable EIFEL_CAPTURE"):
        wireshark.opened()
