"""Runs Linux's own sender over an emulated path, and judges it with `eifel live judge`."""

import csv
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from eifel.papers.artefact import Artefact
from eifel.papers.live import wire
from eifel.runs import Runs
from eifel.statistics import Mean
from eifel.toml import dumps

SINK = """
import socket, sys
listener = socket.create_server(("0.0.0.0", 5001))
listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, int(sys.argv[1]))
connection, _ = listener.accept()
count = 0
while got := connection.recv(65536):
    count += len(got)
connection.sendall(b"%d" % count)
"""
SOURCE = """
import os, socket, sys
for setting in sys.argv[2:]:
    name, value = setting.split("=")
    with open(f"/proc/sys/net/ipv4/{name}", "w") as file:
        file.write(value)
connection = socket.create_connection((os.environ["EIFEL_PEER"], 5001))
connection.sendall(bytes(int(sys.argv[1])))
connection.shutdown(socket.SHUT_WR)
sys.exit(0 if connection.recv(64) == sys.argv[1].encode() else 1)
"""

WINDOW = 22
"""The receive window in segments: what a Linux receiver with the least buffer of `sends` offers."""
RECORDED = "recorded.pcapng"
"""The file that `eifel live record` captures beside the sender, in the folder of the emulated path."""
EIFEL = (sys.executable, "-m", "eifel", "live")
ALWAYS = {"tcp_congestion_control": "reno", "tcp_no_metrics_save": 1, "tcp_early_retrans": 0}
"""Sysctls below net.ipv4 in every run. Without tail-loss probes, nothing hides the first timeout."""


def sends(
    folder: Path, path: Mapping[str, Any], size: int, sysctls: Mapping[str, int], buffer: int = 26_000
) -> dict[str, float]:
    """Lets Linux send `size` bytes over a path. Repeats while packets are late, and keeps the least late try.

    The files of the emulated path are in `folder / "box"`. `buffer` is the receiver's, in bytes.
    Raises OSError.
    """
    files = {name: folder / f"{name}.py" for name in ("sink", "source")}
    files["sink"].write_text(SINK)
    files["source"].write_text(SOURCE)
    scenario = folder / "path.toml"
    scenario.write_text(dumps(path))
    settings = [f"{name}={value}" for name, value in {**ALWAYS, **sysctls}.items()]
    command = [sys.executable, str(files["source"]), str(size), *settings]
    call = ["hiccup", "--json", "--peer", f"{sys.executable} {files['sink']} {buffer}"]

    def late_us(out: Path) -> float:
        record = [*EIFEL, "record", str(out / RECORDED), "--", *command]
        said = json.loads(_eifel(*call, "--out", str(out), str(scenario), "--", *record))
        return float(said["numbers"]["late_us_max"])

    box = folder / "box"
    wire.least_late(late_us, folder).rename(box)
    judged = json.loads(_eifel("judge", "--json", str(box)))
    with (box / "path.csv").open() as file:
        there = [row for row in csv.DictReader(file) if row["dir"] == "A" and row["len"] not in ("", "0")]
    # Packets in the order in which they left.
    left = [float(row["t_out"]) for row in sorted(there, key=lambda row: float(row["t_in"])) if row["t_out"]]
    lasted = max(left) - min(float(row["t_in"]) for row in there)
    return {
        "lost": sum(not row["t_out"] for row in there),
        "overtaken": sum(at > min(left[number:]) for number, at in enumerate(left)),
        "retransmissions": judged["retransmissions"],
        "spurious": judged["spurious"],
        "undos": sum(episode["undo"] is not None for episode in judged["episodes"]),
        "goodput_bps": size * 8 / lasted,
    }


def measure(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    """Returns each run's columns in their units, without those that the run left empty."""
    rows = range(len(artefact.rows))
    values = [{c.name: float(runs[c.name][row]) * c.scale for c in artefact.columns} for row in rows]
    return [{name: Mean(value, None, 1) for name, value in row.items() if np.isfinite(value)} for row in values]


def _eifel(*arguments: str) -> str:
    done = subprocess.run([*EIFEL, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f"eifel live {arguments[0]}: {done.stderr.strip().splitlines()[-1:]}")
    return done.stdout
