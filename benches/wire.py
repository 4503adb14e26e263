"""What the engine costs on the wire, and how late the box is: `benches/wire.py`, as root, on Linux with iperf3.

The first table is CPU seconds for a gigabyte to iperf3 in a namespace, of all processes together, in turn in each
round. Give other senders as `--peer NAME=COMMAND`; each has to move a gigabyte. The second is the lateness of
`eifel live hiccup` by rate: how long after the links' instant the kernel had a packet. The third is how
much longer than 2 ms a datagram takes from one process to the kernel of the other end, through the box and its rivals.
"""

from __future__ import annotations

import argparse
import json
import resource
import shlex
import shutil
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
"""The wanted 99th percentile of the emulated path's lateness, in microseconds."""
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
    """Returns a command line of `eifel live`."""
    return [sys.executable, "-m", "eifel", "live", *words]


def cost_of(command: Sequence[str]) -> tuple[float, float]:
    """Returns CPU seconds of the command and its children, and seconds. Raises RuntimeError if it fails."""
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
    """Returns the lateness of the emulated path while iperf3 fills a link of this rate."""
    scenario = folder / "path.toml"
    scenario.write_text(PATH.format(rate=rate_mbps * 1_000_000), encoding="utf-8")
    command = live("hiccup", "--json", "--peer", "iperf3 -s -1", str(scenario), "--")
    done = subprocess.run(
        [*command, "sh", "-c", f"iperf3 -t {SECONDS} -c $EIFEL_PEER"], capture_output=True, text=True, check=True
    )
    numbers: dict[str, float] = json.loads(done.stdout)["numbers"]
    return numbers


DELAY_MS = 2
TAKE = """
import socket, struct, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, 35, 1)
s.bind(("", 9000))
s.settimeout(60)
with open(sys.argv[1], "w") as out:
    for _ in range(800):
        data, about, _, _ = s.recvmsg(100, 100)
        seconds, nanos = struct.unpack("qq", about[0][2])
        print((seconds * 10**9 + nanos - int(data)) / 1000, file=out, flush=True)
"""
"""Writes the microseconds of each datagram to a file. 35 is SO_TIMESTAMPNS, the time of the
kernel's receipt.
"""
SEND = """
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
time.sleep(0.5)
for _ in range(800):
    s.sendto(b"%d" % time.time_ns(), (sys.argv[1], 9000))
    time.sleep(0.002)
time.sleep(0.5)
"""


def rivals(folder: Path) -> dict[str, list[str] | str]:
    """Returns commands that send datagrams over each tool's delay, or the reason why a tool is unavailable."""
    (folder / "take.py").write_text(TAKE, encoding="utf-8")
    (folder / "send.py").write_text(SEND, encoding="utf-8")
    scenario = folder / "delay.toml"
    scenario.write_text(PATH.format(rate=1_000_000_000), encoding="utf-8")
    take, send = f"python3 {folder}/take.py {folder}/times", f"python3 {folder}/send.py"
    box = live("hiccup", "--peer", take, str(scenario), "--", "sh", "-c", f"{send} $EIFEL_PEER")
    netem = f"ip link set lo up && tc qdisc add dev lo root netem delay {DELAY_MS}ms && ({take} & {send} 127.0.0.1)"
    delays = f"--uplink-delay {DELAY_MS}ms --downlink-delay {DELAY_MS}ms"
    rattan = f"{take} & rattan link {delays} -- sh -c '{send} $RATTAN_BASE'"
    mahimahi = f"{take} & mm-delay {DELAY_MS} sh -c '{send} $MAHIMAHI_BASE'"
    return {
        "eifel live hiccup": box,
        "netem": ["unshare", "--net", "sh", "-c", netem],
        "Mahimahi": ["sh", "-c", mahimahi] if shutil.which("mm-delay") else "mm-delay is not installed",
        "Rattan": ["sh", "-c", rattan] if shutil.which("rattan") else "rattan is not installed",
    }


def errors_us(command: Sequence[str], times: Path) -> list[float]:
    """Returns each datagram's time beyond the delay. Raises RuntimeError if the command fails."""
    times.unlink(missing_ok=True)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    took = [float(line) for line in times.read_text().splitlines()] if times.exists() else []
    if not took:
        raise RuntimeError((done.stderr.strip().splitlines() or ["nothing arrived"])[0])
    return sorted(one - DELAY_MS * 1000 for one in took)


def compare_delays() -> None:
    """Prints the third table."""
    print(f"\n{'':24} median us    99 % us")
    with tempfile.TemporaryDirectory() as folder:
        for name, command in rivals(Path(folder)).items():
            try:
                if isinstance(command, str):
                    raise RuntimeError(command)
                errors = errors_us(command, Path(folder) / "times")
                print(f"{name:24} {statistics.median(errors):9.0f} {errors[len(errors) * 99 // 100]:10.0f}")
            except (OSError, RuntimeError) as error:
                print(f"{name:24} not measured: {error}")


def main() -> None:
    """Measures as the arguments ask."""
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
    compare_delays()
    print(f"\nat most {WANTED_US} us late at the 99th percentile up to {best} Mbit/s")


if __name__ == "__main__":
    main()
