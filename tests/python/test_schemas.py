"""Checks what `--json` prints of small inputs against the schemas in docs/reference/schemas."""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from eifel.cli import main
from eifel.cli.arguments import parser
from eifel.cli.output import VERSIONS
from eifel.documents import schemas

ROOT = Path(__file__).parents[2]
SPIKE, LOSSY = (str(ROOT / "examples" / name) for name in ("spike.toml", "lossy.toml"))
CAPTURES = ROOT / "crates/capture/tests"
LOGS = CAPTURES / "stack_logs/logs"
CASES: dict[str, list[list[str]]] = {
    "run": [
        ["run", SPIKE, "--set", "duration_s=40"],
        ["run", SPIKE, "--set", "duration_s=40", "--repetitions", "2", "-v"],
        ["run", str(ROOT / "examples" / "sctp.toml"), "--set", "duration_s=5"],
    ],
    "compare": [["compare", SPIKE, "--set", "duration_s=5", "--set", "seed=2", "--repetitions", n] for n in "12"],
    "sweep": [["sweep", "sweep.toml", "--out", "swept"], ["sweep", "still.toml", "--out", "still"]],
    "sweep-check": [["sweep", "sweep.toml", "--check"]],
    "new": [["new", "handover", "--out", "made.toml"]],
    "templates": [["new"]],
    "list": [["list"], ["list", "algorithms"]],
    "reproduce": [
        ["reproduce", "responding.best_case", "--pictures", "none", "--out", "out"],
        ["reproduce", "responding.table1", "--repetitions", "2", "--pictures", "none", "--out", "out"],
    ],
    "report": [["report", "--from", "out"]],
    "script": [["script", str(ROOT / "crates/script/scripts/rfc3522")], ["script", "wrong.pkt"]],
    "worlds": [["worlds", SPIKE, "--segments", "2"]],
    "hunt": [
        ["hunt", "wrong", "min-rtt", "--scenarios", "20", "--out", "hunted"],
        ["hunt", "liars", LOSSY, "--set", "duration_s=2", "--runs", "5", "--out", "hunted"],
    ],
    "attacks": [["attacks", "t01", "t05"], ["attacks", "--list"]],
    "captures": [["captures", "made", "--transfers", "2"]],
    "advise": [
        ["advise", str(CAPTURES / "advice/held.pcap.gz")],
        ["advise", *(str(file) for file in sorted(LOGS.glob("*.gz"))[:2])],
    ],
    "analyze": [
        *(["analyze", str(file)] for file in sorted((CAPTURES / "faults").glob("*.pcap*"))),
        *(["analyze", str(file)] for file in sorted(LOGS.glob("*.gz"))),
        ["analyze", "cut.pcap"],
        ["analyze", "made/1.sender.pcapng", "--score", "wrong.csv"],
    ],
    "analyze-folder": [["analyze", str(CAPTURES / "faults"), "--out", "judged"], ["analyze", ".", "--out", "again"]],
    "analyze-places": [
        [
            *("analyze", "--sender", "made/1.sender.pcapng", "--between", "made/1.between.pcapng"),
            *("--receiver", "made/1.receiver.pcapng"),
        ]
    ],
    "whatif": [
        ["whatif", "lossy.pcapng", "--set", "sender.detect=none", "--draws", "3"],
        ["whatif", str(CAPTURES / "advice/held.pcap.gz"), "--set", "sender.detect=none"],
        ["whatif", "made/1.sender.pcapng", "--set", "sender.detect=none"],
    ],
    "truth-score": [["truth", "score", "made"]],
}
"""Commands in an order in which later ones read what earlier ones wrote."""
LIVE = ("counters", "watch", "watch-summary", *(name for name in schemas.FORMS if name.startswith("live-")))
"""Outputs that test_counters, test_watch and test_live compare with their schemas."""


