"""Three recovery algorithms, with and without Eifel, over recorded cellular links."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eifel.flows import main_flow
from eifel.papers import rfc3522
from eifel.papers.artefact import Artefact, Claim, Column, Links, Measured, Row, Setting, counts

DURATION_S = 900
"""Long enough for the longest gaps of recorded links, which are minutes apart."""
DELAY_MS = 40
QUEUE_PACKETS = 100
WINDOW_BYTES = 1_000_000
ACK_BPS = 5_000_000
RECOVERIES = ("reno-sack", "newreno-sack", "fack")


def scenario(trace: Path) -> dict[str, Any]:
    """Returns a bulk transfer down a recorded link, with ACKs over a link of constant rate."""
    return {
        "seed": 1,
        "duration_s": DURATION_S,
        "point_to_point": {
            "trace": str(trace.resolve()),
            "delay_ms": DELAY_MS,
            "queue": {"kind": "drop-tail", "packets": QUEUE_PACKETS},
            "back": {"rate_bps": ACK_BPS, "queue": {"kind": "unlimited"}},
        },
        "flow": [
            main_flow(
                application={"kind": "bulk", "endless": True},
                tcp={
                    "payload_bytes": 1448,
                    "receive_window_bytes": WINDOW_BYTES,
                    **rfc3522.CLOCK,
                    "sack": True,
                    "delayed_ack_every": 2,
                    "delayed_ack_ms": 40,
                },
            )
        ],
    }


def _with(made: dict[str, Any], recovery: str, eifel: bool) -> dict[str, Any]:
    sender = {
        "detect": dict(rfc3522.PLAIN) if eifel else "none",
        "respond": "rfc4015" if eifel else "none",
        "rto": {"name": "rfc6298", "minimum_ms": 1000},
        "recover": recovery,
        "congest": {"name": "reno", "initial_window_segments": 10},
    }
    return {**made, "flow": [{**made["flow"][0], "sender": sender}]}


def _rows(traces: Sequence[Path]) -> tuple[Row, ...]:
    return tuple(
        Row({"trace": name, "recovery": recovery, "eifel": eifel}, _with(scenario(trace), recovery, eifel))
        for name, trace in zip(names(traces), traces, strict=True)
        for recovery in RECOVERIES
        for eifel in (False, True)
    )


def names(traces: Sequence[Path]) -> list[str]:
    """Returns the shortest names that distinguish the traces."""
    ways = ([trace.stem for trace in traces], [trace.name for trace in traces], [str(trace) for trace in traces])
    return next(names for names in ways if len(set(names)) == len(names))


def _sum(measured: Measured, column: str, eifel: bool) -> float:
    """Returns the sum over all links, since a single link may have no spike that triggers a timer."""
    return sum(row.means[column].mean for row in measured.rows if row.row.keys["eifel"] is eifel)


_LEFT_OPEN = (
    Setting("one-way delay", f"{DELAY_MS} ms", "beyond what the trace itself takes"),
    Setting(
        "queue",
        f"{QUEUE_PACKETS} packets, drop-tail",
        "about a second of these links; with many times that the round trip is so long that few timers notice a spike",
    ),
    Setting("ACKs", f"{ACK_BPS // 1_000_000} Mbit/s", "a plain link, so that what is measured is the trace's doing"),
    Setting(
        "transfer", f"{DURATION_S} s, endless", "long enough for gaps that come minutes apart; the trace begins again"
    ),
    Setting("receive window", f"{WINDOW_BYTES // 1_000_000} MB", "does not limit"),
    Setting("response", "rfc4015", "the one that is a standard"),
)

ARTEFACT = Artefact(
    id="cellular.trace",
    title="Recovery with and without Eifel over recorded cellular links",
    source="link traces in the format of the Mahimahi tools, given as files",
    columns=(
        Column("goodput_kbps", "Goodput, kbit/s", summary="goodput_bps", scale=1e-3, digits=0),
        *counts("retransmissions", "spurious_retransmissions", "timeouts", "spurious_timeouts", "genuine_timeouts"),
    ),
    fitted=_LEFT_OPEN,
    claims=(
        Claim(
            "Eifel makes no more spurious retransmissions than there are without it",
            lambda m: _sum(m, "spurious_retransmissions", True) <= _sum(m, "spurious_retransmissions", False),
        ),
    ),
    links=Links(_rows),
)
