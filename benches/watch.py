"""What `eifel watch` costs a host: `benches/watch.py`, as root, on Linux with iperf3. A part of `make bench`.

Between two namespaces iperf3 sends a gigabit a second, while nothing is lost: each ACK costs a look at the socket. The
kernel's statistics of BPF programs say how long each call took; they measure themselves too, so a program that returns
at once is measured beside. Then a hundred thousand connections stand open, and the watch's memory is read.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from run import TARGET, high_water_kib

WATCH = [str(TARGET / "release" / "eifel"), "watch", "--quiet"]
ROUNDS, SECONDS, RATE = 5, 4, "1G"
SOCKETS = 100_000
WANTED_NS, WANTED_SHARE, WANTED_MIB = 100, 0.01, 64
STATISTICS = Path("/proc/sys/kernel/bpf_stats_enabled")
ACK, PACKET = "acknowledged", "acknowledged_w"
"""The programs of each ACK, and of each packet, as far as the kernel keeps names: 15 letters."""
BPF = {"x86_64": 321, "aarch64": 280}
PROG_GET_NEXT_ID, PROG_GET_FD_BY_ID, OBJ_GET_INFO_BY_FD = 11, 13, 15
HOLD = """
import socket, sys
held, each = [], 10_000
for begun in range(0, int(sys.argv[1]), each):
    listener = socket.create_server((f"127.0.0.{1 + begun // each}", 7000))
    for _ in range(min(each, int(sys.argv[1]) - begun)):
        held.append(socket.create_connection(listener.getsockname()))
        held.append(listener.accept()[0])
for one in held[::2]:
    one.send(b"x")
print("open", flush=True)
sys.stdin.readline()
"""
"""Opens as many connections to itself as its argument says, and sends a byte over each."""


def programs() -> dict[int, str]:
    """Returns the names of the kernel's BPF programs by their numbers."""
    libc = ctypes.CDLL(None, use_errno=True)
    call = BPF[platform.machine()]
    request, found = (ctypes.c_uint32 * 3)(), {}
    while libc.syscall(call, PROG_GET_NEXT_ID, request, ctypes.sizeof(request)) == 0:
        number = request[1]
        asked = (ctypes.c_uint32 * 3)(number)
        if (descriptor := libc.syscall(call, PROG_GET_FD_BY_ID, asked, ctypes.sizeof(asked))) >= 0:
            # `struct bpf_prog_info` up to the name, and the rest of it.
            info = ctypes.create_string_buffer(256)
            about = (ctypes.c_uint32 * 4)(descriptor, len(info))
            ctypes.memmove(ctypes.byref(about, 8), ctypes.byref(ctypes.c_uint64(ctypes.addressof(info))), 8)
            if libc.syscall(call, OBJ_GET_INFO_BY_FD, about, ctypes.sizeof(about)) == 0:
                found[number] = info.raw[64:80].split(b"\0")[0].decode()
            os.close(descriptor)
        request[0] = number
    return found


def taken(process: int) -> dict[str, tuple[int, int]]:
    """Returns nanoseconds and calls of a process's programs by name."""
    names, found = programs(), {}
    for file in Path(f"/proc/{process}/fdinfo").iterdir():
        lines = dict(line.split(":\t", 1) for line in file.read_text().splitlines() if ":\t" in line)
        if "run_time_ns" in lines:
            found[names[int(lines["prog_id"])]] = (int(lines["run_time_ns"]), int(lines["run_cnt"]))
    return found


