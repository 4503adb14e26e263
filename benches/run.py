"""Compares speed and memory of the simulator with ns-2, and checks that both agree: `make bench`.

Whole processes run with one thread on either side and without tracing. Costs are CPU seconds (user
and system). Both sides run in turn in each round, so that changes in the machine's load affect
both. The median of the rounds' ratios counts.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
SIMULATOR = (TARGET / "release" / "eifel", "run", "--jobs", "1")
"""The command that runs a scenario."""
PROFILE = "engine"
"""Cargo's profile of a checkout's engine. All else here is of the profile `release`."""
ROUNDS = 5


FLOOD = TARGET / "release" / "examples" / "sack_flood"
"""The program that runs the flood of `t11-sack-cost` once."""
ORDERS = ("ascending", "descending", "random", "undone")
FLOOD_SEGMENTS = 100_000
GROWTH = 2.2
"""With twice the segments, a cost of n log n grows by 2.1, and one of n squared by 4."""
EXAMPLES = ("ack_cost", "timer_cost", "detector_cost")
"""The recovery crate's programs that print the costs of its parts."""
MODEL_SAMPLES = 5_000_000


@dataclass(frozen=True)
class Cost:
    """The cost of a process."""

    cpu_s: float
    peak_mib: float


@dataclass(frozen=True)
class Case:
    """The same simulation on both sides."""

    title: str
    scenario: str
    ns2: tuple[str | int, ...]
    """The script for ns-2 and its arguments."""
    wanted: float
    """The least wanted ratio to ns-2's speed."""
    start: tuple[str | int, ...] = ()
    """The script for ns-2 and its arguments for one second. The start-up cost of both sides is then
    subtracted. Empty to count everything.
    """


CASES = (
    Case("one flow, 100 Mbit/s, 20 ms, 200 packets, 600 s", "one_flow.toml", ("speed.tcl", 1, 100, 20, 200, 600), 4),
    Case("100 flows, 1 Gbit/s dumbbell, 20 s", "hundred_flows.toml", ("speed.tcl", 100, 1000, 20, 2000, 20), 7),
    Case(
        "one association over 1 Mbit/s with delay spikes, 20 000 s, without start-up",
        "sctp.toml",
        ("sctp_speed.tcl", 20_000, 1),
        10,
        start=("sctp_speed.tcl", 1, 1),
    ),
)


def cost_of(command: Sequence[str | Path], out: IO[bytes] | int = subprocess.DEVNULL) -> Cost:
    """Runs a command, which prints to `out`, and measures its cost. Raises RuntimeError if it fails.

    Samples the peak during the run: the kernel's later report includes this process, which started
    the command.
    """
    peak_kib = 0
    with subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL) as process:
        while not (waited := os.wait4(process.pid, os.WNOHANG))[0]:
            peak_kib = max(peak_kib, high_water_kib(process.pid))
            time.sleep(0.01)
        process.returncode = os.waitstatus_to_exitcode(waited[1])
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}")
    return Cost(waited[2].ru_utime + waited[2].ru_stime, peak_kib / 1024)


def high_water_kib(pid: int) -> int:
    """Returns the largest resident size of a process so far; 0 if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")), 0)


def for_one_second(scenario: str) -> str:
    """Returns the scenario with a duration of one second. Raises ValueError if it has no duration."""
    short, found = re.subn(r"(?m)^duration_s = .*$", "duration_s = 1", scenario)
    if found != 1:
        raise ValueError(f"the scenario has {found} durations: expected one line `duration_s = ...`")
    return short


def without(start: Cost, whole: Cost) -> Cost:
    """Returns the cost of a run without its start."""
    return Cost(whole.cpu_s - start.cpu_s, whole.peak_mib)


def costs_of(case: Case, folder: Path) -> tuple[Cost, Cost]:
    """Runs one round. Returns both sides' costs. `folder` is for the scenario of the start."""
    scenario = ROOT / "benches" / "scenarios" / case.scenario
    ours = cost_of([*SIMULATOR, scenario])
    theirs = cost_of(ns2(case.ns2))
    if case.start:
        short = folder / case.scenario
        short.write_text(for_one_second(scenario.read_text(encoding="utf-8")), encoding="utf-8")
        ours, theirs = without(cost_of([*SIMULATOR, short]), ours), without(cost_of(ns2(case.start)), theirs)
    return ours, theirs


def ns2(words: tuple[str | int, ...]) -> list[str]:
    """Returns the command line for a script and its arguments."""
    return ["ns", str(ROOT / "benches" / "ns2" / str(words[0])), *map(str, words[1:])]


def beside_ns2(case: Case) -> bool:
    """Prints both sides of a case. Returns whether the ratio is as wanted."""
    with tempfile.TemporaryDirectory() as folder:
        rounds = [costs_of(case, Path(folder)) for _ in range(ROUNDS)]
    ours, theirs = zip(*rounds, strict=True)
    ratio = statistics.median(b.cpu_s / a.cpu_s for a, b in zip(ours, theirs, strict=True))
    mine, peer = (statistics.median(cost.cpu_s for cost in side) for side in (ours, theirs))
    print(f"{case.title}")
    print(f"  eifel  {mine:7.3f} CPU s   {max(c.peak_mib for c in ours):6.1f} MiB")
    print(f"  ns-2   {peer:7.3f} CPU s   {max(c.peak_mib for c in theirs):6.1f} MiB")
    print(f"  ratio  {ratio:7.2f}          (wanted: at least {case.wanted:g})")
    return ratio >= case.wanted


