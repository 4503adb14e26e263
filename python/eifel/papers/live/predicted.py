"""Runs `live.whatif`: captures Linux, extracts the path, predicts F-RTO, and lets Linux use F-RTO."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eifel.captured_path import CapturedPath, extract_path
from eifel.errors import PathError
from eifel.papers.live import kernel, spike
from eifel.papers.study import Effort

if TYPE_CHECKING:
    from numpy.typing import NDArray

BYTES = 800_000
DRAWS = 100
SYSCTLS = {"tcp_timestamps": 0, "tcp_dsack": 0, "tcp_recovery": 0}
CAPTURED = "Linux, tcp_frto = 0"
AGAIN = "the same over the extracted path"
PREDICTED = "predicted for F-RTO"
HAPPENED = "Linux, tcp_frto = 2"
ASKED = "F-RTO"
COLUMNS = ("retransmissions", "goodput_bps", "low_bps", "high_bps")


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
    return {name: np.array([one.get(name, np.nan) for one in found.values()]) for name in COLUMNS}


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