def closed(schema: Any) -> Any:
    """Returns the schema without room for keys that it does not name."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(value) for key, value in schema.items()}
    return {**made, "additionalProperties": False} if "required" in made else made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("schemas")
    (made / "sweep.toml").write_text(f'scenario = "{SPIKE}"\nrepetitions = 2\n[product]\nduration_s = [5, 10]\n')
    unlimited = 'point_to_point = { rate_bps = "unlimited", delay_ms = 0 }\n[[flow]]\nname = "main"\nfrom = "sender"\n'
    unlimited += 'to = "receiver"\napplication = { kind = "bulk", endless = true }\n'
    (made / "endless.toml").write_text("duration_s = 9\n" + unlimited)
    (made / "still.toml").write_text('scenario = "endless.toml"\n[product]\nduration_s = [1, 2]\n')
    (made / "wrong.pkt").write_text("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 9\n")
    whole = (CAPTURES / "faults/lan_reorder_ts.pcap").read_bytes()
    (made / "cut.pcap").write_bytes(whole[:-9])
    return made


def outputs(name: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    monkeypatch.chdir(folder)
    found = []
    for arguments in CASES[name]:
        if "wrong.csv" in arguments:
            truth = (folder / "made/1.sender.truth.csv").read_text()
            (folder / "wrong.csv").write_text(truth.replace(",fast", ",rto"))
        assert main([*arguments, "--json"]) in (0, 1), arguments
        found.append(json.loads(capsys.readouterr().out))
    return found


@pytest.mark.parametrize("name", CASES)
def test_an_output_is_as_its_schema_says(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "whatif":
        assert main(["run", LOSSY, "--pcap", str(folder / "lossy.pcapng")]) == 0
        capsys.readouterr()
    judge = Draft202012Validator(closed(schemas.schema(name)))
    for output in outputs(name, folder, capsys, monkeypatch):
        assert [*output][:2] == ["schema", "version"]
        assert (output["schema"], output["version"]) == (name, VERSIONS[name])
        faults = [f"{error.json_path}: {error.message[:200]}" for error in judge.iter_errors(output)]
        assert faults == []


@pytest.mark.skipif(shutil.which("tshark") is None, reason="SKIPPED: tshark is not installed, so it was not compared")
def test_a_comparison_with_tshark_is_as_its_schema_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(CAPTURES / "faults/lan_reorder_ts.pcap"), "--compare-tshark", "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert output["tshark"]
    Draft202012Validator(closed(schemas.schema("analyze"))).validate(output)


def test_the_schemas_in_the_documents_are_those_of_the_outputs() -> None:
    assert {*schemas.FORMS} == {*VERSIONS} == {*CASES, *LIVE}
    assert {file.name for file in schemas.FOLDER.iterdir()} == {f"{name}.schema.json" for name in schemas.FORMS}
    for name in schemas.FORMS:
        Draft202012Validator.check_schema(schemas.schema(name))
        stored = (schemas.FOLDER / f"{name}.schema.json").read_text(encoding="utf-8")
        assert stored == schemas.text(name), "make docs"


def test_each_command_with_json_has_a_schema() -> None:
    commands = set()

    def look(of: argparse.ArgumentParser) -> None:
        for action in of._actions:
            if isinstance(action, argparse._SubParsersAction):
                for command in action.choices.values():
                    look(command)
            elif "--json" in action.option_strings:
                commands.add(of.prog)

    look(parser())
    described = {command for command, _ in schemas.FORMS.values()}
    assert len(commands) > 10
    assert commands - described == set()


def test_a_schema_notices_an_output_that_is_otherwise() -> None:
    judge = Draft202012Validator(closed(schemas.schema("new")))
    good = {"schema": "new", "version": 1, "template": "handover", "file": "x.toml"}
    assert judge.is_valid(good)
    for wrong in ({**good, "version": 2}, {**good, "file": 3}, {**good, "more": 1}, {"schema": "new", "version": 1}):
        assert not judge.is_valid(wrong)
