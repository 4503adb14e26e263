"""Compares the senders with ns-2's, segment by segment: `python benches/ns2/agree.py`.

Both sides run equal transfers: undisturbed, over spikes, with single losses and with bursts of
losses, with an overflowing queue, and with both. The receiver acknowledges each segment or every
other one. With `follows = "ns-2"`, each of the four senders has to send the same segments in the
same order as ns-2's. The output also has the retransmissions of the sender by the RFC or by the
algorithm's paper.

F-RTO is compared too, where ns-2.35 follows RFC 5682. In the other cases, the difference has to
exist.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import eifel

HEADER_BYTES = 52
PAYLOAD_BYTES = 1050 - HEADER_BYTES
"""ns-2 adds 40 bytes of headers and 10 of timestamps to a data packet of 1000 bytes."""
CLOSE_S = 0.005
"""The largest difference of equal times, in seconds: one packet at 2 Mbit/s."""

SENDERS = {"reno": "Reno", "newreno": "Newreno", "reno-sack": "Sack1", "fack": "Fack"}
WITH_SACK = ("reno-sack", "fack")


@dataclass(frozen=True)
class Case:
    """One transfer over one link, in terms of both sides."""

    name: str
    rate_bps: int = 2_000_000
    delay_ms: int = 195
    queue_packets: int = 75
    window_segments: int = 150
    segments: int = 5000
    ack_every: int = 2
    spikes: tuple[tuple[float, float], ...] = ()
    drops: tuple[int, ...] = ()
    """The data segments whose first copy is lost."""
    f_rto: bool = False


_LONG = Case("")
_FAST = Case("", rate_bps=10_000_000, delay_ms=50, queue_packets=30, window_segments=100, segments=3000)
CASES = (
    replace(_LONG, name="undisturbed"),
    replace(_LONG, name="spike", spikes=((5.0, 12.0),)),
    replace(_LONG, name="later spike", spikes=((10.0, 14.5),)),
    replace(_LONG, name="spike in slow start", spikes=((2.2, 9.0),)),
    replace(_LONG, name="spike at two segments, one ACK each", ack_every=1, spikes=((0.5, 5.0),)),
    replace(_LONG, name="spike, one ACK each", ack_every=1, spikes=((5.0, 12.0),)),
    replace(_LONG, name="spike and overflow", window_segments=200, spikes=((5.0, 12.0),)),
    replace(_FAST, name="1 lost", drops=(200,)),
    replace(_FAST, name="4 lost", drops=(200, 210, 211, 230)),
    replace(_FAST, name="20 lost", drops=tuple(range(200, 220))),
    replace(_FAST, name="2 lost, one ACK each", ack_every=1, drops=(200, 210)),
    replace(_FAST, name="overflow, window 200", window_segments=200),
    replace(_FAST, name="overflow, window 400", window_segments=400),
)
_ROOMY = replace(_LONG, segments=2000, queue_packets=400, f_rto=True)
F_RTO = (
    (replace(_ROOMY, name="slow start", window_segments=400, spikes=((3.0, 4.9),)), True),
    (replace(_ROOMY, name="full window", spikes=((5.0, 6.9),)), True),
    # RFC 5682, section 2.1, step 2b: the window allows one new segment. ns-2 gives up, and
    # retransmits everything.
    (replace(_ROOMY, name="full window, one ACK each", ack_every=1, spikes=((5.0, 6.9),)), False),
    # Step 2a: recovery continues. ns-2 answers the duplicate with the first segment again.
    (replace(_ROOMY, name="the retransmission lost too", queue_packets=20, spikes=((5.0, 6.9),)), False),
)
"""Each case with whether ns-2 follows RFC 5682. Both restore the whole window."""


@dataclass(frozen=True)
class Sends:
    """Every transmitted segment: its time in seconds, and its number."""

    time_s: np.ndarray
    segment: np.ndarray

    def again(self) -> int:
        """Returns the number of retransmissions."""
        return len(self.segment) - len(np.unique(self.segment))


def on_ns2(sender: str, case: Case) -> Sends:
    """Runs the transfer on ns-2. Raises RuntimeError if it does not end."""
    asked: dict[str, Any] = {
        "agent": SENDERS[sender],
        **{name: getattr(case, name) for name in ("rate_bps", "delay_ms", "queue_packets", "window_segments")},
        "segments": case.segments,
        "ack_every": case.ack_every,
        "f_rto": int(case.f_rto),
        "spikes": ",".join(f"{start}-{end}" for start, end in case.spikes),
        "drops": ",".join(map(str, case.drops)),
    }
    words = [str(word) for pair in asked.items() for word in pair]
    script = Path(__file__).with_name("transfer.tcl")
    run = subprocess.run(["ns", script, *words], capture_output=True, text=True, check=False, timeout=120)
    if run.returncode != 0:
        raise RuntimeError(f"ns-2 ended with {run.returncode}: {run.stdout[-200:]}{run.stderr[-200:]}")
    lines = [line.split() for line in run.stdout.splitlines() if line.startswith("SEND")]
    sends = np.array([(float(time), int(segment)) for _, time, segment in lines if segment != "0"])
    return Sends(sends[:, 0], sends[:, 1].astype(int))


def on_eifel(sender: str, case: Case, follows: str) -> Sends:
    """Runs the transfer on this simulator."""
    transmissions = eifel.run(scenario(sender, case, follows), record=("transmissions",)).tables["transmissions"]
    time_s = transmissions["t_ns"].to_numpy() / 1e9
    segment = transmissions["segment"].to_numpy()
    return Sends(time_s[segment > 0], segment[segment > 0])


def scenario(recover: str, case: Case, follows: str) -> dict[str, Any]:
    """Returns the scenario that corresponds to ns-2's arguments."""
    sack = recover in WITH_SACK
    detect = ("f-rto-sack" if sack else "f-rto") if case.f_rto else "none"
    sender = {
        "detect": detect,
        "respond": "option-1" if case.f_rto else "none",
        "grant": "always",
        "rto": {"name": "rfc6298", "minimum_ms": 1000, "granularity_ms": 10, "back_off_ends": "new-data"},
        "recover": {"name": recover, "follows": follows},
        "congest": {
            "name": "reno",
            "initial_window_segments": 2,
            "ssthresh_from": "window",
            "repeated_timeout": "reduce",
            "grow": "always",
        },
    }
    tcp = {
        "payload_bytes": PAYLOAD_BYTES,
        "receive_window_segments": case.window_segments,
        "delayed_ack_every": case.ack_every,
        "delayed_ack_ms": 100,
        "sack": sack,
        "dsack": False,
    }
    flow = {
        "name": "main",
        "from": "sender",
        "to": "receiver",
        "application": {"kind": "bulk", "segments": case.segments},
        "tcp": tcp,
        "sender": sender,
    }
    link: dict[str, Any] = {
        "rate_bps": case.rate_bps,
        "delay_ms": case.delay_ms,
        "queue": {"kind": "drop-tail", "packets": case.queue_packets},
        "back": {"queue": {"kind": "unlimited"}},
    }
    if case.drops:
        link["drops"] = {"flow": "main", "segments": list(case.drops), "copies": 1}
    plain: Mapping[str, Any] = {"duration_s": 3000, "point_to_point": link, "flow": [flow]}
    held = [{"start_s": start, "end_s": end} for start, end in case.spikes]
    spike = {"links": ["bottleneck", "bottleneck-back"], "holds": "sending", "at": held}
    return {**plain, "spike": [spike]} if held else dict(plain)


