"""Compares speed and memory of the analysis of captures with tcptrace and tshark, if installed: part of `make bench`.

Whole processes read the same file in turn. Costs are CPU seconds (user and system), and the median
of the rounds' ratios counts.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from run import PROFILE, ROOT, ROUNDS, TARGET, cost_of, soon_built

ANALYSER = [str(TARGET / "release" / "eifel"), "analyze"]
MAKER = TARGET / "release" / "examples" / "many"
WANTED = 5
"""The wanted ratio to tcptrace's packets per CPU second."""
WANTED_MIB = 64
OPENED = 100_000
"""The packets of a capture that is opened in Wireshark."""
WANTED_OPENED_S = 1


@dataclass(frozen=True)
class File:
    """A capture to read: packets, connections, and the number of packet trains in a thousand that lose a packet."""

    title: str
    packets: int
    connections: int
    loss_permille: int

    def write(self, path: Path) -> None:
        """Writes the capture."""
        with path.open("wb") as out:
            numbers = map(str, (self.packets, self.connections, self.loss_permille))
            subprocess.run([MAKER, *numbers], stdout=out, check=True)


def as_stored(path: Path) -> None:
    """Reads a file again, so that it is cached like a file captured earlier.

    The kernel caches a file just written in small pieces in small pieces too, and takes more than
    twice as long to read it. Both sides would need that time in addition.
    """
    with path.open("rb") as file:
        os.fsync(file)
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while file.read(1 << 20):
            pass


FILES = (
    File("2 million packets of 20 connections", 2_000_000, 20, 1),
    File("2 million packets of 10 000 connections", 2_000_000, 10_000, 1),
    File("10 million packets of 100 000 connections", 10_000_000, 100_000, 1),
)
BULK = ROOT / "benches" / "scenarios" / "bulk.toml"


def beside_tcptrace(title: str, path: Path) -> None:
    """Prints both sides for a file."""
    as_stored(path)
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(cost_of([*ANALYSER, "--lines", path]))
        if shutil.which("tcptrace"):
            theirs.append(cost_of(["tcptrace", "-n", path]))
    mine = statistics.median(cost.cpu_s for cost in ours)
    print(title)
    print(f"  eifel     {mine:7.3f} CPU s   {max(cost.peak_mib for cost in ours):6.1f} MiB")
    if theirs:
        ratio = statistics.median(b.cpu_s / a.cpu_s for a, b in zip(ours, theirs, strict=True))
        peer = statistics.median(cost.cpu_s for cost in theirs)
        print(f"  tcptrace  {peer:7.3f} CPU s   {max(cost.peak_mib for cost in theirs):6.1f} MiB")
        print(f"  ratio     {ratio:7.2f}          (wanted: at least {WANTED})")


def beside_tshark(path: Path, folder: Path) -> None:
    """Prints what Wireshark's plugin takes beyond tshark's own time, over the first packets of a capture."""
    if not (shutil.which("tshark") and shutil.which("editcap")):
        print("tshark or editcap is not installed: the cost of Wireshark's plugin is not measured")
        return
    some = folder / "some"
    subprocess.run(["editcap", "-r", path, some, f"1-{OPENED}"], check=True)
    plugin = [Path(sys.executable).with_name("eifel"), "wireshark", "install", "--folder", folder]
    subprocess.run(plugin, stdout=subprocess.DEVNULL, check=True)
    read = ["tshark", "-r", some, "-Y"]
    script = ["-X", f"lua_script:{folder / 'eifel.lua'}"]
    beyond = []
    for _ in range(ROUNDS):
        own = cost_of([*read, "tcp.analysis.retransmission"]).cpu_s
        beyond.append(cost_of([*read, 'eifel.verdict == "spurious"', *script]).cpu_s - own)
    seconds = statistics.median(beyond)
    print(
        f"Wireshark's plugin, {OPENED} packets: {seconds:.2f} CPU s beyond tshark's (wanted: at most {WANTED_OPENED_S})"
    )


def main() -> None:
    """Compares all files."""
    build = ["cargo", "build", "--locked", "--quiet"]
    for part in (
        ["--release", "-p", "eifel-live", "--bin", "eifel"],
        ["--release", "-p", "eifel-capture", "--example", "many"],
        ["--profile", PROFILE, "-p", "eifel-live", "--bin", "eifel"],
    ):
        subprocess.run([*build, *part], cwd=ROOT, check=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "capture"
        subprocess.run(
            [Path(sys.executable).with_name("eifel"), "run", BULK, "--pcap", path],
            stdout=subprocess.DEVNULL,
            check=True,
        )
        beside_tcptrace("0.9 million packets of 4 connections over a lossy path, simulated", path)
        soon_built("the same capture", "eifel", "analyze", "--lines", path)
        beside_tshark(path, Path(folder))
        for file in FILES:
            file.write(path)
            beside_tcptrace(file.title, path)
    print(f"memory wanted: at most {WANTED_MIB} MiB")


if __name__ == "__main__":
    main()
