"""Measures how the cost of a segment grows with flows, windows and losses: part of `make bench`.

Each point runs twice, for a duration and for twice that. The difference is the cost of the second part, without
set-up and slow start. The peak of memory is that of the longer run. Costs are CPU seconds of whole processes, and
the median of the rounds counts. Prints a table, and draws it in `out/scale.svg`.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from run import ROOT, SIMULATOR, Cost, cost_of

ROUNDS = 3
SEGMENTS = 1_000_000
"""The segments of a part, about: enough for a time that can be measured."""
RATE_MBPS = 10
"""The share of each flow at its bottleneck."""
SEGMENT_BITS = 8 * 1052
"""A segment of 1000 bytes with its headers."""
FLOWS = (1, 10, 100, 1000, 10_000)
WINDOWS = (10, 100, 1000, 10_000, 100_000, 1_000_000)
LOSSES = (0, 0.0002, 0.001, 0.01, 0.05)
MOST_RATIO = 1.5
"""The wanted cost of a segment among ten thousand flows, as a multiple of that among a thousand."""
MOST_MIB = {1000: 64, 10_000: 1024}
OUT = ROOT / "out" / "scale.svg"

COMMON = """
[tcp]
payload_bytes = 1000
receive_window_bytes = {window}
delayed_ack_ms = 100
timestamp_values = "clock"
[sender]
detect = "none"
respond = "none"
recover = "reno-sack"
"""
DUMBBELL = """
[dumbbell]
left = {flows}
right = {flows}
access = {{ rate_bps = 1_000_000_000, delay_ms = 0.1, queue = {{ kind = "drop-tail", packets = 10_000 }} }}
bottleneck = {{ rate_bps = {rate}, delay_ms = 20, queue = {{ kind = "drop-tail", packets = {queue} }} }}
[[flow]]
name = "flow#"
repeat = {flows}
from = "left#"
to = "right#"
start_s = {{ uniform = [0, 1] }}
application = {{ kind = "bulk", endless = true }}
"""
PATH = """
[point_to_point]
rate_bps = {rate}
delay_ms = {delay_ms}
queue = {{ kind = "drop-tail", packets = {queue} }}
{more}
[[flow]]
name = "flow"
from = "sender"
to = "receiver"
application = {{ kind = "bulk", endless = true }}
"""


@dataclass(frozen=True)
class Point:
    """A simulation of one value of a series."""

    series: str
    value: float
    part_s: float
    scenario: str

    def text(self, parts: int) -> str:
        """Returns the scenario of this many parts."""
        return f"duration_s = {parts * self.part_s}\n{self.scenario}"


@dataclass(frozen=True)
class Measured:
    """The cost of a point: nanoseconds of CPU a segment, and the peak of memory."""

    point: Point
    segment_ns: float
    peak_mib: float


def points() -> Iterator[Point]:
    """Yields the points of all series."""
    for flows in FLOWS:
        rate = flows * RATE_MBPS * 1_000_000
        part_s: float = max(2, SEGMENTS * SEGMENT_BITS // rate)
        dumbbell = DUMBBELL.format(flows=flows, rate=rate, queue=max(20, 2 * flows * RATE_MBPS))
        yield Point("flows", flows, part_s, COMMON.format(window=100_000_000) + dumbbell)
    for window in WINDOWS:
        # The window fills the path: nothing waits, nothing is lost. The longest round trip is below the first RTO.
        rate = 10_000_000_000
        round_trip_s = window * SEGMENT_BITS / rate
        path = PATH.format(rate=rate, delay_ms=500 * round_trip_s, queue=2 * window + 10, more="")
        part_s = max(SEGMENTS * SEGMENT_BITS / rate, 25 * round_trip_s)
        yield Point("window, segments", window, part_s, COMMON.format(window=1000 * window) + path)
    for loss in LOSSES:
        more = f'loss = [{{ kind = "random", rate = {loss} }}]' if loss else ""
        path = PATH.format(rate=100_000_000, delay_ms=1, queue=200, more=more)
        yield Point("loss, %", 100 * loss, 200, COMMON.format(window=100_000_000) + path)


def measure(point: Point, folder: Path) -> Measured:
    """Measures a point. `folder` is for its scenarios. Raises RuntimeError if a run fails."""
    files = [folder / f"{parts}.toml" for parts in (1, 2)]
    for parts, file in enumerate(files, start=1):
        file.write_text(point.text(parts), encoding="utf-8")
    rounds = [[run(file, folder) for file in files] for _ in range(ROUNDS)]
    segments = rounds[0][1][1] - rounds[0][0][1]
    cpu_s = statistics.median(long.cpu_s - short.cpu_s for (short, _), (long, _) in rounds)
    return Measured(point, 1e9 * cpu_s / segments, max(long.peak_mib for _, (long, _) in rounds))


def run(scenario: Path, folder: Path) -> tuple[Cost, int]:
    """Runs a scenario. Returns its cost, and the segments that all flows sent."""
    with (folder / "out.json").open("w+b") as out:
        cost = cost_of([*SIMULATOR, "--flows", "--json", scenario], out)
        out.seek(0)
        flows = json.load(out)["flows"]
    return cost, round(sum(flow["mean"]["segments_sent"] for flow in flows))


def table(measured: Sequence[Measured]) -> bool:
    """Prints all points. Returns whether the wanted bounds hold."""
    print("the cost of a segment, without set-up and slow start")
    for one in measured:
        print(f"  {one.point.series:18} {one.point.value:>9g}  {one.segment_ns:7.0f} ns  {one.peak_mib:7.1f} MiB")
    flows = {one.point.value: one for one in measured if one.point.series == "flows"}
    ratio = flows[10_000].segment_ns / flows[1000].segment_ns
    print(f"  ten thousand flows cost {ratio:.2f} times a thousand (wanted: at most {MOST_RATIO})")
    fits = True
    for count, most in MOST_MIB.items():
        print(f"  {count} flows take {flows[count].peak_mib:.0f} MiB (wanted: at most {most})")
        fits &= flows[count].peak_mib <= most
    return fits and ratio <= MOST_RATIO


def draw(measured: Sequence[Measured]) -> None:
    """Draws cost and memory of each series in `OUT`."""
    from eifel.plots import style

    names = list(dict.fromkeys(one.point.series for one in measured))
    figure, axes = style.new_figure(len(names), (6, 2.2 * len(names)), share=False)
    for name, place in zip(names, axes, strict=True):
        series = [one for one in measured if one.point.series == name]
        values = [one.point.value for one in series]
        place.plot(values, [one.segment_ns for one in series], "o-", color=style.SENT, label="CPU, ns a segment")
        place.plot(values, [one.peak_mib for one in series], "s--", color=style.ACK, label="memory, MiB")
        if 0 in values:
            place.set_xscale("symlog", linthresh=min(filter(None, values)))
        else:
            place.set_xscale("log")
        place.set_yscale("log")
        place.set_xlabel(name)
        style.dress(place)
    OUT.parent.mkdir(exist_ok=True)
    figure.savefig(OUT)
    print(f"drawn in {OUT.relative_to(ROOT)}")


def main() -> int:
    """Measures all points. Returns 1 if a wanted bound does not hold."""
    with tempfile.TemporaryDirectory() as folder:
        measured = [measure(point, Path(folder)) for point in points()]
    holds = table(measured)
    draw(measured)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