@contextmanager
def watched(*words: str) -> Iterator[int]:
    """Watches during the block. Gives the number of the process."""
    with subprocess.Popen([*WATCH, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as watch:
        assert watch.stderr
        said = watch.stderr.readline().strip()
        if said != "eifel: watch: watching":
            raise RuntimeError(said)
        try:
            yield watch.pid
        finally:
            watch.send_signal(signal.SIGTERM)


def sent() -> None:
    """Sends over a pair of devices for SECONDS."""
    near, far = f"eifel-bench-{os.getpid()}", f"eifel-peer-{os.getpid()}"
    try:
        for line in (
            *(f"ip netns add {near}", f"ip netns add {far}"),
            f"ip -n {near} link add path type veth peer name path netns {far}",
            *(f"ip -n {near} address add 10.87.0.1/24 dev path", f"ip -n {far} address add 10.87.0.2/24 dev path"),
            *(f"ip -n {near} link set path up", f"ip -n {far} link set path up"),
        ):
            subprocess.run(line.split(), check=True)
        listens = subprocess.Popen(["ip", "netns", "exec", far, "iperf3", "-s", "-1"], stdout=subprocess.DEVNULL)
        time.sleep(0.5)
        client = f"ip netns exec {near} iperf3 -c 10.87.0.2 -b {RATE} -t {SECONDS}"
        subprocess.run(client.split(), stdout=subprocess.DEVNULL, check=True)
        listens.wait(timeout=10)
    finally:
        for name in (near, far):
            subprocess.run(["ip", "netns", "delete", name], check=False)


def cost_of_acks() -> None:
    """Prints what an ACK and a packet take, and the share of a core that all programs take together."""
    before = STATISTICS.read_text()
    STATISTICS.write_text("1")
    each: dict[str, list[float]] = {ACK: [], PACKET: []}
    shares = []
    try:
        for _ in range(ROUNDS):
            with watched() as process:
                first, begun = taken(process), time.monotonic()
                sent()
                last, ended = taken(process), time.monotonic()
            spent = {name: (last[name][0] - first[name][0], last[name][1] - first[name][1]) for name in last}
            for name, costs in each.items():
                nanos, calls = next(value for key, value in spent.items() if key[: len(PACKET)] == name)
                costs.append(nanos / max(calls, 1))
            shares.append(sum(nanos for nanos, _ in spent.values()) / 1e9 / (ended - begun))
    finally:
        STATISTICS.write_text(before)
    ack, packet = (statistics.median(costs) for costs in each.values())
    print(f"an ACK outside of an observation  {ack:5.0f} ns (wanted: at most {WANTED_NS})")
    print(f"a packet, which returns at once   {packet:5.0f} ns, measurement included")
    share = 100 * statistics.median(shares)
    print(f"at 1 Gbit/s, all programs      {share:8.2f} % of a core (wanted: below {WANTED_SHARE:.0%})")


def memory() -> None:
    """Prints the watch's memory beside as many connections as SOCKETS."""
    most = (resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 100) // 2
    shares = [min(most, SOCKETS - begun) for begun in range(0, SOCKETS, most)]
    inside = 'ip link set lo up && ulimit -n "$(ulimit -Hn)" && exec "$@"'
    command = ["unshare", "--net", "sh", "-c", inside, "sh", sys.executable, "-c", HOLD]
    with watched() as process, ExitStack() as stack:
        holders = []
        for share in shares:
            line = [*command, str(share)]
            holder = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            holders.append(stack.enter_context(holder))
        for holder in holders:
            assert holder.stdout
            if holder.stdout.readline() != "open\n":
                raise RuntimeError(f"no {SOCKETS} connections here")
        mib = high_water_kib(process) / 1024
    print(f"memory beside {SOCKETS} connections  {mib:5.1f} MiB (wanted: at most {WANTED_MIB})")


def main() -> None:
    """Measures what can be measured here."""
    missing = [tool for tool in ("ip", "iperf3", "unshare") if not shutil.which(tool)]
    if os.geteuid() != 0 or missing or platform.machine() not in BPF or not STATISTICS.exists():
        print(f"eifel watch is not measured: it takes root on Linux{''.join(f', {tool}' for tool in missing)}")
        return
    try:
        cost_of_acks()
        memory()
    except RuntimeError as error:
        print(f"eifel watch is not measured: {error}")


if __name__ == "__main__":
    main()
