"""Runs the tools that captures are shown to, and counts what they say."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

TOOLS = ("eifel", "tshark", "tcptrace")
PATIENCE_S = 60


def installed() -> list[str]:
    """The tools that this machine has."""
    return ["eifel", *(tool for tool in TOOLS[1:] if shutil.which(tool))]


def told(file: Path, truth: str) -> list[dict[str, Any]]:
    """What each tool finds in a capture, beside its truth as CSV: a row a tool."""
    from eifel import captures, tshark

    needless = {int(row["frame"]): row["spurious"] == "1" for row in csv.DictReader(io.StringIO(truth))}
    there = {"retransmissions": len(needless), "spurious": sum(needless.values())}

    def row(tool: str, counted: int, said: set[int]) -> dict[str, Any]:
        found = sum(needless.get(frame, False) for frame in said)
        wrongly = sum(not needless.get(frame, True) for frame in said)
        return {"tool": tool, "counted": counted, **there, "found": found, "wrongly": wrongly}

    ours = captures.analyze(file).report["retransmissions"]
    rows = [row("eifel", len(ours), {one["frame"] for one in ours if one["verdict"] == "spurious"})]
    if shutil.which("tshark"):
        flags = tshark.flags(file, timeout_s=PATIENCE_S)
        again = [word for word in flags.values() if word.endswith("retransmission")]
        rows.append(row("tshark", len(again), {one for one, word in flags.items() if word.startswith("spurious")}))
    if command := shutil.which("tcptrace"):
        line = [command, "-n", "-l", str(file)]
        told = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE_S, check=False).stdout
        # It has no word for spurious.
        rows.append(row("tcptrace", sum(map(int, re.findall(r"rexmt data pkts:\s+(\d+)", told))), set()))
    return rows
