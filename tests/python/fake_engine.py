"""A fake of the compiled engine for tests of the Python code around it: quick invented runs in its format."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np

import eifel._engine as real
from eifel._engine import command_line, described_tables, run_command, t_quantile  # noqa: F401

CATEGORIES = {
    "transmissions.kind": ["new", "retransmission", "probe"],
    "transmissions.cause": ["-", "timeout", "fast-retransmit"],
    "transmissions.fate": ["delivered", "dropped", "under-way"],
    "transmissions.needed": ["-", "needed", "spurious"],
    "transmissions.end": ["from", "to"],
    "drops.link": ["bottleneck"],
    "drops.cause": ["queue", "listed"],
    "timer.event": ["sample", "back-off", "expired", "adapted"],
    "episodes.cause": ["-", "timeout", "fast-retransmit"],
    "episodes.verdict": ["undecided", "spurious", "genuine"],
    "episodes.truth": ["-", "spurious", "genuine"],
    "spikes.link": ["bottleneck", "bottleneck-back"],
}


class ScenarioError(ValueError):
    __module__ = "eifel.errors"


class CaptureError(ValueError):
    __module__ = "eifel.errors"


class PathError(ValueError):
    __module__ = "eifel.errors"


class RunError(RuntimeError):
    __module__ = "eifel.errors"


class Run:
    def __init__(self, scenario: dict[str, Any], repetition: int, record: list[str]) -> None:
        self._scenario, self._repetition, self._record = scenario, repetition, record

    def summary_json(self) -> str:
        return json.dumps(
            [
                {"flow": flow.get("name", "main"), "from": "sender", "to": "receiver"}
                | numbers(self._scenario, number, self._repetition)
                for number, flow in enumerate(self._scenario.get("flow", [{}]))
            ]
        )

    def columns(self) -> dict[str, dict[str, np.ndarray]]:
        return {name: columns for name, columns in tables(self._scenario).items() if name in self._record}

    def categories(self) -> dict[str, list[str]]:
        return CATEGORIES


def version() -> str:
    return "0.0.0-fake"


def registry() -> str:
    entries = []
    for seam, name in (("detect", "none"), ("detect", "eifel-timestamps"), ("respond", "option-1")):
        minimum = {"name": "minimum_ms", "kind": "milliseconds", "default": 1000}
        parameters = [] if name == "none" else [minimum | {"minimum": 0, "maximum": None, "allowed": None}]
        entries.append(
            {
                "seam": seam,
                "name": name,
                "summary": "it <b>",
                "source": "RFC 3522",
                "association": False,
                "parameters": parameters,
            }
        )
    return json.dumps(entries)


def attacks() -> str:
    described = {"summary": "it [b]attacks", "source": "RFC 5961", "defence": "it is answered"}
    return json.dumps([{"name": name} | described for name in ("t01-kept", "t02-broken")])


def attack(name: str) -> str:
    finding = {"what": "alive", "unit": "states", "limit": "at most", "bound": 20000, "timed": False}
    told = {"what": "gain", "unit": "times", "limit": "reported", "bound": None, "timed": False}
    broken = name == "t02-broken"
    return json.dumps(
        [finding | {"measured": 30000 if broken else 5, "holds": not broken}, told | {"measured": 1.25, "holds": True}]
    )


def schema() -> str:
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema"})


def parse(text: str) -> dict[str, Any]:
    return json.loads(text) if text.startswith("{") else tomllib.loads(text)


def document(text: str, origin: str) -> str:
    return json.dumps(parse(text))


def check(text: str, origin: str) -> None:
    try:
        scenario = parse(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{origin}:1: {error}") from None
    known = (
        "title",
        "seed",
        "repetitions",
        "duration_s",
        "flow",
        "link",
        "node",
        "spike",
        "dumbbell",
        "point_to_point",
        "header_bytes",
    )
    for key in scenario:
        if key not in known:
            raise ScenarioError(f"{origin}:1: {key}: unknown key, allowed: {', '.join(known)}")


NUMBERS = [
    "completed",
    "time_s",
    "bytes",
    "segments_sent",
    "retransmissions",
    "spurious_retransmissions",
    "timeouts",
    "timeout_episodes",
    "spurious_timeouts",
    "genuine_timeouts",
    "genuine_timeouts_wait_s",
    "fast_retransmits",
    "spurious_fast_retransmits",
    "detected_spurious",
    "undos",
    "drops",
    "drops_after_undo",
    "goodput_bps",
]


def run(text: str, origin: str, repetition: int, record: list[str]) -> Run:
    check(text, origin)
    return Run(parse(text), repetition, list(record))


def record(  # noqa: PLR0917 - as the engine has it
    text: str,
    origin: str,
    repetition: int,
    tables: list[str],
    captures: list[tuple[str, str]],
    payload: bool,
    sink: Any,
) -> Run:
    made = run(text, origin, repetition, tables)
    for name, columns in made.columns().items():
        sink(name, columns, {c: CATEGORIES[f"{name}.{c}"] for c in columns if f"{name}.{c}" in CATEGORIES})
    for node, file in captures:
        Path(file).write_bytes(b"\x0a\x0d\x0d\x0a" + node.encode())
    return made


def run_many(
    scenarios: list[tuple[str, str]],
    ranges: list[tuple[int, int, int]],
    threads: int | None = None,
    progress: Any = None,
    keep_going: bool = False,
) -> tuple[dict[str, np.ndarray], list[tuple[int, int, str]]]:
    rows: list[dict[str, float]] = []
    runs = [(scenario, first + number) for scenario, first, count in ranges for number in range(count)]
    parsed = [parse(text) for text, _ in scenarios]
    for done, (number, repetition) in enumerate(runs, start=1):
        scenario = parsed[number]
        for flow in range(len(scenario.get("flow", [{}]))):
            row = {"scenario": number, "repetition": repetition, "flow": flow}
            rows.append(row | numbers(scenario, flow, repetition))
        if progress is not None:
            progress(done, len(runs))
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}, []


def numbers(scenario: dict[str, Any], flow: int, repetition: int) -> dict[str, Any]:
    draw = np.random.default_rng([scenario.get("seed", 1), flow, repetition])
    flows = scenario.get("flow", [{}])
    eifel = flows[flow].get("sender", {}).get("detect", "none") != "none"
    time_s = float((40 if eifel else 140) + draw.normal(0, 5))
    return {
        "completed": True,
        "time_s": time_s,
        "bytes": 5_000_000,
        "segments_sent": 5100 if eifel else 5240,
        "retransmissions": 100 if eifel else 240,
        "spurious_retransmissions": 2 if eifel else 200,
        "timeouts": 5,
        "timeout_episodes": 2,
        "spurious_timeouts": int(draw.integers(1, 3)) if eifel else int(draw.integers(4, 6)),
        "genuine_timeouts": 0,
        "genuine_timeouts_wait_s": 0.0,
        "fast_retransmits": 1,
        "spurious_fast_retransmits": 1,
        "detected_spurious": int(eifel),
        "undos": int(eifel),
        "drops": 3,
        "drops_after_undo": 0,
        "goodput_bps": 40e6 / time_s,
    }


def tables(scenario: dict[str, Any], count: int = 60) -> dict[str, dict[str, np.ndarray]]:
    """Returns a transfer over 30 kbps that a spike holds from 4 to 10 s: a timeout at 7 s, then go-back-N."""
    mss = 1000
    packet = mss * 8 / 30_000
    sent = [(0.1 + i * packet, i, 0, -1) for i in range(14)]
    sent += [(7.0, 6, 1, 0)] + [(10.3 + i * packet / 2, 7 + i, 1, 0) for i in range(8)]
    sent += [(12.6 + i * packet, 14 + i, 0, -1) for i in range(count - 14)]
    sent += [(18.2, 20, 1, 1)]
    sent.sort()
    t = np.array([round(row[0] * 1e9) for row in sent])
    number = np.array([row[1] for row in sent])
    again = np.array([row[2] for row in sent])
    transmissions = {
        "t_ns": t,
        "flow": np.zeros(len(t), np.int64),
        "end": np.zeros(len(t), np.uint8),
        "tx": np.arange(len(t)),
        "start": 1 + number * mss,
        "len": np.full(len(t), mss),
        "segment": number + 1,
        "kind": again.astype(np.int8),
        "cause": np.array([row[3] + 1 for row in sent], np.uint8),
        "copy": again.copy(),
        "fate": np.where((number == 20) & (again == 0), 1, 0).astype(np.int8),
        "arrived_ns": t + 600_000_000,
        "needed": np.where(again == 1, np.where(number == 20, 1, 2), 0).astype(np.uint8),
    }
    acked = np.array([i for i in range(count) if i not in range(20, 24)])
    at = np.array([0.9 + i * packet + (6.0 if i >= 6 else 0.0) for i in acked])
    none = np.full(len(acked), -1)
    acks = {
        "t_ns": np.round(at * 1e9).astype(np.int64),
        "flow": np.zeros(len(acked), np.int64),
        "cumulative": 1 + (acked + 1) * mss,
        "echo": none.copy(),
        "duplicate": np.zeros(len(acked), bool),
        "dsack_start": none.copy(),
        "dsack_end": none.copy(),
    }
    for block in (1, 2, 3):
        for end in ("start", "end"):
            acks[f"sack{block}_{end}"] = none.copy()
    hole = (at > 15) & (at < 18)
    acks["sack1_start"][hole] = 1 + 21 * mss
    acks["sack1_end"][hole] = 1 + (21 + np.arange(1, hole.sum() + 1)) * mss
    w = np.round(np.linspace(0.5, 22, 80) * 1e9).astype(np.int64)
    cwnd = np.where(w < 7e9, 2000 + w // 500_000, np.where(w < 10.2e9, 1000, 1000 + (w - 10_200_000_000) // 800_000))
    window = {
        "t_ns": w,
        "flow": np.zeros(80, np.int64),
        "cwnd": cwnd,
        "ssthresh": np.where(w < 7e9, 2**62, 7000),
        "flight": np.minimum(cwnd, 8000),
        "peer_window": np.full(80, 150_000),
        "una": w // 300_000,
        "nxt": w // 300_000 + 8000,
    }
    s = acks["t_ns"]
    rtt = np.where((at > 9.5) & (at < 12), 6_500_000_000, 900_000_000)
    events = np.zeros(len(s), np.int8)
    timer = {
        "t_ns": np.append(s[:6], np.append([7_000_000_000], s[6:])),
        "flow": np.zeros(len(s) + 1, np.int64),
        "event": np.insert(events, 6, 2),
        "rtt_ns": np.insert(rtt, 6, -1),
        "srtt_ns": np.insert((rtt * 0.9).astype(np.int64), 6, 850_000_000),
        "rttvar_ns": np.insert(rtt // 4, 6, 200_000_000),
        "rto_ns": np.insert(rtt * 2, 6, 3_600_000_000),
        "deadline_ns": np.insert(s + 2 * rtt, 6, 10_600_000_000),
    }
    eifel = scenario.get("flow", [{}])[0].get("sender", {}).get("detect", "none") != "none"
    episodes = {
        "flow": np.zeros(2, np.int64),
        "episode": np.arange(2),
        "opened_ns": np.array([7_000_000_000, 18_200_000_000]),
        "cause": np.array([1, 2], np.uint8),
        "start": np.array([6001, 20001]),
        "recovery_point": np.array([14001, 30001]),
        "timeouts": np.array([1, 0]),
        "closed_ns": np.array([12_500_000_000, -1]),
        "saved_cwnd": np.array([8000, 9000]),
        "saved_ssthresh": np.array([2**62, 7000]),
        "saved_srtt_ns": np.array([600_000_000, 600_000_000]),
        "verdict": np.array([1 if eifel else 0, 0], np.int8),
        "verdict_ns": np.array([10_300_000_000 if eifel else -1, -1]),
        "truth": np.array([1, 2], np.uint8),
    }
    drops = {
        "t_ns": np.array([t[(number == 20) & (again == 0)][0]]),
        "link": np.zeros(1, np.int8),
        "flow": np.zeros(1, np.int64),
        "tx": np.array([transmissions["tx"][(number == 20) & (again == 0)][0]]),
        "cause": np.ones(1, np.int8),
    }
    spikes = {
        "link": np.array([0, 1], np.int8),
        "start_ns": np.array([4_000_000_000] * 2),
        "end_ns": np.array([10_000_000_000] * 2),
    }
    return {
        "transmissions": transmissions,
        "acks": acks,
        "drops": drops,
        "window": window,
        "timer": timer,
        "episodes": episodes,
        "spikes": spikes,
    }


def number(value: float | None, half_width: float | None = None) -> str:
    return real.number(value, half_width)
