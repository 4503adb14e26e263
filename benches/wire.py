"""What the engine costs on the wire, and how late the box is: `benches/wire.py`, as root, on Linux with iperf3.

The first table is CPU seconds for a gigabyte to iperf3 in a namespace, of all processes together, in turn in each
round. Give other senders as `--peer NAME=COMMAND`; each has to move a gigabyte. The second is the lateness of
`eifel live hiccup` by rate: how long after the links' instant the kernel had a packet.
"""

from __future__ import annotations

import argparse
import json
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROUNDS = 3
BYTES = 1_000_000_000
OURS = ["send", "--bytes", str(BYTES), "--json", "iperf3://10.85.0.1", "--", "iperf3", "-s", "-1"]
RATES_MBPS = (10, 50, 100, 200, 400, 800)
SECONDS = 5
WANTED_US = 100
"""The box is meant to be no later than this, at the 99th percentile."""
PATH = """duration_s = 60
[point_to_point]
rate_bps = {rate}
delay_ms = 2
queue = {{ kind = "drop-tail", packets = 200 }}
[[flow]]
name = "main"
from = "sender"
to = "receiver"
application = {{ kind = "bulk", bytes = 1000 }}
"""


def live(*words: str) -> list[str]:
    """A command of `eifel live`."""
    return [sys.executable, "-m", "eifel", "live", *words]


def cost_of(command: Sequence[str]) -> tuple[float, float]:
    """CPU seconds, of the command and all that it waits for, and seconds. Raises RuntimeError if it fails."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: {done.stderr.strip()[-200:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu_s, time.monotonic() - begun


def compare(peers: dict[str, list[str]]) -> None:
    """Prints the first table."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in peers}
    for _ in range(ROUNDS):
        for name, command in peers.items():
            found[name].append(cost_of(command))
    print(f"{'':24} CPU s/GB (least)   Gbit/s")
    for name, costs in found.items():
        cpu = sorted(cost for cost, _ in costs)
        rate = BYTES * 8e-9 / statistics.median(seconds for _, seconds in costs)
        print(f"{name:24} {statistics.median(cpu):8.2f} {cpu[0]:7.2f} {rate:8.2f}")


def lateness(rate_mbps: int, folder: Path) -> dict[str, float]:
    """The box's numbers while iperf3 fills a link of this rate."""
    scenario = folder / "path.toml"
    scenario.write_text(PATH.format(rate=rate_mbps * 1_000_000), encoding="utf-8")
    command = live("hiccup", "--json", "--peer", "iperf3 -s -1", str(scenario), "--")
    done = subprocess.run(
        [*command, "sh", "-c", f"iperf3 -t {SECONDS} -c $EIFEL_PEER"], capture_output=True, text=True, check=True
    )
    numbers: dict[str, float] = json.loads(done.stdout)["numbers"]
    return numbers


def main() -> None:
    """Measures what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND")
    options = parser.parse_args()
    others = {name: shlex.split(command) for name, _, command in (peer.partition("=") for peer in options.peer)}
    compare({"eifel": live(*OURS), "eifel --offload": live(OURS[0], "--offload", *OURS[1:]), **others})
    print(f"\n{'Mbit/s':>8} {'median us':>10} {'99 % us':>10} {'most us':>10}")
    best = 0
    with tempfile.TemporaryDirectory() as folder:
        for rate in RATES_MBPS:
            numbers = lateness(rate, Path(folder))
            late = [numbers[f"late_us_{name}"] for name in ("median", "p99", "max")]
            print(f"{rate:8} {late[0]:10.0f} {late[1]:10.0f} {late[2]:10.0f}")
            best = rate if late[1] <= WANTED_US else best
    print(f"at most {WANTED_US} us late at the 99th percentile up to {best} Mbit/s")


if __name__ == "__main__":
    main()
