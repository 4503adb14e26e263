"""The manual pages of the program say what its `--help` says."""

import re
import runpy
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAN: dict[str, Any] = runpy.run_path(str(ROOT / "packaging/manpages.py"))

HELP = """\
Runs a command behind a box: rate, delay, queue. It needs root.

usage: eifel live hiccup [OPTIONS] SCENARIO.toml
       eifel live hiccup --keys

  --out FOLDER       writes path.csv,
                     and truth.csv
  --on 'WHEN: ORDER' an order on a condition

FOLDER may exist.

example: eifel live hiccup spike.toml --on 'segment 9: hold'
"""


def test_a_page_has_all_that_the_help_says() -> None:
    page = MAN["page"](("live", "hiccup"), HELP, "1.2", ["eifel(1)"])
    assert page.splitlines()[:3] == [
        '.TH EIFEL-LIVE-HICCUP 1 "" "eifel 1.2"',
        ".SH NAME",
        "eifel\\-live\\-hiccup \\- runs a command behind a box",
    ]
    for part in (
        ".SH SYNOPSIS\n.nf\neifel live hiccup [OPTIONS] SCENARIO.toml\neifel live hiccup \\-\\-keys\n.fi\n",
        ".TP\n.B \\-\\-out FOLDER\nwrites path.csv,\nand truth.csv\n",
        ".TP\n.B \\-\\-on \\(aqWHEN: ORDER\\(aq\nan order on a condition\n",
        ".SH NOTES\nFOLDER may exist.\n",
        ".SH EXAMPLES\n.nf\neifel live hiccup spike.toml \\-\\-on \\(aqsegment 9: hold\\(aq\n.fi\n",
    ):
        assert part in page, part


def test_there_is_a_page_for_each_command_and_troff_accepts_it(tmp_path: Path) -> None:
    program = ROOT / "target/debug/eifel"
    if not program.is_file():
        pytest.skip("target/debug/eifel is not built: cargo build -p eifel-live")
    MAN["main"](str(program), str(tmp_path), "1.2")
    pages = {page.name for page in tmp_path.iterdir()}
    assert {"eifel.1", "eifel-analyze.1", "eifel-live.1", "eifel-live-send.1", "eifel-watch.1"} <= pages
    for page in tmp_path.iterdir():
        text = page.read_text()
        command = page.stem.replace("-", " ").split()
        said = subprocess.run([program, *command[1:], "--help"], capture_output=True, text=True, check=True).stdout
        plain = text.replace("\\-", "-")
        assert {*re.findall(r"^  (--[a-z-]+)", said, re.MULTILINE)} == {
            *re.findall(r"^\.B (--[a-z-]+)", plain, re.MULTILINE)
        }
        if shutil.which("groff"):
            made = subprocess.run(["groff", "-man", "-ww", "-Tutf8", page], capture_output=True, text=True, check=False)
            assert (made.returncode, made.stderr) == (0, ""), page.name
