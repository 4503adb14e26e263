"""Compares tshark, tcptrace and Tstat with `eifel analyze` on captures with known truth."""

import csv
import io
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Row, Setting, Studied, counts
from eifel.papers.study import Effort, Progress, Study
from eifel.runs import Runs
from eifel.statistics import Mean, mean_interval, percent_interval

TOOLS = ("eifel", "tshark", "tcptrace", "tstat")
PATIENCE_S = 60
TSTAT_KINDS = ("rto", "fs", "reor", "dup", "unk", "fc", "unrto", "unfs")
"""Tstat's kinds of segments that are not in order: its columns `c_pkts_…` and `s_pkts_…`."""
TSTAT_AGAIN = ("rto", "fs", "unk", "unrto", "unfs")
TSTAT_SPURIOUS = ("unrto", "unfs")
PLACES = ("sender", "receiver")
TRANSFERS = 200
AT_A_TIME = 20
FIRST = 2_000_000
ROWS = tuple((tool, place) for tool in TOOLS for place in PLACES)


def installed() -> list[str]:
    """Returns the installed tools. Tstat needs Wireshark's editcap to convert pcapng files."""
    needs = {"tstat": ("tstat", "editcap")}
    return ["eifel", *(tool for tool in TOOLS[1:] if all(map(shutil.which, needs.get(tool, (tool,)))))]


def findings(file: Path, truth: str) -> list[dict[str, Any]]:
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
        said = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE_S, check=False).stdout
        # tcptrace has no word for spurious.
        rows.append(row("tcptrace", sum(map(int, re.findall(r"rexmt data pkts:\s+(\d+)", said))), set()))
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


def _find(effort: Effort) -> Mapping[str, Any]:
    """Shows each capture to each tool. A tool that is not installed has no rows."""
    from eifel import _engine

    def some(number: int, progress: Progress) -> dict[str, Any]:
        rows: list[dict[str, Any]] = []
        with tempfile.TemporaryDirectory() as folder:
            for one in range(AT_A_TIME):
                seed = FIRST * effort.seed + number * AT_A_TIME + one
                for place, pcapng, truth in _engine.captured(seed)[1]:
                    file = Path(folder) / "capture.pcapng"
                    file.write_bytes(pcapng)
                    rows += [{"place": place, **row} for row in findings(file, truth) if place in PLACES]
                progress(one + 1)
        names = ("tool", "place", "counted", "retransmissions", "spurious", "found", "wrongly")
        return {name: [row[name] for row in rows] for name in names}

    parts = [AT_A_TIME] * (TRANSFERS // AT_A_TIME)
    return effort.parts("captures for other tools", {"transfers": TRANSFERS, "tools": installed()}, parts, some)


def _measure(_: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    return [_row(runs, tool, place) for tool, place in ROWS]


def _row(runs: Runs, tool: str, place: str) -> dict[str, Mean]:
    mine = (np.asarray(runs["tool"]) == tool) & (np.asarray(runs["place"]) == place)
    if not mine.any():
        return {"installed": mean_interval([0.0])}
    sums = {
        name: int(runs[name][mine].sum()) for name in ("counted", "retransmissions", "spurious", "found", "wrongly")
    }
    counts = {name: mean_interval([float(sums[name])]) for name in ("counted", "retransmissions", "wrongly")}
    return {"installed": mean_interval([1.0]), **counts, "found": percent_interval(sums["found"], sums["spurious"])}


def _found(measured: Measured, tool: str, place: str) -> float:
    return measured.mean("found", tool=tool, place=place)


ARTEFACT = Artefact(
    id="captures.tools",
    title="Spurious retransmissions that tools for captures find",
    source="this project; docs/reference/captures.md",
    columns=(
        *counts("installed", "retransmissions", "counted"),
        Column("found", "Spurious ones called so, %", digits=1),
        Column("wrongly", "Needed, called spurious", digits=0),
    ),
    rows=tuple(Row({"tool": tool, "place": place}) for tool, place in ROWS),
    method=Studied(
        Study(_find, {"transfers": TRANSFERS, "first seed": FIRST}, (_find, findings)), measure=_measure, long=True
    ),
    fitted=(Setting("transfers", str(TRANSFERS), "plain ones of crates/hostile; tshark takes half a second each"),),
    claims=(
        Claim(
            "at the sender eifel finds more than 9 of 10 spurious retransmissions, and tshark less than 1",
            lambda m: _found(m, "eifel", "sender") > 90 and _found(m, "tshark", "sender") < 10,
        ),
    ),
)
