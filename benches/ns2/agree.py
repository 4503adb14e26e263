"""The plain sender beside ns-2's, segment by segment: `python benches/ns2/agree.py`.

Both sides run one transfer of 5 000 segments over 2 Mbit/s and 195 ms with a queue of 75 packets, without Eifel, which
ns-2 does not have. Without a spike every segment has to leave within a packet's time of the other's; with a spike the
same segments have to be retransmitted in the same order.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import eifel

RATE_BPS = 2_000_000
DELAY_MS = 195
QUEUE_PACKETS = 75
WINDOW = 150
SEGMENTS = 5000
HEADER_BYTES = 50
"""ns-2 charges a data packet of 1000 bytes with 40 bytes of headers and 10 of timestamps."""
PACKET_TIME_S = (1000 + HEADER_BYTES) * 8 / RATE_BPS

SENDERS = {"Sack1": "reno-sack", "Fack": "fack", "Newreno": "newreno", "Reno": "reno"}
SPIKES: tuple[tuple[tuple[float, float], ...], ...] = ((), ((5.0, 12.0),), ((10.0, 14.5),))


@dataclass(frozen=True)
class Sends:
    """Every segment that left: when, in seconds, and which."""

    time_s: np.ndarray
    segment: np.ndarray

    def retransmissions(self) -> list[int]:
        """The segments that had been sent before, in the order in which they left."""
        seen: set[int] = set()
        again = []
        for segment in self.segment.tolist():
            if segment in seen:
                again.append(segment)
            seen.add(segment)
        return again


def on_ns2(agent: str, spikes: tuple[tuple[float, float], ...]) -> Sends:
    """The transfer on ns-2. Raises RuntimeError if it does not end."""
    listed = ",".join(f"{start}-{end}" for start, end in spikes) or "none"
    arguments = [agent, RATE_BPS, DELAY_MS, QUEUE_PACKETS, WINDOW, SEGMENTS, listed]
    script = Path(__file__).with_name("transfer.tcl")
    run = subprocess.run(["ns", script, *map(str, arguments)], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise RuntimeError(f"ns-2 ended with {run.returncode}: {run.stdout[-200:]}{run.stderr[-200:]}")
    lines = [line.split() for line in run.stdout.splitlines() if line.startswith("SEND")]
    sends = np.array([(float(time), int(segment)) for _, time, segment in lines if segment != "0"])
    return Sends(sends[:, 0], sends[:, 1].astype(int))


def on_eifel(recover: str, spikes: tuple[tuple[float, float], ...]) -> Sends:
    """The same transfer here."""
    transmissions = eifel.run(scenario(recover, spikes)).tables["transmissions"]
    time_s = transmissions["t_ns"].to_numpy() / 1e9
    segment = transmissions["segment"].to_numpy()
    return Sends(time_s[segment > 0], segment[segment > 0])


def scenario(recover: str, spikes: tuple[tuple[float, float], ...]) -> dict[str, Any]:
    """The scenario as ns-2 understands the same words."""
    sender = {
        "detect": "none",
        "respond": "none",
        "rto": {"name": "rfc6298", "minimum_ms": 1000, "granularity_ms": 10},
        "recover": recover,
        "congest": {
            "name": "reno",
            "initial_window_segments": 2,
            "ssthresh_from": "window",
            "repeated_timeout": "reduce",
            "grow": "always",
        },
    }
    tcp = {"payload_bytes": 1000, "receive_window_segments": WINDOW, "delayed_ack_ms": 100, "dsack": False}
    flow = {
        "name": "main",
        "from": "sender",
        "to": "receiver",
        "application": {"kind": "bulk", "segments": SEGMENTS},
        "tcp": tcp,
        "sender": sender,
    }
    link = {
        "rate_bps": RATE_BPS,
        "delay_ms": DELAY_MS,
        "queue": {"kind": "drop-tail", "packets": QUEUE_PACKETS},
        "back": {"queue": {"kind": "unlimited"}},
    }
    held = [{"start_s": start, "end_s": end} for start, end in spikes]
    spike = {"links": ["bottleneck", "bottleneck-back"], "holds": "sending", "at": held}
    plain = {
        "duration_s": 3000,
        "header_bytes": HEADER_BYTES,
        "point_to_point": link,
        "flow": [flow],
    }
    return {**plain, "spike": [spike]} if spikes else plain


def compare() -> bool:
    """Prints both sides; whether they agree as they should."""
    agreed = True
    print("sender     spikes         ns-2  eifel retransmitted  largest distance  verdict")
    for agent, recover in SENDERS.items():
        for spikes in SPIKES:
            theirs, ours = on_ns2(agent, spikes), on_eifel(recover, spikes)
            same = theirs.segment.tolist() == ours.segment.tolist()
            distance = float(np.abs(theirs.time_s - ours.time_s).max()) if same else float("nan")
            again = theirs.retransmissions()
            fine = same and distance < PACKET_TIME_S if not spikes else again == ours.retransmissions()
            agreed = agreed and fine
            held = ", ".join(f"{start:g}-{end:g} s" for start, end in spikes) or "none"
            print(
                f"{recover:<10} {held:<12} {len(theirs.segment):>6} {len(ours.segment):>6} {len(again):>13}  "
                f"{distance * 1000:>13.2f} ms  {'agrees' if fine else 'DIFFERS'}"
            )
    return agreed


if __name__ == "__main__":
    if shutil.which("ns") is None:
        sys.exit("ns-2 is not installed (Debian: ns2): nothing to compare with")
    sys.exit(0 if compare() else 1)
