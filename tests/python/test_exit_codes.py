"""Runs each command of docs/reference/commands.md, and compares its exit code."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from eifel.cli import main
from eifel.cli.arguments import parser

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/commands.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("<!-- exit codes -->")[2].partition("<!-- end -->")[0]
ROWS = re.findall(r"^\| `eifel ?([^`]*)` \| (\d+) \|", TABLE, re.MULTILINE)
ENDLESS = """
duration_s = 9
point_to_point = { rate_bps = "unlimited", delay_ms = 0 }
[[flow]]
name = "main"
from = "sender"
to = "receiver"
application = { kind = "bulk", endless = true }
"""
SCRIPT = """
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 1000 <mss 1000>
+0 > S. 0:0(0) ack 1 <mss 1460>
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("codes")
    good = (ROOT / "examples/spike.toml").read_text().replace("duration_s = 150", "duration_s = 30")
    (made / "good.toml").write_text(good)
    (made / "still.toml").write_text(ENDLESS)
    for name, scenario in (("sweep", "good"), ("still-sweep", "still")):
        (made / f"{name}.toml").write_text(f'scenario = "{scenario}.toml"\n[product]\nduration_s = [1, 2]\n')
    (made / "passes.pkt").write_text(SCRIPT)
    (made / "fails.pkt").write_text(SCRIPT.replace("ack 1 <", "ack 2 <"))
    assert main(["run", str(ROOT / "examples/lossy.toml"), "--pcap", str(made / "lossy.pcapng")]) == 0
    (made / "cut.pcapng").write_bytes((made / "lossy.pcapng").read_bytes()[:-99])
    shutil.copy(ROOT / "crates/capture/tests/advice/held.pcap.gz", made)
    shutil.copy(ROOT / "crates/capture/tests/faults/reorder_nots_between.pcap", made / "between.pcapng")
    record = bytes(8) + (60).to_bytes(4, "little") * 2 + bytes(60)
    header = b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00" + bytes(8) + (262144).to_bytes(4, "little")
    (made / "udp.pcap").write_bytes(header + (1).to_bytes(4, "little") + record)
    (made / "folder").mkdir()
    return made


def code_of(arguments: list[str]) -> int:
    try:
        return main(arguments)
    except SystemExit as ended:
        return int(ended.code or 0)


def test_each_line_of_the_page_is_true(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    wrong = []
    for line, code in ROWS:
        found = code_of(shlex.split(line))
        said = capfd.readouterr().err
        if found != int(code) or "Traceback" in said:
            wrong.append((line, code, found, said[-300:]))
    assert wrong == []


def test_the_page_has_each_command() -> None:
    commands = next(action for action in parser()._actions if action.dest == "==SUPPRESS==" and action.choices)
    shown = {line.split()[0] for line, _ in ROWS if line}
    assert {*commands.choices} - shown == set()
    assert len(ROWS) > 50 and {code for _, code in ROWS} == {"0", "1", "2"}
