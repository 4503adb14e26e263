"""Three ways to recover, with and without Eifel, over recorded cellular links."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Column, Row
from eifel.papers.measured import Measured

DURATION_S = 900
"""Long enough for the longest gaps of recorded links, which come minutes apart."""
RECOVERIES = ("reno-sack", "newreno-sack", "fack")


def _scenario(trace: Path, recovery: str, eifel: bool) -> dict[str, Any]:
    """A bulk transfer down a recorded link, with ACKs that come back over a plain one."""
    return {
        "seed": 1,
        "duration_s": DURATION_S,
        "point_to_point": {
            "trace": str(trace.resolve()),
            "delay_ms": 40,
            "queue": {"kind": "drop-tail", "packets": 500},
            "back": {"rate_bps": 5_000_000, "queue": {"kind": "unlimited"}},
        },
        "flow": [
            {
                "name": "main",
                "from": "sender",
                "to": "receiver",
                "application": {"kind": "bulk", "endless": True},
                "tcp": {
                    "payload_bytes": 1448,
                    "receive_window_bytes": 1_000_000,
                    "timestamps": True,
                    "sack": True,
                    "delayed_ack_every": 2,
                    "delayed_ack_ms": 40,
                },
                "sender": {
                    "detect": "eifel-timestamps" if eifel else "none",
                    "respond": "rfc4015" if eifel else "none",
                    "rto": {"name": "rfc6298", "minimum_ms": 1000},
                    "recover": recovery,
                    "congest": {"name": "reno", "initial_window_segments": 10},
                },
            }
        ],
    }


def _rows(traces: Sequence[Path]) -> tuple[Row, ...]:
    return tuple(
        Row({"trace": trace.stem, "recovery": recovery, "eifel": eifel}, _scenario(trace, recovery, eifel))
        for trace in traces
        for recovery in RECOVERIES
        for eifel in (False, True)
    )


def _saves_retransmissions(measured: Measured) -> bool:
    """Summed over everything given: a single link may have had no spike that a timer noticed."""
    sums = {False: 0.0, True: 0.0}
    for row in measured.rows:
        sums[bool(row.row.keys["eifel"])] += row.means["spurious_retransmissions"].mean
    return sums[True] <= sums[False]


ARTEFACT = Artefact(
    id="cellular.trace",
    title="Recovery with and without Eifel over recorded cellular links",
    source="link traces in the format of the Mahimahi tools, given as files",
    columns=(
        Column("goodput_bps", "Goodput, bit/s", digits=0),
        Column("retransmissions", "Retransmissions", digits=0),
        Column("spurious_retransmissions", "Spurious retransmissions", digits=0),
        Column("spurious_timeouts", "Spurious timeouts", digits=0),
        Column("genuine_timeouts", "Genuine timeouts", digits=0),
    ),
    rows_of_traces=_rows,
    claims=(Claim("Eifel makes no more spurious retransmissions than there are without it", _saves_retransmissions),),
)
