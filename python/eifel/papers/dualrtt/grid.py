"""The settings of section V: B, D and M with 300 spikes each, for Eifel and for DualRTT with seven values of tau.

A spike holds packets before the link's queue, as in figure 1. The queue continues to drain, its ACKs arrive, and the
segments that they release are held too. So a timeout needs a spike of two round trips: a window's length at low rates.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.papers.dualrtt import settings
from eifel.papers.study import Effort

RATES_BPS = (31_200, 62_400, 130_000, 360_000, 1_000_000, 1_500_000)
DELAYS_MS = (100, 200, 400, 800, 1200, 1600, 2000)
MTUS_BYTES = (576, 1006, 1500, 4352)
TAUS = (0.01, 0.025, 0.04, 0.08, 0.1, 0.2, 0.6)
SPIKES = 300
LENGTH_S = (3.0, 7.8)
HEADERS = 20
"""The bytes that the paper's simulator counts for a segment's headers. An MTU is 40 bytes more than its payload."""


@dataclass(frozen=True)
class Path:
    """One of the 168 settings."""

    rate_bps: int
    delay_ms: int
    mtu_bytes: int

    @property
    def round_trip_s(self) -> float:
        """The round trip with a full window: twice the delay, or the window's time on the link."""
        window_s = settings.WINDOW_SEGMENTS * self.mtu_bytes * 8 / self.rate_bps
        return max(2 * self.delay_ms / 1000 + self.mtu_bytes * 8 / self.rate_bps, window_s)


PATHS = tuple(Path(b, d, m) for m in MTUS_BYTES for d in DELAYS_MS for b in RATES_BPS)


def _case(number: int, path: Path, tau: float | None) -> dict[str, Any]:
    """Returns the settings of a path with DualRTT, or with Eifel if tau is None."""
    detector, detect = settings.detector(tau)
    window = settings.WINDOW_SEGMENTS * (path.mtu_bytes - 40)
    first_s = round(30 * path.round_trip_s, 3)
    return {
        "name": f"{number}: {path.rate_bps} bit/s, {path.delay_ms} ms, {path.mtu_bytes} bytes, {detector}",
        "set": {
            "duration_s": round(first_s + 10 + LENGTH_S[1] + 2 * path.round_trip_s + 2, 3),
            "header_bytes": HEADERS + (12 if tau is None else 0),
            "link.bottleneck.rate_bps": path.rate_bps,
            "link.bottleneck.delay_ms": path.delay_ms,
            "spike.0.first_s": {"uniform": [first_s, first_s + 10]},
            "flow.main.tcp.payload_bytes": path.mtu_bytes - 40,
            "flow.main.tcp.receive_window_bytes": window,
            **settings.timestamps(tau is None),
            "flow.main.sender.congest.initial_ssthresh_bytes": window,
            "flow.main.sender.detect": detect,
        },
    }


def design(title: str, asked: Iterable[tuple[Path, float | None]]) -> dict[str, Any]:
    """Returns a sweep of these paths and thresholds (None: Eifel), in their order."""
    scenario = settings.spike()
    del scenario["point_to_point"]
    link = {"delay_ms": 0, "queue": {"kind": "unlimited"}, "both": True}
    scenario["node"] = [{"name": name} for name in ("sender", "hiccup", "receiver")]
    scenario["link"] = [
        {"name": "hiccup", "from": "sender", "to": "hiccup", "rate_bps": 1_000_000_000, **link},
        {"name": "bottleneck", "from": "hiccup", "to": "receiver", "rate_bps": settings.RATE_BPS, **link},
    ]
    # One spike per run; the next would come after the end.
    spike = {
        "first_s": 0,
        "length_s": {"uniform": list(LENGTH_S)},
        "interval_s": 1_000_000,
        "interval": "start-to-start",
    }
    scenario["spike"] = [{"links": ["hiccup"], "holds": "arriving", **spike}]
    timer = {"name": "rfc6298", "minimum_ms": 200, "granularity_ms": 100, "initial_ms": 6000}
    settings.begin_without_handshake(scenario["flow"][0])
    scenario["flow"][0]["sender"]["rto"] = timer
    return {"title": title, "scenario": scenario, "case": [_case(number, *case) for number, case in enumerate(asked)]}


def counts(effort: Effort, asked: Mapping[str, Any], thresholds: int) -> dict[str, NDArray[Any]]:
    """Returns the counts of a design, with a row per case: Eifel and `thresholds` of DualRTT per path.

    `detected` counts spikes whose timeout was called spurious. `missed` and `wrong` are relative to Eifel's verdicts,
    as the paper counts. `untrue` counts verdicts without a spurious timeout in the same run.
    """
    table = effort.sweep(asked)
    place = (table["cell"].to_numpy(), table["repetition"].to_numpy())
    shape = (len(asked["case"]) // (1 + thresholds), 1 + thresholds, effort.repetitions)
    detected, spurious = (np.zeros((len(asked["case"]), effort.repetitions), np.bool_) for _ in "ab")
    detected[place] = table["detected_spurious"].to_numpy() > 0
    spurious[place] = table["spurious_timeouts"].to_numpy() > 0
    by_path = detected.reshape(shape)
    eifel = by_path[:, :1]
    found = {"detected": by_path, "missed": eifel & ~by_path, "wrong": ~eifel & by_path}
    found["untrue"] = by_path & ~spurious.reshape(shape)
    return {name: spikes.sum(axis=2).ravel() for name, spikes in found.items()}


def named(paths: Sequence[Path], taus: Sequence[float | None]) -> dict[str, NDArray[Any]]:
    """Returns the key columns of the rows: all thresholds of the first path, then of the second."""
    return {
        **{name: np.array([getattr(path, name) for path in paths for _ in taus]) for name in Path.__annotations__},
        "tau": np.array([tau or 0.0 for _ in paths for tau in taus]),
    }
