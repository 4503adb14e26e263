"""What a capture of Linux predicts for another Linux: `tcp_frto` off, the path that the capture shows, and then on."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eifel.papers.artefact import Artefact, Claim, Column, Row, Setting, Studied
from eifel.papers.live import kernel, spike
from eifel.papers.study import Effort, Study
from eifel.statistics import Mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from eifel.papers.measured import Measured
    from eifel.runs import Runs

BYTES = 800_000
DRAWS = 100
SYSCTLS = {"tcp_timestamps": 0, "tcp_dsack": 0, "tcp_recovery": 0}
CAPTURED = "Linux, tcp_frto = 0"
AGAIN = "the same over the extracted path"
PREDICTED = "predicted for F-RTO"
HAPPENED = "Linux, tcp_frto = 2"
ASKED = "F-RTO"
COLUMNS = (
    Column("retransmissions", "Retransmissions", digits=0),
    Column("goodput_bps", "Goodput, Mbit/s", scale=1e-6, digits=3),
    Column("low_bps", "Nine of ten paths, from", scale=1e-6, digits=3),
    Column("high_bps", "to", scale=1e-6, digits=3),
)


def find(effort: Effort) -> dict[str, NDArray[Any]]:
    """What was captured, what its path gives in the box, what is predicted, and what Linux then does."""
    from eifel.captured_path import extract_path

    found: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory(prefix="eifel-") as place:
        folders = {name: Path(place) / str(number) for number, name in enumerate((CAPTURED, AGAIN, HAPPENED))}
        for folder in folders.values():
            folder.mkdir()
        off, on = {**SYSCTLS, "tcp_frto": 0}, {**SYSCTLS, "tcp_frto": 2}
        found.append(kernel.sends(folders[CAPTURED], spike.scenario(), BYTES, off))
        path = extract_path(folders[CAPTURED] / "box" / "sender.pcapng")
        found.append(kernel.sends(folders[AGAIN], path.scenario, BYTES, off))
        sender = {"sender.detect": "f-rto-sack", "sender.respond": "rfc4015"}
        predicted = path.whatif({ASKED: sender}, draws=DRAWS, seed=effort.seed)
        one = next(sender for sender in predicted["senders"] if sender["name"] == ASKED)
        goodput = one["goodput_bps"]
        found.append(
            {
                "retransmissions": one["retransmissions"]["middle"],
                "goodput_bps": goodput["middle"],
                "low_bps": goodput["low"],
                "high_bps": goodput["high"],
            }
        )
        found.append(kernel.sends(folders[HAPPENED], spike.scenario(), BYTES, on))
        # The prediction counts from the first packet to the last, so what happened is counted that way too.
        for row, name in ((0, CAPTURED), (1, AGAIN), (3, HAPPENED)):
            took_s = extract_path(folders[name] / "box" / "sender.pcapng").found["events"]["took_s"]
            found[row]["goodput_bps"] = BYTES * 8 / took_s
    names = [column.name for column in COLUMNS]
    return {name: np.array([float(one.get(name, np.nan)) for one in found]) for name in names}


def _measure(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    rows = range(len(artefact.rows))
    values = [{c.name: float(runs[c.name][row]) * c.scale for c in artefact.columns} for row in rows]
    return [{name: Mean(value, None, 1) for name, value in row.items() if np.isfinite(value)} for row in values]


def _within(measured: Measured) -> bool:
    low, high = (measured.mean(name, what=PREDICTED) for name in ("low_bps", "high_bps"))
    return low <= measured.mean("goodput_bps", what=HAPPENED) <= high


def _near(measured: Measured, column: str, one: str, other: str, share: float) -> bool:
    found = [measured.mean(column, what=what) for what in (one, other)]
    return abs(found[0] - found[1]) <= share * max(found)


ARTEFACT = Artefact(
    id="live.whatif",
    title="What a capture of Linux predicts, and what Linux then does",
    source="the kernel of this machine; `eifel analyze --extract-path` and `eifel whatif`",
    columns=COLUMNS,
    rows=tuple(Row({"what": what}) for what in (CAPTURED, AGAIN, PREDICTED, HAPPENED)),
    method=Studied(
        Study(find, {"path": spike.scenario(), "sysctls": SYSCTLS, "draws": DRAWS}, (kernel, find)),
        _measure,
        live=True,
    ),
    claims=(
        Claim("Linux with F-RTO is within nine of ten of the predicted goodputs", _within),
        Claim("and within 5 % of the middle one", lambda m: _near(m, "goodput_bps", PREDICTED, HAPPENED, 0.05)),
        Claim(
            "F-RTO saves retransmissions, as predicted",
            lambda m: (
                max(m.mean("retransmissions", what=what) for what in (PREDICTED, HAPPENED))
                < m.mean("retransmissions", what=CAPTURED)
            ),
        ),
        Claim(
            "the same Linux over the extracted path in the box is as fast as over the path itself, within 10 %",
            lambda m: _near(m, "goodput_bps", CAPTURED, AGAIN, 0.10),
        ),
    ),
    fitted=(
        Setting("timestamps, DSACK, RACK", "off", "F-RTO alone is what differs", "chosen"),
        Setting("response", "RFC 4015", "the nearest to Linux's undo after F-RTO", "chosen"),
    ),
)
