import json
from pathlib import Path

import pytest

from eifel.cli import main

OPEN = """// Opens.
//: timestamps = off
0   socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0  bind(3, ..., ...) = 0
+0  listen(3, 1) = 0
+0  < S 0:0(0) win 10000 <mss 1000>
+0  > S. 0:0(0) ack 1 <mss 1460>
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "passes.pkt").write_text(OPEN)
    return tmp_path


def test_all_scripts_of_a_folder_are_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["script", str(folder)]) == 0
    assert capsys.readouterr().out == "1 passed\n"


def test_a_failure_is_1_and_shows_the_ladder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failing = folder / "fails.pkt"
    failing.write_text(OPEN + "+0 > . 1:1(0) ack 1\n")
    assert main(["script", str(folder)]) == 1
    shown = capsys.readouterr().out
    assert f"FAILED {failing}:8: nothing leaves" in shown
    assert ">>     8" in shown
    assert shown.endswith("1 passed, 1 failed\n")


def test_json_has_every_row(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["script", str(folder), "--json"]) == 0
    (script,) = json.loads(capsys.readouterr().out)["scripts"]
    assert script["passed"]
    assert script["failure"] is None
    assert [row["line"] for row in script["rows"]] == [3, 4, 5, 6, 7]
    assert script["rows"][4]["seen"][0]["text"].startswith("> S. 0:0(0) ack 1 win 65535")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 jump(3) = 0", 'x.pkt:1:3: unknown call "jump"; expected one of'),
        ("//: recover = reno-sak", "x.pkt:1:15: recover = reno-sak is not allowed; expected one of reno,"),
    ],
)
def test_a_refused_script_is_one_line_and_2(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.pkt").write_text(text)
    assert main(["script", str(tmp_path)]) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert errors.count("\n") == 1


def test_a_missing_or_binary_script_exits_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["script", str(tmp_path / "none.pkt")]) == 2
    assert main(["script", str(tmp_path)]) == 2
    (tmp_path / "x.pkt").write_bytes(b"\xff")
    assert main(["script", str(tmp_path)]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert ["No such file" in errors[0], "no scripts there" in errors[1], "not a text file in UTF-8" in errors[2]] == [
        True
    ] * 3
    assert len(errors) == 3


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["script", "--help"]) == 0
    assert "example: eifel script" in capsys.readouterr().out


def test_a_profile_answers_as_the_stack_that_a_script_was_written_for(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "freebsd.pkt").write_text(
        OPEN.replace("//: timestamps = off", "--ip_version=ipv6").replace("1460", "1440")
    )
    (folder / "below" / "passes.pkt").unlink()
    assert main(["script", "--profile", "freebsd", str(folder)]) == 0
    assert capsys.readouterr().out == "1 passed\n"
