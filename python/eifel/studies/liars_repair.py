"""A receiver that never ends a repair: it reports arrivals, but never acknowledges past the repaired loss."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from eifel.flows import main_flow
from eifel.papers.artefact import Artefact, Claim, Column, Measured, Row, Setting, Studied
from eifel.papers.study import Effort, Progress, Study
from eifel.studies import cheating

DURATION_S = 120
RTT_MS = 100
PATHS = {10: 1e-4, 100: 1e-5}
"""Mbit/s, and the share of lost packets: about one loss in ten seconds in each case."""
DEFAULT, UNDETECTED, HALF_OF_CWND, RACK = "the default", "no detection", "half of cwnd", "rack-tlp"
SENDERS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    UNDETECTED: {"detect": "none"},
    HALF_OF_CWND: {"congest": {"name": "reno", "ssthresh_from": "window"}},
    RACK: {"recover": "rack-tlp"},
    "cubic": {"congest": "cubic"},
}
_SILENT = {key: {"withheld": True} for key in ("in_order", "above_gap", "repair", "last_repair")}
LIAR: dict[str, Any] = {
    # The loss is repaired, and acknowledged alone. Nothing more is acknowledged until a
    # retransmission arrives.
    "last_repair": {"number": "one-more", "turns": True},
    "other": {**_SILENT, "again": {"echo": "first-unacknowledged", "duplicates": "hidden", "turns": True}},
}
_ROWS = [(sender, rate) for sender in SENDERS for rate in PATHS]


def scenario(sender: str, rate: int, liar: Any) -> dict[str, Any]:
    """Returns an endless transfer over a path whose queue holds a round trip's data."""
    return {
        "duration_s": DURATION_S,
        "point_to_point": {
            "rate_bps": rate * 1_000_000,
            "delay_ms": RTT_MS / 2,
            "queue": {"kind": "drop-tail", "packets": rate * RTT_MS // 8},
            "loss": {"kind": "random", "rate": PATHS[rate]},
        },
        "flow": [
            main_flow(
                liar=liar,
                application={"kind": "bulk", "endless": True},
                tcp={"receive_window_bytes": 16_000_000, "payload_bytes": 1000},
                sender=SENDERS[sender],
            )
        ],
    }


_DESIGN = {"rows": [scenario(*row, LIAR) for row in _ROWS]}


def _find(effort: Effort) -> Mapping[str, Any]:
    def one(number: int, progress: Progress) -> dict[str, Any]:
        scenarios = [scenario(*_ROWS[number], liar) for liar in ("none", LIAR)]
        honest, lying = cheating.measured(scenarios, effort, progress)[..., 0]
        return {"row": np.full(len(honest), number), "honest_bps": honest, "lying_bps": lying}

    return effort.parts("repair", _DESIGN, [2 * effort.repetitions] * len(_ROWS), one)


def _gain(measured: Measured, sender: str, rate: int) -> float:
    return measured.row(sender=sender, rate_mbps=rate).means["gain"].mean


ARTEFACT = Artefact(
    id="detectors.liars_repair",
    title="Goodput of a receiver that lets no repair end, over an honest one's",
    source="this project; docs/internals/liars.md",
    columns=(Column("gain", "Gain", digits=2),),
    rows=tuple(Row({"sender": sender, "rate_mbps": rate}) for sender, rate in _ROWS),
    method=Studied(Study(_find, _DESIGN, (_find, cheating)), measure=cheating.gains, repetitions=20, long=True),
    fitted=(
        Setting("path", f"{RTT_MS} ms, a queue of a round trip, a loss in ten seconds", "large windows"),
        Setting("transfer", f"{DURATION_S} s", "a dozen losses"),
    ),
    claims=(
        Claim(
            "it gains nothing, whatever detects, recovers or controls congestion",
            lambda m: max(_gain(m, sender, rate) for sender, rate in _ROWS) <= cheating.BOUND,
        ),
    ),
)
