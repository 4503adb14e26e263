"""Linux's own sender over a spike with its detectors enabled one by one, and ours in the matching profile."""

import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Row, Setting, Studied
from eifel.papers.live import kernel, spike, wire
from eifel.papers.study import Effort, Study

SWITCHES = {
    "none": {"tcp_timestamps": 0, "tcp_frto": 0, "tcp_dsack": 0, "tcp_recovery": 0},
    "timestamps": {"tcp_timestamps": 1, "tcp_frto": 0, "tcp_dsack": 0, "tcp_recovery": 0},
    "f-rto": {"tcp_timestamps": 0, "tcp_frto": 2, "tcp_dsack": 0, "tcp_recovery": 0},
    "dsack": {"tcp_timestamps": 0, "tcp_frto": 0, "tcp_dsack": 1, "tcp_recovery": 0},
    "all, with RACK": {"tcp_timestamps": 1, "tcp_frto": 2, "tcp_dsack": 1, "tcp_recovery": 1},
}
"""The profiles as sysctls below net.ipv4 in the sender's namespace."""
MATCHING: Mapping[str, dict[str, Any]] = {
    "none": {"detect": "none", "recover": "rfc6675"},
    "timestamps": {"detect": "eifel-timestamps", "recover": "rfc6675"},
    "f-rto": {"detect": "f-rto-sack", "recover": "rfc6675"},
    "dsack": {"detect": "dsack", "recover": "rfc6675"},
    "all, with RACK": {"detect": "eifel-timestamps", "observers": ["f-rto-sack", "dsack"], "recover": "rack-tlp"},
}
"""The profiles as senders of our engine."""
STACKS = ("Linux", "ours")
BYTES = 800_000
COLUMNS = ("retransmissions", "spurious", "undos", "goodput_bps")


def _linux(profile: str) -> dict[str, float]:
    """Returns the behaviour of Linux over the path, and its own verdicts."""
    with tempfile.TemporaryDirectory(prefix="eifel-") as folder:
        return kernel.sends(Path(folder), spike.scenario(), BYTES, SWITCHES[profile])


def _ours(profile: str) -> dict[str, float]:
    """Returns the behaviour of our engine over the path, in the matching profile."""
    stamped = profile in ("timestamps", "all, with RACK")
    tcp = {"mss_bytes": 1460, "receive_window_segments": kernel.WINDOW, "timestamps": stamped}
    sender = {"respond": "rfc4015", "rto": "linux", "congest": "reno", **MATCHING[profile]}
    return wire.sends(spike.scenario(), tcp, sender)


def find(effort: Effort) -> dict[str, NDArray[Any]]:
    """Runs each profile with Linux and ours, several in parallel, since runs mostly wait."""
    asked = [(stack, profile) for profile in SWITCHES for stack in STACKS]
    with ThreadPoolExecutor(max_workers=4) as pool:
        found = list(pool.map(lambda one: (_linux if one[0] == "Linux" else _ours)(one[1]), asked))
    if effort.progress is not None:
        effort.progress(len(asked), len(asked))
    return {name: np.array([float(one[name]) for one in found]) for name in COLUMNS}


def _of(measured: Measured, column: str, profile: str, stack: str) -> float:
    return measured.mean(column, profile=profile, stack=stack)


ARTEFACT = Artefact(
    id="live.linux",
    title="Linux's sender over a spike, and ours in the matching profile",
    source="the kernel of this machine; truth by `eifel live judge`",
    columns=(
        Column("retransmissions", "Retransmissions", digits=0),
        Column("spurious", "of these spurious", digits=0),
        Column("undos", "Episodes undone", digits=0),
        Column("goodput_bps", "Goodput, Mbit/s", scale=1e-6, digits=3),
    ),
    rows=tuple(Row({"profile": profile, "stack": stack}) for profile in SWITCHES for stack in STACKS),
    method=Studied(
        Study(
            find, {"path": spike.scenario(), "profiles": SWITCHES, "matching": dict(MATCHING)}, (kernel, _linux, _ours)
        ),
        kernel.measure,
        live=True,
    ),
    claims=(
        Claim(
            "with timestamps Linux undoes the timeout, and retransmits less than without any detector",
            lambda m: (
                _of(m, "undos", "timestamps", "Linux") >= 1
                and _of(m, "retransmissions", "timestamps", "Linux") < _of(m, "retransmissions", "none", "Linux")
            ),
        ),
        Claim(
            "so does F-RTO without timestamps",
            lambda m: (
                _of(m, "undos", "f-rto", "Linux") >= 1
                and _of(m, "retransmissions", "f-rto", "Linux") < _of(m, "retransmissions", "none", "Linux")
            ),
        ),
        Claim(
            "without a detector neither stack undoes anything",
            lambda m: all(_of(m, "undos", "none", stack) == 0 for stack in STACKS),
        ),
        Claim(
            "our engine undoes in the same profiles by timestamps and F-RTO",
            lambda m: all(_of(m, "undos", profile, "ours") >= 1 for profile in ("timestamps", "f-rto")),
        ),
    ),
    fitted=(
        Setting("window", f"{kernel.WINDOW} segments, by the receiver's buffer", "nothing is lost: all is spurious"),
        Setting("congestion control", "Reno in both", "Linux's default is another on some machines"),
        Setting("tail-loss probes", "off in Linux but with RACK", "they would hide the first timeout"),
    ),
)
