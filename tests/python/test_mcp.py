"""`eifel mcp`, asked by a client of the protocol's own library, over the captures with truth."""

from __future__ import annotations

import asyncio
import csv
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import eifel
from eifel.cli import main

mcp = pytest.importorskip(
    "mcp", reason="mcp is not installed (pip install --require-hashes -r .ci/mcp.txt): its server is not tested"
)

ROOT = Path(__file__).parents[2]
FAULTS = ROOT / "crates" / "capture" / "tests" / "faults"
CAPTURE = FAULTS / "lan_reorder_between.pcap"


def ask(talk: Callable[[Any], Awaitable[Any]]) -> Any:
    """Starts the command, and lets a client talk to it."""

    async def asked() -> Any:
        program = mcp.StdioServerParameters(command=sys.executable, args=["-m", "eifel", "mcp"], env=dict(os.environ))
        async with mcp.Client(program, read_timeout_seconds=60) as client:
            return await talk(client)

    return asyncio.run(asked())


def called(name: str, **arguments: Any) -> Any:
    return ask(lambda client: client.call_tool(name, arguments))


def answer(name: str, **arguments: Any) -> Any:
    result = called(name, **arguments)
    assert not result.is_error, result
    return json.loads(result.content[0].text)


def refusal(name: str, **arguments: Any) -> str:
    result = called(name, **arguments)
    assert result.is_error, result
    text: str = result.content[0].text
    assert "\n" not in text and "Traceback" not in text
    return text


def test_each_tool_says_what_it_takes() -> None:
    tools = {tool.name: tool for tool in ask(lambda client: client.list_tools()).tools}
    assert set(tools) == {"analyze", "explain", "whatif", "run"}
    for tool in tools.values():
        assert tool.description and tool.annotations.read_only_hint
        assert tool.input_schema["type"] == "object"
    assert tools["explain"].input_schema["required"] == ["file", "frame"]


@pytest.mark.parametrize("name", ["lan_reorder_between", "ack_at_once_nots"])
def test_an_assistant_gets_the_verdicts_of_analyze(name: str) -> None:
    file = FAULTS / f"{name}.pcap"
    found = answer("analyze", files=[str(file)], count=200)
    report = eifel.analyze(file).report
    assert found["rows"] == report["retransmissions"]
    assert found["headline"] == report["headline"] and found["advice"] == report["advice"]
    lines = (FAULTS / f"{name}.truth.csv").read_text(encoding="utf-8").splitlines()
    truth = {int(row["frame"]): row for row in csv.DictReader(lines)}
    decided = {"spurious": "1", "needed": "0"}
    certain = [row for row in found["rows"] if row["confidence"] == "certain" and row["verdict"] in decided]
    assert all(truth[row["frame"]]["spurious"] == decided[row["verdict"]] for row in certain)


def test_long_lists_come_in_pages() -> None:
    file = str(FAULTS / "ack_at_once_nots.pcap")
    whole = answer("analyze", files=[file])
    part = answer("analyze", files=[file], first=2, count=3)
    assert part["rows"] == whole["rows"][2:5] and part["rows_in_all"] == len(whole["rows"]) == 9
    spurious = answer("analyze", files=[file], verdict="spurious")
    assert {row["verdict"] for row in spurious["rows"]} == {"spurious"}


def test_a_retransmission_is_explained_in_words() -> None:
    file = str(FAULTS / "ack_at_once_nots.pcap")
    found = answer("explain", file=file, frame=33)
    assert found["retransmission"]["frame"] == 33
    assert found["in_words"].startswith("Frame 33, from 10.9.0.1")
    assert "Cause: fast. Verdict: spurious, likely: " in found["in_words"]
    assert 33 in [row["frame"] for row in found["around"]]
    said = refusal("explain", file=file, frame=1)
    assert said.endswith("frame 1 is no retransmission; the nearest are 33, 35, 38, 44, 47")


def test_logs_are_judged_too() -> None:
    found = answer("analyze", files=[str(ROOT / "examples" / "facts.csv")])
    assert [row["verdict"] for row in found["rows"]] == ["spurious"]


def test_a_run_has_means_and_intervals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = str(ROOT / "examples" / "spike.toml")
    found = answer("run", scenario=scenario, settings=["flow.main.sender.detect=none"], repetitions=2)
    assert main(["run", scenario, "--set", "flow.main.sender.detect=none", "--repetitions", "2", "--json"]) == 0
    (flow,) = json.loads(capsys.readouterr().out)["flows"]
    assert found["flows"][0]["mean"] == flow["mean"] and found["flows"][0]["interval95"] == flow["interval95"]
    assert "expected 1 to 100" in refusal("run", scenario=scenario, repetitions=101)
    assert "nearest: detect" in refusal("run", scenario=scenario, settings=["flow.main.sender.detekt=none"])


def test_a_prediction_is_made_or_refused_with_a_way_on(tmp_path: Path) -> None:
    made = tmp_path / "sender.pcapng"
    assert main(["run", str(ROOT / "examples" / "lossy.toml"), "--repetitions", "1", "--pcap", str(made)]) == 0
    found = answer("whatif", file=str(made), changes=["sender.detect=none"], draws=10)
    assert "prediction" in found or found["way_on"]
    held = ROOT / "crates" / "capture" / "tests" / "advice" / "held.pcap.gz"
    refused = answer("whatif", file=str(held), changes=["sender.detect=none"], draws=10)
    assert refused["refused"] and refused["way_on"]
    assert "expected a capture at the sender" in refusal("whatif", file=str(CAPTURE), changes=["sender.detect=none"])
    assert "expected at least one KEY=VALUE" in refusal("whatif", file=str(made), changes=[])


def test_a_fault_in_the_input_is_one_line_and_the_server_goes_on(tmp_path: Path) -> None:
    async def talk(client: Any) -> Any:
        bad = await client.call_tool("analyze", {"files": [str(tmp_path / "none.pcap")]})
        good = await client.call_tool("analyze", {"files": [str(CAPTURE)]})
        return bad, good

    bad, good = ask(talk)
    assert bad.is_error and "none.pcap" in bad.content[0].text and "\n" not in bad.content[0].text
    assert not good.is_error
