"""Predicts Linux with `tcp_frto` on from a capture with it off, and compares with the actual run."""

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.captured_path import CapturedPath, extract_path
from eifel.errors import PathError
from eifel.papers.artefact import Artefact, Claim, Column, Measured, Row, Setting, Studied
from eifel.papers.live import kernel, spike
from eifel.papers.study import Effort, Study

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
    """Returns the captured run, the run over the extracted path, the prediction, and the actual run.

    A capture may show no path, for example if a busy machine was late. The later rows then stay
    empty.
    """
    off, on = {**SYSCTLS, "tcp_frto": 0}, {**SYSCTLS, "tcp_frto": 2}
    found: dict[str, dict[str, float]] = {name: {} for name in (CAPTURED, AGAIN, PREDICTED, HAPPENED)}
    with tempfile.TemporaryDirectory(prefix="eifel-") as place:
        folders = {name: Path(place) / str(number) for number, name in enumerate((CAPTURED, AGAIN, HAPPENED))}
        for folder in folders.values():
            folder.mkdir()

        def captured(name: str, path: Mapping[str, Any], sysctls: Mapping[str, int]) -> CapturedPath | None:
            """Lets Linux send, and extracts the path. None if the capture shows none."""
            found[name] = kernel.sends(folders[name], path, BYTES, sysctls)
            # The prediction's goodput counts from the first packet to the last, so the other rows
            # do too.
            del found[name]["goodput_bps"]
            try:
                path_found = extract_path(folders[name] / "box" / "sender.pcapng")
            except PathError as refused:
                print(f"live.whatif: {name}: {refused}", file=sys.stderr)
                return None
            found[name]["goodput_bps"] = BYTES * 8 / path_found.found["events"]["took_s"]
            return path_found

        shown = captured(CAPTURED, spike.scenario(), off)
        if shown is not None:
            captured(AGAIN, shown.scenario, off)
            found[PREDICTED] = predicted(shown, effort.seed)
        captured(HAPPENED, spike.scenario(), on)
    return {column.name: np.array([one.get(column.name, np.nan) for one in found.values()]) for column in COLUMNS}


def predicted(path: CapturedPath, seed: int) -> dict[str, float]:
    """Predicts the behaviour of F-RTO over the extracted path."""
    found = path.whatif({ASKED: {"sender.detect": "f-rto-sack", "sender.respond": "rfc4015"}}, draws=DRAWS, seed=seed)
    one = next(sender for sender in found["senders"] if sender["name"] == ASKED)
    goodput = one["goodput_bps"]
    return {
        "retransmissions": one["retransmissions"]["middle"],
        "goodput_bps": goodput["middle"],
        "low_bps": goodput["low"],
        "high_bps": goodput["high"],
    }


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
        Study(find, {"path": spike.scenario(), "sysctls": SYSCTLS, "draws": DRAWS}, (kernel, find, predicted)),
        kernel.measure,
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
        Setting("timestamps, DSACK, RACK", "off", "F-RTO alone is what differs"),
        Setting("response", "RFC 4015", "the nearest to Linux's undo after F-RTO"),
    ),
)
