"""Compares rows of tables 1 to 3 with ns-2: `python benches/ns2/tables.py [REPETITIONS [behind|before]]`.

Both sides run the transfers of "Responding to Spurious Timeouts in TCP" over equal spikes. The
setting is that of the tables, or one whose spikes hold before the queue. Each side draws the CBR
flow's intervals itself. ns-2 has no Eifel. Instead, table.tcl undoes every timeout of a spike,
whatever was lost, and leaves the rest to ns-2's own recovery.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import eifel
from eifel.papers.responding import settings
from eifel.papers.responding.settings import Open
from eifel.statistics import mean_interval

REPETITIONS = 60
FITS = {
    "behind": settings.FIT,
    "before": Open(
        one_way_delay_ms=200,
        sender_share=0.5,
        payload_bytes=1000,
        first_spike_s=7,
        cbr_packet_bytes=400,
        cbr_jitter=0.5,
        ack_delay_ms=100,
        hold="before",
        back_off_ends="sample",
    ),
}
LONGEST_S = 5000
ROWS = (
    ("Sack1", "reno-sack", False, "none"),
    ("Sack1", "reno-sack", False, "option-1"),
    ("Sack1", "reno-sack", True, "none"),
    ("Sack1", "reno-sack", True, "option-1"),
    ("Fack", "fack", True, "none"),
    ("Fack", "fack", True, "option-1"),
    ("Fack", "fack", True, "option-2"),
    ("Fack", "fack", True, "option-3"),
)
"""ns-2's sender, ours, whether there is a CBR flow, and the restored state."""


def spikes_of(scenario: dict[str, Any], repetition: int) -> str:
    """Returns the spikes of a repetition, for longer than either side needs."""
    still = {**scenario, "duration_s": LONGEST_S, "stop": "at-duration"}
    held = scenario["spike"][0]["links"][0]
    table = eifel.run(still, repetition=repetition, record=("spikes",)).frame("spikes").where(link=held)
    times = zip(table["start_ns"].tolist(), table["end_ns"].tolist(), strict=True)
    return ",".join(f"{start / 1e9:.6f}-{end / 1e9:.6f}" for start, end in times)


def on_ns2(fit: Open, row: tuple[str, bool, str], spikes: str, seed: int) -> tuple[float, int]:
    """Returns seconds and segments of a transfer on ns-2. Raises RuntimeError if it does not end."""
    agent, congested, restore = row
    payload = fit.payload_bytes
    segments = -(-settings.BYTES // payload)
    delay_ms = fit.one_way_delay_ms - settings.BOTTLENECK_MS
    sides = (delay_ms * fit.sender_share, delay_ms * (1 - fit.sender_share))
    window = settings.RECEIVE_WINDOW_BYTES // payload
    cbr = fit.cbr_packet_bytes if congested else 0
    arguments = [agent, payload, window, segments, *sides, cbr, restore, seed, fit.hold, fit.queue_packets, spikes]
    command = ["ns", str(Path(__file__).with_name("table.tcl")), *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    words = run.stdout.split()
    if run.returncode != 0 or words[:1] != ["DONE"]:
        raise RuntimeError(f"ns-2 ended with {run.returncode}: {run.stdout[-200:]}{run.stderr[-200:]}")
    return float(words[1]), int(words[2])


def compare(repetitions: int, fit: Open) -> None:
    """Prints the means of both sides with 95 % intervals."""
    print("row                                  s: ns-2          eifel   segments: ns-2          eifel")
    for agent, recovery, congested, restore in ROWS:
        eifel_on = restore != "none"
        kept = restore if eifel_on else "option-1"
        scenario = settings.dumbbell(recovery, eifel=eifel_on, congested=congested, restore=kept, fit=fit)
        theirs, ours = [], []
        for repetition in range(repetitions):
            summary = eifel.run(scenario, repetition=repetition, record=()).summary["main"]
            ours.append((summary["time_s"], summary["segments_sent"]))
            theirs.append(on_ns2(fit, (agent, congested, restore), spikes_of(scenario, repetition), 1 + repetition))
        cells = []
        for column in (0, 1):
            for side in (theirs, ours):
                mean = mean_interval([one[column] for one in side])
                low, high = mean.interval or (mean.mean, mean.mean)
                cells.append(f"{mean.mean:8.1f} ± {(high - low) / 2:4.1f}")
        name = f"{recovery}{', congested' if congested else ''}, {restore}"
        print(f"{name:<31} {cells[0]} {cells[1]}  {cells[2]} {cells[3]}")


if __name__ == "__main__":
    if shutil.which("ns") is None:
        sys.exit("ns-2 is not installed (Debian: ns2): nothing to compare with")
    compare(
        int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS, FITS[sys.argv[2] if len(sys.argv) > 2 else "behind"]
    )
