import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from eifel.cli import main

pytestmark = pytest.mark.usefixtures("fake")


def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys\nfrom eifel.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'numpy', 'pyarrow', 'matplotlib', 'rich', 'eifel._engine'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "reproduce" in done.stdout


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(28, "No space left on device"), "eifel: No space left on device\n"),
        (PermissionError(13, "Permission denied", "out"), "eifel: out: Permission denied\n"),
    ],
)
def test_a_refusal_by_the_system_is_one_line(
    error: OSError, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(_: object) -> int:
        raise error

    monkeypatch.setattr("eifel.cli.list.command", refuse)
    assert main(["list"]) == 1
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    "command", ["run", "reproduce", "report", "list", "attacks", "analyze", "compare", "sweep", "worlds"]
)
def test_every_command_has_help_with_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    shown = capsys.readouterr().out
    assert f"example: eifel {command}" in shown
    assert "%%" not in shown
    assert "--json" in shown


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fly"],
        ["run"],
        ["run", "x.toml", "--repetitions", "0"],
        ["run", "x.toml", "--seed", "-1"],
        ["list", "fruit"],
    ],
)
def test_bad_arguments_exit_with_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["anlyze", "x"], "analyze"),
        (["algoritms"], "list algorithms"),
        (["list", "algoritms"], "algorithms"),
        (["truth", "scor", "x"], "score"),
    ],
)
def test_a_misspelt_word_names_the_nearest_one(
    arguments: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert f"did you mean {meant}?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "said"),
    [("--anonymize", "--anonymize; did you mean --anonymise?\n"), ("--repot=x", "--repot=x; did you mean --report?\n")],
)
def test_a_mistyped_option_is_refused_with_the_nearest(
    option: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["analyze", "x.pcap", option])
    assert capsys.readouterr().err.endswith(f"eifel analyze: error: unrecognized arguments: {said}")
    with pytest.raises(SystemExit, match="2"):
        main(["analyze", "x.pcap", "--foo"])
    assert capsys.readouterr().err.endswith("unrecognized arguments: --foo\n")


@pytest.mark.parametrize("command", [[], ["analyze"], ["truth", "score"]])
def test_help_is_a_command_too(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["help", *command])
    asked = capsys.readouterr().out
    with pytest.raises(SystemExit, match="0"):
        main([*command, "--help"])
    assert asked == capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "{folder}/none.toml"], "none.toml: No such file"),
        (["run", "{scenario}", "--set", "sed=1"], "sed: unknown key, allowed: title"),
        (["run", "{scenario}", "--set", "seed"], "expected key.path=value"),
        (
            ["run", "{scenario}", "--plot", "x.gif"],
            "--plot x.gif: expected a name that ends in .png, .svg, .pdf, .xpl, .html",
        ),
        (["reproduce", "responding.table9"], "no artefact begins with this"),
        (["reproduce", "cellular.trace"], "needs link traces"),
        (["reproduce", "responding.table1", "--trace", "x.down"], "none of the artefacts chosen"),
        (["report", "--from", "{folder}/nothing"], "no finished artefacts there"),
    ],
)
def test_bad_input_is_one_line_and_2(
    arguments: list[str], message: str, scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([a.format(scenario=scenario, folder=scenario.parent) for a in arguments]) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert errors.count("\n") == 1


def test_an_interrupt_is_130(monkeypatch: pytest.MonkeyPatch, fake, capsys: pytest.CaptureFixture[str], scenario: Path):
    def press(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(fake, "run_command", press)
    assert main(["run", str(scenario)]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_a_fault_of_ours_is_not_called_bad_input(monkeypatch: pytest.MonkeyPatch, fake, scenario: Path) -> None:
    def broken(*_: object) -> None:
        raise ValueError("a fault")

    monkeypatch.setattr(fake, "run_command", broken)
    with pytest.raises(ValueError, match="a fault"):
        main(["run", str(scenario)])


@pytest.mark.parametrize("words", [["list", "--json"], ["list"]])
def test_a_closed_output_pipe_is_no_error(words: list[str], scenario: Path) -> None:
    script = "import sys; sys.path.insert(0, sys.argv[1]); import fake_engine, eifel; eifel._engine = fake_engine\n"
    script += f"sys.modules['eifel._engine'] = fake_engine\nfrom eifel.cli import main\nsys.exit(main({words!r}))"
    here = str(Path(__file__).parent)
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-c", script, here], stdout=closed, stderr=subprocess.PIPE, text=True, check=False
        )
    assert "Traceback" not in done.stderr
    assert done.returncode == 0


def test_run_prints_means_with_intervals(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(scenario)]) == 0
    shown = capsys.readouterr().out
    assert "means of 4 repetitions" in shown
    assert "±" in shown


def test_run_prints_json(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(scenario), "--json"]) == 0
    many = json.loads(capsys.readouterr().out)
    assert (many["seed"], many["repetitions"]) == (3, 4)
    assert 30 < many["flows"][0]["mean"]["time_s"] < 50
    assert main(["run", str(scenario), "--json", "--repetitions", "1", "--seed", "8"]) == 0
    one = json.loads(capsys.readouterr().out)
    assert one["seed"] == 8
    assert one["flows"][0]["flow"] == "main"


def test_run_records_and_draws(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = scenario.parent / "record"
    files = ["--record", str(folder), "--pcap", f"{folder}.pcapng", "--plot", f"{folder}.svg"]
    assert main(["run", str(scenario), *files]) == 0
    names = {file.name for file in folder.iterdir()}
    assert {"manifest.json", "transmissions.parquet", "sender.pcapng", "receiver.pcapng"} <= names
    assert Path(f"{folder}.pcapng").read_bytes().endswith(b"sender")
    assert Path(f"{folder}.svg").read_text().startswith("<?xml")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["scenario"] == scenario.read_text()
    assert "wrote" in capsys.readouterr().err


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {a["name"] for a in listed["algorithms"]} >= {"none", "option-1"}
    assert any(a["id"] == "responding.table1" and a["kind"] == "table" for a in listed["artefacts"])
    assert main(["list", "artefacts"]) == 0
    shown = capsys.readouterr().out
    assert "responding.figure4a" in shown
    assert "option-1" not in shown
    assert main(["list", "algorithms"]) == 0
    assert "minimum_ms=1000" in capsys.readouterr().out
    assert main(["list", "schema"]) == 0
    assert "$schema" in json.loads(capsys.readouterr().out)


def test_reproduce_and_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out")
    ask = ["reproduce", "responding.table1", "responding.figure1", "--repetitions", "5", "--out", out]
    assert main(ask) == 0
    shown = capsys.readouterr().out
    assert "138.0" in shown
    assert "holds" in shown
    assert main([*ask, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["artefacts"]
    assert [a["id"] for a in found] == ["responding.table1", "responding.figure1a", "responding.figure1b"]
    assert main(["report", "--from", out, "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert written["report"] == f"{out}/report.html"
    assert len(written["artefacts"]) == 3
    assert Path(written["report"]).stat().st_size == written["bytes"]


def test_check_says_whether_all_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["reproduce", "--check", "--repetitions", "40", "--out", str(tmp_path)]
    assert main([*ask, "responding.table1"]) == 0
    assert main([*ask, "responding.table3"]) == 1
    assert "FAILS" in capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_a_shell_completes_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--completion", shell])
    assert ended.value.code == 0
    script = capsys.readouterr().out
    assert all(command in script for command in ("run", "compare", "sweep", "reproduce", "analyze", "worlds"))
    assert "--repetitions" in script or shell == "tcsh"