def distance_s(theirs: Sends, ours: Sends) -> float | None:
    """Returns the largest difference in time; None unless the same segments left in the same order."""
    if theirs.segment.tolist() != ours.segment.tolist():
        return None
    return float(np.abs(theirs.time_s - ours.time_s).max())


def compare() -> bool:
    """Prints both sides. Returns whether they agree where they should."""
    agreed = True
    print(f"{'sender':<10} {'case':<37} {'repeated: ns-2':>16} {'here':>5} {'by the source':>13}  largest distance")
    for case in CASES:
        for sender in SENDERS:
            theirs, ours = on_ns2(sender, case), on_eifel(sender, case, "ns-2")
            apart = distance_s(theirs, ours)
            agreed = agreed and apart is not None
            source = on_eifel(sender, case, "source").again()
            verdict = "DIFFERS" if apart is None else f"{apart * 1000:.2f} ms"
            print(f"{sender:<10} {case.name:<37} {theirs.again():>16} {ours.again():>5} {source:>13}  {verdict}")
    print("\nF-RTO")
    for case, follows_rfc in F_RTO:
        for sender in ("reno", "newreno", "reno-sack"):
            theirs, ours = on_ns2(sender, case), on_eifel(sender, case, "ns-2")
            apart = distance_s(theirs, ours)
            fine = (apart is not None and apart < CLOSE_S) == follows_rfc
            agreed = agreed and fine
            shown = "other segments" if apart is None else f"{apart * 1000:.2f} ms"
            verdict = shown + (", as RFC 5682 has it" if not follows_rfc and fine else "" if fine else ", UNEXPECTED")
            print(f"{sender:<10} {case.name:<37} {theirs.again():>16} {ours.again():>5} {'':>13}  {verdict}")
    return agreed


if __name__ == "__main__":
    if shutil.which("ns") is None:
        sys.exit("ns-2 is not installed (Debian: ns2): nothing to compare with")
    sys.exit(0 if compare() else 1)
