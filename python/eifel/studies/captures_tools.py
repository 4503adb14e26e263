"""Compares tshark, tcptrace and Tstat with `eifel analyze` on captures with known truth."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eifel.papers.artefact import Artefact, Claim, Column, Row, Setting, Studied
from eifel.papers.study import Effort, Study, Tell
from eifel.statistics import Mean, mean_interval
from eifel.studies.capture_tools import TOOLS, installed, told
from eifel.studies.known import TOOLS as KNOWN
from eifel.studies.shares import percent

if TYPE_CHECKING:
    from eifel.papers.measured import Measured
    from eifel.runs import Runs

PLACES = ("sender", "receiver")
TRANSFERS = 200
AT_A_TIME = 20
FIRST = 2_000_000
ROWS = tuple((tool, place) for tool in TOOLS for place in PLACES)


def _find(effort: Effort) -> Mapping[str, Any]:
    """Shows each capture to each tool. A tool that is not installed has no rows."""
    from eifel import _engine

    def some(number: int, tell: Tell) -> dict[str, Any]:
        rows: list[dict[str, Any]] = []
        with tempfile.TemporaryDirectory() as folder:
            for one in range(AT_A_TIME):
                seed = FIRST * effort.seed + number * AT_A_TIME + one
                for place, pcapng, truth in _engine.captured(seed)[1]:
                    file = Path(folder) / "capture.pcapng"
                    file.write_bytes(pcapng)
                    rows += [{"place": place, **row} for row in told(file, truth) if place in PLACES]
                tell(one + 1)
        names = ("tool", "place", "counted", "retransmissions", "spurious", "found", "wrongly")
        return {name: [row[name] for row in rows] for name in names}

    parts = [AT_A_TIME] * (TRANSFERS // AT_A_TIME)
    table = effort.parts("captures for other tools", {"transfers": TRANSFERS, "tools": installed()}, parts, some)
    return {name: np.asarray(table[name].to_pylist()) for name in table.column_names}


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
    return {"installed": mean_interval([1.0]), **counts, "found": percent(sums["found"], sums["spurious"])}


def _found(measured: Measured, tool: str, place: str) -> float:
    return measured.mean("found", tool=tool, place=place)


ARTEFACT = Artefact(
    id="captures.tools",
    title="Spurious retransmissions that tools for captures find",
    source="this project; docs/captures.md",
    columns=(
        Column("installed", "Installed", digits=0),
        Column("retransmissions", "Retransmissions", digits=0),
        Column("counted", "Counted", digits=0),
        Column("found", "Spurious ones called so, %", digits=1),
        Column("wrongly", "Needed, called spurious", digits=0),
    ),
    rows=tuple(Row({"tool": tool, "place": place}) for tool, place in ROWS),
    method=Studied(
        Study(_find, {"transfers": TRANSFERS, "first seed": FIRST}, (_find, told)), measure=_measure, long=True
    ),
    fitted=(
        Setting("transfers", str(TRANSFERS), "plain ones of crates/hostile; tshark takes half a second each", "chosen"),
    ),
    known=KNOWN,
    claims=(
        Claim(
            "at the sender eifel finds more than 9 of 10 spurious retransmissions, and tshark less than 1",
            lambda m: _found(m, "eifel", "sender") > 90 and _found(m, "tshark", "sender") < 10,
        ),
    ),
)
