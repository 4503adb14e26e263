"""Computations of papers and studies, on runs of a few rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eifel.papers.dualrtt import nrtt, sessions, settings
from eifel.papers.live import wire
from eifel.papers.responding import figures8_and_9
from eifel.papers.thesis import timing
from eifel.sweeps import Design, Folder, load, sweep
from eifel.tables import Frame


class Run:
    """A run with some tables."""

    def __init__(self, **tables: dict[str, list[Any]]) -> None:
        self.tables = {name: Frame({key: np.array(of) for key, of in table.items()}) for name, table in tables.items()}

    def of(self, name: str, flow: int = 0) -> Frame:
        assert flow == 0
        return self.tables[name]


MS = 1_000_000


def test_a_round_trip_counts_from_the_last_sending_of_the_highest_segment() -> None:
    sent = {"start": [0, 100, 0, 200, 300], "len": [100] * 5, "t_ns": [MS, 2 * MS, 30 * MS, 40 * MS, 60 * MS]}
    # The second transmission of the first segment counts. 150 is no segment's end. A repeated ACK,
    # and an ACK for a segment sent at its own time, give no value.
    acks = {
        "t_ns": [35 * MS, 45 * MS, 46 * MS, 47 * MS, 60 * MS, 75 * MS],
        "cumulative": [100, 150, 200, 200, 300, 400],
    }
    run = Run(transmissions=sent, acks=acks)
    instants, values = nrtt.series(run)  # type: ignore[arg-type]
    assert instants.tolist() == [0.035, 0.046, 0.060, 0.075]
    assert values.tolist() == pytest.approx([0.005, 0.044, 0.020, 0.015])
    assert nrtt.at(run, 0.06) == pytest.approx(0.020)  # type: ignore[arg-type]
    assert nrtt.at(run, 0.12) == pytest.approx(0.015)  # type: ignore[arg-type]
    with pytest.raises(LookupError, match=r"no ACK near 0\.13 s"):
        nrtt.at(run, 0.13)  # type: ignore[arg-type]
    with pytest.raises(LookupError):
        nrtt.at(Run(transmissions=sent, acks={"t_ns": [], "cumulative": []}), 0)  # type: ignore[arg-type]
    # A segment that leaves at the time of an ACK leaves because of it, so the ACK does not answer
    # it.
    late = Run(transmissions={"start": [0, 0], "len": [9, 9], "t_ns": [0, 50]}, acks={"t_ns": [50], "cumulative": [9]})
    assert nrtt.series(late)[1].tolist() == [50e-9]  # type: ignore[arg-type]


def test_a_time_in_ticks_is_whole_and_one_at_least() -> None:
    tick_s = settings.TICK_MS / 1000
    shown = [nrtt.in_ticks(part * tick_s) for part in (0, 0.9, 1.0001, 1.9, 2.0001, 7.5)]
    assert shown == pytest.approx([tick_s, tick_s, tick_s, tick_s, 2 * tick_s, 7 * tick_s])


def test_a_window_in_a_round_trip_fills_this_rate() -> None:
    for protocol, options in (("reno", 0), ("eifel", 12)):
        packet_bits = 8 * (settings.PAYLOAD_BYTES + 40 + options)
        rate_kbps = settings.WINDOW_SEGMENTS * packet_bits / (2 * settings.DELAY_MS)
        assert sessions.saturation_kbps(protocol) == pytest.approx(rate_kbps)
        assert sessions.saturated_segments(protocol) == pytest.approx(rate_kbps * 150_000 / packet_bits)


def episodes(*bounds: tuple[int, int]) -> dict[str, list[Any]]:
    return {
        "cause": ["fast-retransmit"] * len(bounds),
        "opened_ns": [opened for opened, _ in bounds],
        "closed_ns": [closed for _, closed in bounds],
    }


@pytest.mark.parametrize(
    "found",
    [
        episodes((10, 20), (30, 40), (50, 60)),
        episodes((10, 20), (30, -1), (50, 60), (70, 80)),
        episodes((10, 20)),
    ],
)
def test_fewer_than_three_cycles_are_refused(found: dict[str, list[Any]]) -> None:
    with pytest.raises(LookupError, match="fewer than three load cycles"):
        timing.timed(run_of(found))  # type: ignore[arg-type]


def run_of(found: dict[str, list[Any]]) -> Run:
    instants = list(range(5, 100, 5))
    samples = {
        "event": ["sample"] * len(instants),
        "t_ns": instants,
        "rtt_ns": [1_000 + t for t in instants],
        "rto_ns": [3_000 + t for t in instants],
        "deadline_ns": [4_000 + t for t in instants],
    }
    return Run(
        timer=samples,
        episodes=found,
        window={"t_ns": [0, 50], "una": [0, 100]},
        transmissions={"kind": ["new", "new"], "start": [0, 100], "t_ns": [1, 30]},
    )


def test_cycles_run_from_the_end_of_a_recovery_to_the_next() -> None:
    # An open episode is the last one.
    found = timing.timed(run_of(episodes((10, 20), (30, 40), (50, 60), (70, -1))))  # type: ignore[arg-type]
    assert [found.t_s[cycle].tolist() for cycle in found.cycles] == [
        pytest.approx([25e-9, 30e-9]),
        pytest.approx([45e-9, 50e-9]),
        pytest.approx([65e-9, 70e-9]),
    ]
    assert found.steady == slice(found.cycles[1].start, found.cycles[2].stop)
    assert found.rtt_s[0] == pytest.approx(1005e-9)
    # The RTO before a sample is that of the previous sample.
    assert np.isnan(found.rto_s[0]) and found.rto_s[1] == pytest.approx(3005e-9)
    # The oldest outstanding segment was sent at 1 until 100 bytes were acknowledged, and then at
    # 30.
    assert found.rexmt_s[[8, 9]].tolist() == pytest.approx([(4045 - 1) * 1e-9, (4050 - 30) * 1e-9])


def recorded(*instants: int, verdict: str = "spurious", verdict_ns: int = 90 * MS) -> Run:
    again = {
        "kind": ["retransmission"] * len(instants),
        "t_ns": list(instants),
        **{name: [number for number, _ in enumerate(instants)] for name in ("segment", "copy")},
        "cause": ["timeout"] * len(instants),
        "needed": ["spurious"] * len(instants),
    }
    told = {"episode": [0], "verdict": [verdict], "reason": ["said so"], "t_ns": [verdict_ns]}
    return Run(transmissions=again, verdicts=told)


def test_the_difference_of_two_runs_is_the_largest_of_any_event() -> None:
    simulated = recorded(10 * MS, 30 * MS)
    assert wire.difference_ms(simulated, simulated) == 0  # type: ignore[arg-type]
    assert wire.difference_ms(simulated, recorded(12 * MS, 25 * MS)) == 5  # type: ignore[arg-type]
    assert wire.difference_ms(simulated, recorded(12 * MS, 25 * MS, verdict_ns=97 * MS)) == 7  # type: ignore[arg-type]
    assert wire.difference_ms(simulated, recorded(10 * MS, 30 * MS, verdict="genuine")) == float("inf")  # type: ignore[arg-type]


def design(**more: Any) -> Design:
    flow = {"name": "main", "from": "sender", "to": "receiver", "application": {"kind": "bulk", "bytes": 1000}}
    path = {"rate_bps": 1_000_000, "delay_ms": 10, "queue": {"kind": "drop-tail", "packets": 9}}
    scenario = {"duration_s": 5, "point_to_point": path, "flow": [flow]}
    return load({"title": "kinds", "scenario": scenario, "repetitions": 1, **more})


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({"product": {"duration_s": [1, 2]}}, "int"),
        ({"product": {"duration_s": [1, 2.5]}}, "float"),
        ({"random": {"points": 2, "duration_s": {"uniform": [1, 2]}}}, "float"),
        ({"random": {"points": 2, "duration_s": {"uniform": [1, 20], "whole": True}}}, "int"),
        ({"random": {"points": 2, "duration_s": {"choice": [1, 2]}}}, "int"),
    ],
)
def test_the_kind_of_a_key_is_that_of_all_its_values(more: dict[str, Any], kind: str) -> None:
    assert design(**more).kind("duration_s") == kind


def test_shards_are_read_in_their_order_whatever_the_folder_lists_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = design(product={"duration_s": [1, 2, 3]}, shard_runs=1)
    found = sweep(asked, out=tmp_path / "swept").table()
    assert found["duration_s"].to_pylist() == [1, 2, 3]
    listed = Path.glob
    monkeypatch.setattr(Path, "glob", lambda place, pattern: iter(sorted(listed(place, pattern), reverse=True)))
    assert Folder(tmp_path / "swept").table().equals(found)


def test_a_window_is_reduced_every_time_only_if_it_is_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures8_and_9.facts, "timeout_episodes", lambda run, _: run.of("episodes"))
    monkeypatch.setattr(figures8_and_9.facts, "window_at", lambda run, t_ns: 10)
    monkeypatch.setattr(figures8_and_9.facts, "window_after", lambda run, t_ns: t_ns)
    for opened, reduced in (([], False), ([9], True), ([5, 9], True), ([5, 10], False), ([11, 12], False)):
        assert figures8_and_9._reduces_every_time(Run(episodes={"opened_ns": opened})) == reduced  # type: ignore[arg-type]
