"""Compares plain SCTP with ns-2's agent: `python benches/ns2/sctp.py [REPETITIONS]`.

Both sides run the associations of "On Making SCTP Robust to Spurious Retransmissions" over equal
spikes. ns-2's `Delayer` is between queue and transmitter, and so is the spike here. It holds both
directions. All retransmissions go to the alternate path. The first table has the retransmitted
chunks over the single spikes of figures 2 (b), 3 and 4. The second has the highest TSN after 200 s,
with and without random spikes, and the third with packets that come late.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import eifel
from eifel.papers.sctp import settings
from eifel.statistics import Mean, mean_interval

REPETITIONS = 12
SHORT_SPIKE_S, LONG_SPIKE_S = 1.2, 2.5
"""Spikes that hold the transmitter: the timer expires sooner than with packets that wait before the queue."""
LATE_S = 0.06
"""How late a reordered packet is: five packets pass it."""
SHARE = 0.03
"""The tolerance for highest TSNs, as a share."""


@dataclass(frozen=True)
class Case:
    """One association, in terms of both sides."""

    name: str
    paths: int = 1
    window_bytes: int = settings.RECEIVE_WINDOW_BYTES
    seconds: int = 16
    dead: bool = False
    """Whether the alternate path loses everything from 5 s on."""
    spikes: tuple[tuple[float, float], ...] = ()
    late: float = 0
    """The share of packets that come `LATE_S` late to the queue."""
    seed: int = 1


def _spike(length_s: float) -> tuple[tuple[float, float], ...]:
    return ((settings.SPIKE_S, settings.SPIKE_S + length_s),)


FIGURES = (
    Case("figure 2 (b): one path", spikes=_spike(SHORT_SPIKE_S)),
    Case("two paths", paths=2, spikes=_spike(SHORT_SPIKE_S)),
    Case("figure 3: a dead alternate", paths=2, dead=True, spikes=_spike(SHORT_SPIKE_S)),
    Case("figure 4: a spike of 1.8 s", paths=2, spikes=_spike(1.8)),
    Case("figure 4: a spike of 2.5 s", paths=2, spikes=_spike(LONG_SPIKE_S)),
)
AGENT: settings.Sctp = {**settings.RFC_2960, "sender": {"congest": {"name": "sctp", "repeated_timeout": "hold"}}}
"""The rules of ns-2.35's agent: one packet at an expiry, as RFC 2960 has it; RFC 4960's initial window and
least ssthresh, which stays at a further timeout.
"""
INTERVALS_S: tuple[tuple[int, int] | None, ...] = (*settings.SPIKE_INTERVALS_S, None)


@dataclass(frozen=True)
class Sends:
    """Every transmitted packet with data: its time in seconds, its path, and its TSN counted from 0."""

    time_s: np.ndarray
    path: np.ndarray
    tsn: np.ndarray

    def highest(self) -> int:
        """Returns the number of chunks sent for the first time."""
        return len(np.unique(self.tsn))

    def again(self) -> np.ndarray:
        """Returns a mask of the retransmissions."""
        first = np.zeros(len(self.tsn), dtype=bool)
        first[np.unique(self.tsn, return_index=True)[1]] = True
        return ~first


def on_ns2(case: Case) -> Sends:
    """Runs the association on ns-2. Raises RuntimeError if it fails."""
    spikes = ",".join(f"{start:.6f}-{end:.6f}" for start, end in case.spikes)
    asked = [case.paths, settings.RATE_BPS, case.window_bytes, case.seconds, "dead" if case.dead else "alive", spikes]
    with tempfile.TemporaryDirectory() as folder:
        late = map(str, (case.late, LATE_S, case.seed))
        command = ["ns", str(Path(__file__).with_name("sctp.tcl")), *map(str, asked), f"{folder}/trace", *late]
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    sends = np.array([line.split()[1:] for line in run.stdout.splitlines() if line.startswith("SEND")], dtype=float)
    if run.returncode != 0 or len(sends) == 0:
        raise RuntimeError(f"ns-2 ended with {run.returncode}: {run.stdout[-200:]}{run.stderr[-200:]}")
    return Sends(sends[:, 0], sends[:, 1].astype(int), sends[:, 2].astype(int))


def on_eifel(case: Case, rules: settings.Sctp = AGENT) -> Sends:
    """Runs the association on this simulator."""
    made = scenario(case, rules)
    sent = eifel.run(made, repetition=case.seed, record=("transmissions",)).frame("transmissions")
    return Sends(sent["t_ns"] / 1e9, sent["path"], sent["start"])


def scenario(case: Case, rules: settings.Sctp) -> dict[str, Any]:
    """Returns the scenario of a case."""
    at = [{"start_s": start, "end_s": end} for start, end in case.spikes]
    made = settings.scenario(
        settings.PLAIN,
        {"kind": "bulk", "endless": True},
        case.seconds,
        paths=case.paths,
        spike={"at": at, "holds": "sending"} if at else None,
        held=("path", "path-back"),
        window_bytes=case.window_bytes,
        forward={"reorder": {"rate": case.late, "late_ms": 1000 * LATE_S}} if case.late else None,
        rules=rules,
    )
    if case.dead:
        links = ["path-2", "path-2-back"]
        made["outage"] = [{"links": links, "at": [{"start_s": 5, "length_s": case.seconds}]}]
    return made


def drawn(interval_s: tuple[int, int] | None, repetition: int) -> Case:
    """Returns a transfer of 200 s with the spikes drawn for a repetition of figure 11 (b)."""
    if interval_s is None:
        return Case("without spikes", seconds=settings.TRANSFER_S)
    spiky = settings.scenario(
        settings.PLAIN,
        {"kind": "bulk", "endless": True},
        settings.TRANSFER_S,
        spike=settings.spikes(interval_s),
    )
    held = eifel.run(spiky, repetition=repetition, record=("spikes",)).frame("spikes")
    held = held.where(link=settings.HELD_AT_SENDER[0])
    times = tuple((start / 1e9, end / 1e9) for start, end in zip(held["start_ns"], held["end_ns"], strict=True))
    return Case(f"a spike every {interval_s[0]} to {interval_s[1]} s", seconds=settings.TRANSFER_S, spikes=times)


def highest(interval_s: tuple[int, int] | None, repetitions: int, paths: int = 1) -> tuple[Mean, Mean, Mean]:
    """Returns mean highest TSNs: ns-2's, and this simulator's with ns-2's and with RFC 9260's rules."""
    count = repetitions if interval_s else 1
    cases = [replace(drawn(interval_s, repetition), paths=paths) for repetition in range(count)]
    return (
        mean_interval([on_ns2(case).highest() for case in cases]),
        mean_interval([on_eifel(case).highest() for case in cases]),
        mean_interval([on_eifel(case, settings.RFC_9260).highest() for case in cases]),
    )


def late(share: float, repetitions: int) -> tuple[Mean, Mean, Mean]:
    """Returns mean highest TSNs with late packets: ns-2's, and this simulator's with RFC 9260's and RFC 2960's rules.

    Each side draws its own packets, so the means have intervals of their own.
    """
    cases = [Case("late", seconds=settings.TRANSFER_S, late=share, seed=seed) for seed in range(1, repetitions + 1)]
    here = [[on_eifel(case, rules).highest() for case in cases] for rules in (settings.RFC_9260, settings.RFC_2960)]
    return mean_interval([on_ns2(case).highest() for case in cases]), mean_interval(here[0]), mean_interval(here[1])


def compare(repetitions: int) -> bool:
    """Prints both sides. Returns whether the highest TSNs agree."""
    print(f"{'retransmitted, of one spike':<34} {'ns-2':>6} {'here':>6}")
    for case in FIGURES:
        print(f"{case.name:<34} {on_ns2(case).again().sum():>6} {on_eifel(case, settings.NS_2).again().sum():>6}")
    agreed = True
    print(f"\n{'highest TSN after 200 s':<34} {'ns-2':>6} {'here':>6} {'apart':>6} {'by RFC 9260':>12}")
    for paths in (1, 2):
        for interval_s in INTERVALS_S:
            theirs, ours, source = highest(interval_s, repetitions, paths)
            apart = ours.mean / theirs.mean - 1
            agreed = agreed and abs(apart) <= SHARE
            name = f"{drawn(interval_s, 0).name}, {paths} path{'s' if paths > 1 else ''}"
            print(f"{name:<34} {theirs.mean:>6.0f} {ours.mean:>6.0f} {apart:>+6.1%} {source.mean:>12.0f}")
    print(f"\n{'packets 60 ms late, 1 path':<34} {'ns-2':>6} {'RFC 9260':>15} {'RFC 2960':>15}")
    for share in settings.REORDERING:
        means = late(share, repetitions)
        apart = [f"{mean.mean:>8.0f} {mean.mean / means[0].mean - 1:>+6.1%}" for mean in means[1:]]
        print(f"{share:<34.1%} {means[0].mean:>6.0f} {apart[0]} {apart[1]}")
    return agreed


if __name__ == "__main__":
    if shutil.which("ns") is None:
        sys.exit("ns-2 is not installed (Debian: ns2): nothing to compare with")
    sys.exit(0 if compare(int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS) else 1)
