"""For every command, bad input gives one line on standard error and an exit code, and never a traceback."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import eifel
from eifel.cli import BAD_INPUT, FAILED, argument, main
from eifel.cli.arguments import parser
from eifel.errors import BadInputError
from eifel.result import Result

EXAMPLES = Path(__file__).parents[2] / "examples"
SPIKE = str(EXAMPLES / "spike.toml")
SWEEP = str(EXAMPLES / "sweep.toml")

PATHS = (
    "",
    "nowhere.toml",
    "folder",
    "binary",
    "empty.toml",
    "words.toml",
    "null.json",
    "\udcff.toml",
    "a\0b",
    "x" * 300,
)
COUNTS = ("", "-1", "0", "1.5", "one", "1e3", "٣", "9" * 40, "9" * 5000, " 1")
KEYS = ("", "=", "seed", "=3", "seed=", "seed=-1", "sed=1", "flow.none.sender=1", "flow.0.sender.detect=x", "flow=1",
        "a.b.c=1", "seed.x=1", "title=\udcff", "flow.0=1", "flow.0.sender.detect.name=1", "duration_s=nan",
        "duration_s=inf", "duration_s=1e400", "seed=99999999999999999999", "title=\"a\nb\"")  # fmt: skip
FILES = ("", "folder", "nowhere/x", "/dev/full", "a\0b", "\udcff")


def asked() -> list[list[str]]:
    """Returns more than a hundred inputs per command. Not all of them are bad for every command."""
    made: list[list[str]] = [[], ["fly"], ["--no"], ["run"], ["sweep"], ["script"], ["worlds"], ["new"], ["compare"]]
    for path in PATHS:
        for command in ("run", "sweep", "script", "worlds"):
            made.append([command, path])
        made += [["report", "--from", path], ["reproduce", path], ["attacks", path, "--list"], ["list", path]]
        made += [["analyze", path], ["hunt", "liars", path], ["compare", SPIKE, path], ["new", path]]
        made += [["run", SPIKE, "--flow", path], ["run", SPIKE, "--record", "record", "--tables", path]]
    for count in COUNTS:
        for option in ("--repetitions", "--seed", "--jobs", "--repetition"):
            if (option, count) != ("--seed", "0"):
                made.append(["run", SPIKE, "--set", "duration_s=0.01", option, count])
        for option in ("--repetitions", "--seed", "--jobs"):
            if (option, count) != ("--seed", "0"):
                made.append(["reproduce", "responding.best_case", "--out", "out", option, count])
        for option in ("--segments", "--late-ms", "--jobs"):
            made.append(["worlds", SPIKE, option, count])
        made.append(["sweep", SWEEP, "--check", "--jobs", count])
    for key in KEYS:
        made += [["run", SPIKE, "--set", key], ["worlds", SPIKE, "--segments", "1", "--set", key]]
    for file in FILES:
        short = ["run", SPIKE, "--set", "duration_s=0.01"]
        made += [[*short, option, file] for option in ("--record", "--pcap", "--plot")]
        made += [["sweep", SWEEP, "--check", "--dask", file], ["sweep", SWEEP, "--out", file, "--show", "none"]]
        made += [["reproduce", "responding.best_case", "--out", file], ["report", "--from", "stored", "--out", file]]
        made += [["reproduce", "cellular.trace", "--trace", file]]
    made += [
        ["run", SPIKE, "--plot", "x.gif"],
        ["run", SPIKE, "--flow", ""],
        ["run", SPIKE, "--flow", "other"],
        ["run", SPIKE, "--repetition", "7", "--repetitions", "3"],
        ["run", SPIKE, "--repetition", "3", "--repetitions", "3", "--pcap", "x.pcapng"],
        ["run", SPIKE, "--record", "folder"],
        ["sweep", SWEEP, "--show", "bogus"],
        ["compare", SPIKE],
        ["compare", SPIKE, "--set", "seed"],
        ["compare", SPIKE, SPIKE, "--plot", "x.html"],
        ["new", "handover", "--out", "folder"],
        ["new", "handover", "--out", "nowhere/x.toml"],
        ["sweep", SWEEP, "--show", "cell"],
        ["sweep", SWEEP, "--flow", "other", "--check"],
        ["sweep", SWEEP, "--dask", "nonsense"],
        ["sweep", SWEEP, "--dask", "tcp://"],
        ["sweep", SWEEP, "--dask", "tcp://host:port"],
        ["sweep", "latin.toml"],
        ["sweep", "null.json"],
        ["run", "latin.toml"],
        ["reproduce", "--pictures", "gif"],
        ["reproduce", "--pictures", ""],
        ["reproduce", "responding", "--trace", SPIKE],
        ["list", "fruit"],
        ["attacks", "t99"],
        ["worlds", SPIKE, "--held-until", "noon"],
    ]
    return made


WORDS = tuple(
    f"{before}{middle}{after}"
    for before in ("", "./", "no/", "\u202e", "é", "\t")
    for middle in ("x", "0", "-1", "[", "{}", "..", "%s", "𝔵", "'\"", "a\0b", "*", "x" * 300, "\udcff", "nan", "(((")
    for after in (".toml", "")
)
"""Words that name no file, artefact, attack or algorithm."""
COMMANDS = {
    "run": ["run"],
    "new": ["new"],
    "compare": ["compare", SPIKE],
    "sweep": ["sweep"],
    "reproduce": ["reproduce", "--out", "out"],
    "report": ["report", "--from"],
    "list": ["list"],
    "script": ["script"],
    "worlds": ["worlds"],
    "hunt": ["hunt", "liars"],
    "attacks": ["attacks"],
    "advise": ["advise"],
    "analyze": ["analyze"],
    "whatif": ["whatif"],
    "captures": ["captures", "made", "--transfers"],
    "live": ["live"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_hundred_bad_words_for_each_command(command: str, place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    refused = 0
    for word in WORDS:
        # A name that begins with a dash is an option, and is refused as one.
        with contextlib.suppress(SystemExit):
            assert main([*COMMANDS[command], word]) in (0, FAILED, BAD_INPUT), word
        output = capfd.readouterr()
        assert "Traceback" not in output.err, word
        refused += bool(output.err) and output.err.splitlines()[-1].startswith("eifel")
    assert refused >= 100, f"of {len(WORDS)}"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "something.txt").write_text("of somebody's")
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    (tmp_path / "empty.toml").write_text("")
    (tmp_path / "words.toml").write_text("these are words")
    (tmp_path / "null.json").write_text("null")
    (tmp_path / "latin.toml").write_bytes("title = 'é'".encode("latin-1"))
    return tmp_path


def test_no_bad_input_gives_a_traceback(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused, commands = 0, asked()
    assert len(commands) > 300
    for arguments in commands:
        before = {file.name for file in place.iterdir()}
        begun = time.monotonic()
        with contextlib.suppress(SystemExit):
            # Any other exception is a traceback, and fails the test with these arguments visible.
            assert main(arguments) in (0, FAILED, BAD_INPUT), arguments
        output = capsys.readouterr()
        said = output.err.splitlines()
        assert "Traceback" not in output.err, arguments
        assert time.monotonic() - begun < 10, arguments
        if not said:
            continue
        refused += 1
        assert "error:" in said[-1] or said[-1].startswith(("eifel: ", "wrote ", "stored in ")), (arguments, said)
        if said[-1].startswith("eifel: ") and "error:" not in said[-1]:
            assert len(said) == 1, (arguments, said)
            assert not any("partial" in file.name for file in place.iterdir()), arguments
            assert {file.name for file in place.iterdir()} - before <= {"nowhere", "out"}, arguments
    assert refused > 250


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", SPIKE, "--plot", ""], "argument --plot: the name is empty"),
        (["run", SPIKE, "--pcap", ""], "argument --pcap: the name is empty"),
        (["run", SPIKE, "--record", ""], "argument --record: the name is empty"),
        (["run", SPIKE, "--repetitions", "-1"], "'-1': expected a whole number from 1"),
        (["run", SPIKE, "--seed", "-1"], "'-1': expected a whole number from 0"),
        (
            ["run", SPIKE, "--repetition", "7", "--repetitions", "3"],
            "--repetition 7: of 3 repetitions none is recorded or drawn; expected --record, --pcap, --plot, or",
        ),
        (
            ["run", SPIKE, "--repetition", "3", "--repetitions", "3", "--pcap", "x"],
            "--repetition 3: there are 3; allowed: 0 to 2",
        ),
        (["run", "\udcff.toml"], r"'\udcff.toml': not UTF-8; expected names and values in UTF-8"),
        (["worlds", "\udcff.toml"], r"'\udcff.toml': not UTF-8"),
        (["reproduce", "--out", "\udcff"], r"'\udcff': not UTF-8"),
        (["run", SPIKE, "--set", "title=\udcff"], r"'title=\udcff': not UTF-8"),
        (["sweep", "empty.toml"], "empty.toml: scenario: missing; expected the name of a scenario file, or a table"),
        (["sweep", "latin.toml"], "latin.toml: not a text file in UTF-8 (byte 9)"),
        (["sweep", SWEEP, "--out", "binary"], "binary: a file; expected the name of a folder"),
        (["sweep", SWEEP, "--show", "bogus"], "--show bogus: no such number; there is: completed, time_s"),
        (["sweep", SWEEP, "--dask", "nonsense"], "--dask nonsense: expected the address of a scheduler, as tcp://host"),
        (["report", "--from", "folder", "--out", "folder"], "folder: a folder; expected the name of a file"),
        (["report", "--from", "folder"], "folder: no finished artefacts there"),
    ],
)
def test_bad_input_is_a_message_on_stderr_and_nothing_on_stdout(
    arguments: list[str], words: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(arguments)
    except SystemExit as ended:
        code = int(str(ended.code))
    assert code == BAD_INPUT
    output = capsys.readouterr()
    assert words in output.err
    assert output.out == ""
    assert not (place / "out").exists()


def test_a_billion_points_are_refused_at_once(place: Path) -> None:
    design: dict[str, Any] = {"scenario": SPIKE, "product": {"duration_s": {"linear": [1, 9], "points": 1_000_000_000}}}
    with pytest.raises(BadInputError, match="points: 1000000000; expected a whole number from 2 to 1000000"):
        eifel.sweep(design, out=place / "out")
    several = {f"flow.0.sender.x{n}": {"linear": [1, 9], "points": 1000} for n in range(4)}
    with pytest.raises(BadInputError, match="1000000000000 cells; allowed: 10000000 at the most"):
        eifel.sweep({"scenario": SPIKE, "product": several}, out=place / "out")


def command(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "eifel", *arguments]
    return subprocess.run(line, stderr=subprocess.PIPE, text=True, check=False, timeout=60, **options)


def test_a_closed_or_full_output_is_a_line() -> None:
    closed = command("list", preexec_fn=lambda: os.close(1))
    assert (closed.returncode, closed.stderr) == (BAD_INPUT, "eifel: standard output is closed\n")
    with Path("/dev/full").open("w") as full:
        for arguments in (["list", "--json"], ["run", SPIKE], ["list", "schema"]):
            done = command(*arguments, stdout=full)
            assert (done.returncode, done.stderr) == (FAILED, "eifel: No space left on device\n"), arguments


def test_an_interrupted_command_says_that_finished_work_is_kept(
    monkeypatch: pytest.MonkeyPatch, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def press(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("eifel.sweeps.sweep", press)
    monkeypatch.setattr("eifel.cli.reproduce.reproduce", press)
    monkeypatch.setattr("eifel.hunts.hunt", press)
    for arguments in (["sweep", SWEEP], ["reproduce", "responding.table1"], ["hunt", "wrong", "f-rto"]):
        assert main(arguments) == 130
        said = capsys.readouterr().err
        assert said == "interrupted; what is finished is kept, and the same command goes on from there\n"


def test_a_full_disk_leaves_no_capture_that_is_cut_off(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    before = sorted(file.name for file in place.iterdir())
    for option, name in (("--pcap", "x.pcapng"), ("--plot", "x.svg"), ("--plot", "x.html"), ("--record", "record")):
        assert main(["run", SPIKE, "--set", "duration_s=5", option, name]) == FAILED
        assert "No space left on device" in capsys.readouterr().err
        assert sorted(file.name for file in place.iterdir()) == before


@pytest.mark.parametrize(
    "command",
    [
        ["run", SPIKE, "--plot"],
        ["run", SPIKE, "--pcap"],
        ["analyze", "x.pcapng", "--report"],
        ["analyze", "x.pcapng", "--csv"],
        ["report", "--out"],
    ],
)
def test_a_name_that_no_file_can_have_is_refused_before_the_work(
    command: list[str], place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "a.html").mkdir()
    assert main([*command, "a.html"]) == BAD_INPUT
    assert capsys.readouterr().err.endswith(": a folder; expected the name of a file\n")
    assert main([*command, "nowhere/a.html"]) == BAD_INPUT
    assert capsys.readouterr().err == "eifel: nowhere/a.html: there is no folder nowhere\n"


@pytest.mark.parametrize("command", [["reproduce", "responding.figure2"], ["hunt", "wrong", "f-rto"]])
def test_a_file_where_a_folder_is_to_be_is_refused_before_the_work(
    command: list[str], place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "file").touch()
    assert main([*command, "--out", "file"]) == BAD_INPUT
    assert capsys.readouterr().err == "eifel: file: a file; expected the name of a folder\n"


def test_a_recording_is_no_artefact(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", SPIKE, "--set", "duration_s=5", "--record", "out/record"]) == 0
    assert main(["reproduce", "responding.best_case", "--out", "out"]) == 0
    assert "stored in out: 1 artefacts" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["analyze", "x", "--report", "x.pdf"],
            "--report x.pdf: writes HTML (.html, .htm); PDF is written by `eifel run",
        ),
        (["analyze", "x", "--csv", "x.parquet"], "--csv x.parquet: writes CSV (.csv); for Parquet take --parquet"),
        (["analyze", "x", "--csv", "x.csv.gz"], "--csv x.csv.gz: writes CSV (.csv); no option writes .gz"),
        (["analyze", "x", "--parquet", "x.CSV"], "--parquet x.CSV: writes Parquet (.parquet); for CSV take --csv"),
        (
            ["analyze", "x", "--annotate", "x.snoop"],
            "--annotate x.snoop: writes pcapng (.pcapng, .pcap); no option writes .snoop",
        ),
        (
            ["analyze", "x", "--anonymise", "x.html"],
            "--anonymise x.html: writes pcapng (.pcapng, .pcap); for HTML take --report",
        ),
        (["analyze", "x", "--otel", "x.csv"], "--otel x.csv: writes JSON (.json); for CSV take --csv"),
        (["analyze", "x", "--extract-path", "x.json"], "writes TOML (.toml); --json prints JSON to standard output"),
        (["analyze", "x", "--xpl", "x.toml"], "--xpl x.toml: writes a folder; for TOML take --extract-path"),
        (["run", SPIKE, "--pcap", "x.svg"], "--pcap x.svg: writes pcapng (.pcapng, .pcap); for SVG take --plot"),
        (["run", SPIKE, "--record", "x.pcapng"], "--record x.pcapng: writes a folder; for pcapng take --pcap"),
        (
            ["run", SPIKE, "--plot", "x.csv"],
            "expected a name that ends in .png, .svg, .pdf, .xpl, .html; CSV is written",
        ),
        (["compare", SPIKE, SPIKE, "--plot", "x.html"], ".pdf; HTML is written by `eifel run --plot` and"),
        (["new", "handover", "--out", "x.json"], "--out x.json: writes TOML (.toml); --json prints JSON"),
        (
            ["sweep", SWEEP, "--out", "x.parquet"],
            "--out x.parquet: writes a folder; Parquet is written by `eifel analyze",
        ),
        (["reproduce", "--out", "x.pdf"], "--out x.pdf: writes a folder; PDF is written by `eifel run --plot`"),
        (["report", "--out", "x.pdf"], "--out x.pdf: writes HTML (.html, .htm); PDF is written by"),
        (["hunt", "wrong", "f-rto", "--out", "x.csv"], "--out x.csv: writes a folder; CSV is written by"),
        (["captures", "x.csv"], "FOLDER x.csv: writes a folder; CSV is written by `eifel analyze --csv`"),
        (["truth", "record", "x.csv"], "FOLDER x.csv: writes a folder; CSV is written by `eifel analyze --csv`"),
        (["wireshark", "install", "--folder", "x.csv"], "--folder x.csv: writes a folder; CSV is written by"),
    ],
)
def test_a_name_that_ends_as_another_format_is_refused(
    arguments: list[str], said: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(place.iterdir())
    assert main(arguments) == BAD_INPUT
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("eifel: ") and said in line
    assert sorted(place.iterdir()) == before


def test_each_argument_that_names_an_output_declares_its_format() -> None:
    """Reads help texts: an argument that writes is one of `Parser.output`."""
    undeclared = []

    def look(parser: argparse.ArgumentParser) -> None:
        declared = {output.dest for output in parser.get_default("outputs") or ()}
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for command in action.choices.values():
                    look(command)
            elif action.type is argument.path and action.dest not in declared:
                undeclared.append((parser.prog, action.dest, str(action.help)))

    look(parser())
    writes = re.compile(r"\b(write|writes|draw|copy|kept|goes?)\b")
    assert len(undeclared) > 10
    assert [one for one in undeclared if writes.search(one[2])] == []


def test_a_name_with_any_other_ending_is_taken(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("x.pcapng", "x.v2", "x"):
        assert main(["run", SPIKE, "--set", "duration_s=1", "--pcap", name]) == 0
        assert (place / name).read_bytes().startswith(b"\x0a\x0d\x0d\x0a")


def test_the_capture_that_is_read_is_not_overwritten(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", SPIKE, "--set", "duration_s=1", "--pcap", "x.pcapng"]) == 0
    content = (place / "x.pcapng").read_bytes()
    (place / "link").symlink_to("x.pcapng")
    capsys.readouterr()
    for name in ("x.pcapng", "link"):
        assert main(["analyze", "x.pcapng", "--annotate", name]) == BAD_INPUT
        assert f"--annotate {name}: the file that is read" in capsys.readouterr().err
    assert (place / "x.pcapng").read_bytes() == content


@pytest.mark.parametrize(
    "arguments",
    [
        *(["analyze", "x", option] for option in ("--csv", "--parquet", "--otel", "--report")),
        *(["run", SPIKE, "--set", "duration_s=1", option] for option in ("--pcap", "--record")),
    ],
)
def test_a_message_never_names_an_unfinished_file(
    arguments: list[str], place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", SPIKE, "--set", "duration_s=5", "--pcap", "x"]) == 0
    capsys.readouterr()
    # The name has room for itself, and none for what is added to it while the file is written.
    name = "y" * 245
    assert main([*arguments, name]) == FAILED
    assert capsys.readouterr().err.splitlines()[-1] == f"eifel: {name}: File name too long"


def test_a_file_that_is_no_recording_is_refused(place: Path) -> None:
    with pytest.raises(BadInputError, match=r"nowhere/manifest\.json: No such file or directory; no recorded run here"):
        Result.read(place / "nowhere")
    for text in ("null", "[]", "{}", "{", '{"scenario": 1}'):
        (place / "folder" / "manifest.json").write_text(text)
        with pytest.raises(BadInputError, match="folder: damaged, or no recorded run"):
            Result.read(place / "folder")


def test_errors_are_named_as_they_are_imported() -> None:
    with pytest.raises(eifel.ScenarioError) as refused:
        eifel.run("seed = 'x'")
    assert f"{type(refused.value).__module__}.{type(refused.value).__qualname__}" == "eifel.errors.ScenarioError"


STILL = """
duration_s = 100
seed = 1
[point_to_point]
rate_bps = "unlimited"
delay_ms = 0
queue = { kind = "unlimited" }
[[flow]]
name = "main"
from = "sender"
to = "receiver"
application = { kind = "bulk", endless = true }
"""


@pytest.mark.parametrize(
    "command",
    [
        ["run"],
        ["run", "--repetitions", "2"],
        ["run", "--verbose"],
        ["run", "--record", "record"],
        ["run", "--pcap", "x.pcapng"],
        ["run", "--plot", "x.svg"],
        ["compare", "--set", "flow.main.sender.detect=none"],
        ["compare", "--set", "flow.main.sender.detect=none", "--plot", "x.svg"],
    ],
)
def test_a_run_that_stands_still_ends_in_one_line_and_1(
    command: list[str], place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "still.toml").write_text(STILL)
    before = sorted(place.iterdir())
    name, *options = command
    assert main([name, "still.toml", *options]) == FAILED
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("eifel: ") and "time stands still at 0 s" in line
    assert sorted(place.iterdir()) == before


def test_runs_of_a_sweep_that_stand_still_are_named_and_the_code_is_1(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "still.toml").write_text(STILL)
    (place / "sweep.toml").write_text('scenario = "still.toml"\n[product]\nduration_s = [1, 2]\n')
    assert main(["sweep", "sweep.toml"]) == FAILED
    said = capsys.readouterr().err
    assert "time stands still" in said and "2 runs failed" in said and "Traceback" not in said


def test_a_failed_run_has_an_exception_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "still.toml").write_text(STILL)
    for run in (eifel.run, lambda file: eifel.run_many([file])):
        with pytest.raises(eifel.RunError, match="time stands still"):
            run(tmp_path / "still.toml")


def test_a_scenario_is_no_sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "still.toml").write_text(STILL)
    assert main(["sweep", str(tmp_path / "still.toml")]) == BAD_INPUT
    assert "this is a scenario (it has duration_s), and no sweep" in capsys.readouterr().err


def test_a_sweep_is_no_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["run", SWEEP], ["worlds", SWEEP], ["compare", SPIKE, SWEEP]):
        assert main(command) == BAD_INPUT
        (line,) = capsys.readouterr().err.splitlines()
        assert line.endswith(
            f"this is a sweep (it has scenario), and no scenario; expected flows, or `eifel sweep {SWEEP}`"
        )


def test_a_parameter_can_be_set_of_an_algorithm_that_only_has_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", SPIKE, "--set", "duration_s=0.01", "--json"]
    named = ["--set", "flow.main.sender.rto=linux"]
    assert main([*words, *named, "--set", "flow.main.sender.rto.minimum_ms=400"]) == 0
    capsys.readouterr()
    assert main([*words, "--set", "flow.main.sender.pace.minimum_ms=400"]) == BAD_INPUT
    (line,) = capsys.readouterr().err.splitlines()
    assert "flow.main.sender.pace.minimum_ms: the scenario does not say there whose parameter this is" in line
    assert "set flow.main.sender.pace.name too; allowed: none, burst-limit" in line
    assert main([*words, "--set", "sender.fly.high=1"]) == BAD_INPUT
    assert "unknown key" in capsys.readouterr().err