def soon_built(title: str, program: str, *words: str | Path) -> None:
    """Prints what a program costs when it is built as a checkout's engine is, beside the same of a release."""
    release, soon = (TARGET / profile / program for profile in ("release", PROFILE))
    rounds = [(cost_of([soon, *words]).cpu_s, cost_of([release, *words]).cpu_s) for _ in range(ROUNDS)]
    ours, theirs = map(statistics.median, zip(*rounds, strict=True))
    ratio = statistics.median(a / b for a, b in rounds)
    print(f"profile {PROFILE}, {title}: {ours:.3f} CPU s, release {theirs:.3f}: {ratio:.2f} times the cost")


def tables() -> None:
    """Prints the cost of tables 1-4 with 100 repetitions, including the start."""
    eifel = Path(sys.executable).with_name("eifel")
    names = [f"responding.table{number}" for number in range(1, 5)]
    costs = [cost_of([eifel, "reproduce", "--fresh", "--json", *names]) for _ in range(ROUNDS)]
    print(f"tables 1-4, 100 repetitions, start included: {statistics.median(c.cpu_s for c in costs):.2f} CPU s")


def model() -> None:
    """Prints the samples per second of the steady-state model, with its timer."""
    from eifel.model import SteadyState
    from eifel.papers.thesis import transfers

    transfer, timer = SteadyState(max_load=40, segment_s=1.25), transfers.lite(500)
    began, samples = time.process_time(), 0
    while samples < MODEL_SAMPLES:
        samples += len(transfer.samples(cycles=1000).predict(timer).rto_s)
    print(f"the steady-state model: {samples / (time.process_time() - began) / 1e6:.1f} million samples a CPU second")


def attacks() -> bool:
    """Runs and prints the attacks on costs. Returns whether they stay within their bounds."""
    command = [Path(sys.executable).with_name("eifel"), "attacks", "t11", "t12", "t13", "s2"]
    return subprocess.run(command, check=False).returncode == 0


def instructions(command: Sequence[str | Path]) -> int:
    """Returns the instructions of a process by valgrind's count, which does not depend on the machine's load."""
    tool = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
    done = subprocess.run([*tool, *command], capture_output=True, text=True, check=True)
    return counted(done.stderr)


def counted(told: str) -> int:
    """Returns the number in cachegrind's report. Raises RuntimeError if there is none."""
    found = re.search(r"I\s+refs:\s+([\d,]+)", told)
    if found is None:
        raise RuntimeError(f"cachegrind did not tell its count: {told[-200:]!r}")
    return int(found.group(1).replace(",", ""))


def flooded(order: str, segments: int) -> int:
    """Returns the instructions of a flood of ACKs, without those that build its victim."""
    flood, build = (instructions([FLOOD, order, str(segments), part]) for part in ("flood", "build"))
    return flood - build


def growth(cost: Callable[[str, int], int]) -> bool:
    """Prints the growth of a flood's cost for twice the segments. Returns whether all orders stay within the bound."""
    within = True
    for order in ORDERS:
        times = cost(order, FLOOD_SEGMENTS) / cost(order, FLOOD_SEGMENTS // 2)
        print(f"t11, {order:10}: {times:.2f} times the instructions for twice the segments (wanted: at most {GROWTH})")
        within &= times <= GROWTH
    return within


def main() -> int:
    """Runs all cases. Returns 1 if one is slower or costlier than wanted, or does not agree."""
    for profile in ("release", PROFILE):
        build = ["cargo", "build", "--locked", "--quiet", "--profile", profile, "-p", "eifel-live", "--bin", "eifel"]
        subprocess.run(build, cwd=ROOT, check=True)
    for case in CASES:
        soon_built(case.title, "eifel", *SIMULATOR[1:], ROOT / "benches" / "scenarios" / case.scenario)
    tables()
    for example in EXAMPLES:
        command = ["cargo", "run", "--locked", "--release", "--quiet", "-p", "eifel-recovery", "--example", example]
        subprocess.run(command, cwd=ROOT, check=True)
    model()
    cheap = attacks()
    if shutil.which("valgrind") is None:
        print("valgrind is not installed: nothing counted the instructions of t11")
    else:
        example = [
            "cargo",
            "build",
            "--locked",
            "--release",
            "--quiet",
            "-p",
            "eifel-attacks",
            "--example",
            "sack_flood",
        ]
        subprocess.run(example, cwd=ROOT, check=True)
        cheap &= growth(flooded)
    if shutil.which("ns") is None:
        print("ns-2 is not installed (Debian: ns2): no comparison")
        return 0 if cheap else 1
    fast = [beside_ns2(case) for case in CASES]
    agreed = subprocess.run([sys.executable, ROOT / "benches" / "ns2" / "agree.py"], check=False).returncode == 0
    return 0 if cheap and all(fast) and agreed else 1


if __name__ == "__main__":
    sys.exit(main())
