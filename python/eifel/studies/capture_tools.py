"""Runs tools on captures, and counts their findings."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

TOOLS = ("eifel", "tshark", "tcptrace", "tstat")
PATIENCE_S = 60
TSTAT_KINDS = ("rto", "fs", "reor", "dup", "unk", "fc", "unrto", "unfs")
"""Tstat's kinds of segments that are not in order: its columns `c_pkts_…` and `s_pkts_…`."""
TSTAT_AGAIN = ("rto", "fs", "unk", "unrto", "unfs")
TSTAT_SPURIOUS = ("unrto", "unfs")


def installed() -> list[str]:
    """Returns the installed tools. Tstat needs Wireshark's editcap to convert pcapng files."""
    needs = {"tstat": ("tstat", "editcap")}
    return ["eifel", *(tool for tool in TOOLS[1:] if all(map(shutil.which, needs.get(tool, (tool,)))))]


def told(file: Path, truth: str) -> list[dict[str, Any]]:
    """Returns each tool's findings in a capture beside its truth as CSV, with a row per tool."""
    from eifel import captures, tshark

    needless = {int(row["frame"]): row["spurious"] == "1" for row in csv.DictReader(io.StringIO(truth))}
    there = {"retransmissions": len(needless), "spurious": sum(needless.values())}

    def row(tool: str, counted: int, said: set[int]) -> dict[str, Any]:
        found = sum(needless.get(frame, False) for frame in said)
        wrongly = sum(not needless.get(frame, True) for frame in said)
        return {"tool": tool, "counted": counted, **there, "found": found, "wrongly": wrongly}

    ours = captures.analyze(file).report["retransmissions"]
    rows = [row("eifel", len(ours), {one["frame"] for one in ours if one["verdict"] == "spurious"})]
    there_too = installed()
    if "tshark" in there_too:
        flags = tshark.flags(file, timeout_s=PATIENCE_S)
        again = [word for word in flags.values() if word.endswith("retransmission")]
        rows.append(row("tshark", len(again), {one for one, word in flags.items() if word.startswith("spurious")}))
    if "tcptrace" in there_too:
        line = ["tcptrace", "-n", "-l", str(file)]
        told = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE_S, check=False).stdout
        # tcptrace has no word for spurious.
        rows.append(row("tcptrace", sum(map(int, re.findall(r"rexmt data pkts:\s+(\d+)", told))), set()))
    if "tstat" in there_too:
        kinds = _tstat(file)
        counted, called = (sum(kinds[kind] for kind in some) for some in (TSTAT_AGAIN, TSTAT_SPURIOUS))
        # Tstat counts without naming frames. At best, everything that it counts is spurious.
        found = min(called, there["spurious"])
        rows.append({"tool": "tstat", "counted": counted, **there, "found": found, "wrongly": called - found})
    return rows


def _tstat(file: Path) -> Counter[str]:
    """Returns Tstat's count of segments by kind, from its logs of complete and other connections."""
    kinds: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        pcap = Path(folder) / "capture.pcap"
        for line in (["editcap", "-F", "pcap", str(file), str(pcap)], ["tstat", "-s", f"{folder}/out", str(pcap)]):
            subprocess.run(line, capture_output=True, timeout=PATIENCE_S, check=False)
        for log in Path(folder).glob("out/*/log_tcp_*complete"):
            kinds.update(tstat_kinds(log.read_text()))
    return kinds


def tstat_kinds(log: str) -> Counter[str]:
    """Returns the counts by kind in one Tstat log. For incomplete connections it has only repeated segments."""
    kinds: Counter[str] = Counter()
    head, *rows = (line.split() for line in log.splitlines())
    names = [name.lstrip("#").rpartition(":")[0] for name in head]
    known = [kind for kind in TSTAT_KINDS if f"c_pkts_{kind}" in names]
    for values in rows:
        row = dict(zip(names, values, strict=False))
        for end in "cs":
            kinds.update({kind: int(row[f"{end}_pkts_{kind}"]) for kind in known})
        if not known:
            kinds["unk"] += sum(int(row[f"{end}_pkts_retx"]) for end in "cs")
    return kinds
