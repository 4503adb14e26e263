"""The judgement of detectors: the counts over episodes, and the mix of situations."""

import numpy as np
import pytest

import eifel
from eifel import _engine, toml
from eifel.papers.study import Effort
from eifel.statistics import percent_interval
from eifel.studies import detector_runs, facts, judged
from eifel.studies.judged import (
    FAST_RETRANSMIT,
    GENUINE,
    MIXED,
    NEEDED,
    NEEDLESS,
    SPURIOUS,
    TIMEOUT,
    UNDECIDED,
)
from eifel.studies.situations import SITUATIONS


def path(**link: object) -> dict:
    """Returns 1 Mbit/s and 50 ms each way, eight segments in flight, and an observer of each kind."""
    flow = {
        "name": "main",
        "from": "sender",
        "to": "receiver",
        "application": {"kind": "bulk", "segments": 200},
        "handshake": False,
        "tcp": {"receive_window_segments": 8, "delayed_ack_every": 1},
        "sender": {"detect": "none", "observers": ["eifel-timestamps", "dsack"], "respond": "none"},
    }
    return {"duration_s": 60, "point_to_point": {"rate_bps": 1_000_000, "delay_ms": 50, **link}, "flow": [flow]}


WATCH = {"eifel": "eifel-timestamps", "dsack": "dsack"}


def judge(scenario: dict) -> dict[str, list]:
    columns = judged.judged(eifel.run(scenario, record=judged.TABLES), WATCH)
    return {name: values.tolist() for name, values in columns.items()}


def test_a_spike_is_found_at_its_end_and_by_dsack_a_round_trip_later() -> None:
    spike = {"links": ["bottleneck"], "holds": "arriving", "at": [{"start_s": 1, "end_s": 2.5}]}
    seen = judge({**path(), "spike": [spike]})
    assert seen["detector"] == [0, 1]
    assert seen["cause"] == [TIMEOUT] * 2
    assert seen["truth"] == [NEEDLESS] * 2
    assert seen["verdict"] == [SPURIOUS] * 2
    assert seen["lost"] == [False] * 2
    early, late = seen["delay_rtts"]
    assert 3 < early < late < early + 3
    # The first retransmission alone, and most of the window.
    first, more = seen["needless_bytes"]
    assert first == 1448
    assert 2 * first < more <= 9 * first
    # Timestamps on 200 segments, their copies and as many ACKs, and a DSACK for each copy.
    headers, blocks = seen["header_bytes"]
    assert 2 * 200 * 12 < headers < 2 * 215 * 12
    assert 8 * more / first <= blocks <= 12 * 9


def test_a_loss_is_no_spurious_retransmission() -> None:
    seen = judge(path(drops={"flow": "main", "segments": [100]}))
    assert seen["cause"] == [FAST_RETRANSMIT] * 2
    assert seen["truth"] == [NEEDED] * 2
    assert seen["needed_bytes"] == [1448] * 2
    assert seen["verdict"] == [GENUINE] * 2
    assert seen["lost"] == [True] * 2
    assert seen["needless_bytes"] == [0, 0]


def test_a_loss_beside_a_needless_retransmission_is_marked() -> None:
    spike = {"links": ["bottleneck"], "holds": "sending", "at": [{"start_s": 1, "end_s": 2.5}]}
    seen = judge({**path(queue={"kind": "drop-tail", "packets": 6}), "spike": [spike]})
    assert (MIXED, True) in zip(seen["truth"], seen["lost"], strict=True)


def test_an_episode_that_begins_needlessly_and_repairs_a_loss_later_is_mixed() -> None:
    # Segment 100 is held until its timer expires. 103 of the same window is lost, and go-back-N
    # repairs it.
    spike = {"links": ["bottleneck"], "holds": "arriving", "at": [{"start_s": 1.0, "end_s": 2.5}]}
    lossless = judge({**path(), "spike": [spike]})
    again = eifel.run({**path(), "spike": [spike]}, record=judged.TABLES).of("transmissions")
    first = int(again["segment"][again["kind"] == "retransmission"][0])
    mixed = judge({**path(drops={"flow": "main", "segments": [first + 3]}), "spike": [spike]})
    assert lossless["truth"][0] == NEEDLESS
    assert lossless["needed_bytes"][0] == 0
    assert (mixed["truth"][0], mixed["verdict"][0]) == (MIXED, SPURIOUS)
    assert mixed["needed_bytes"][0] == 1448


def test_shares_are_of_the_episodes_of_their_kind() -> None:
    columns = {
        "truth": np.array([NEEDLESS] * 4 + [NEEDED] * 2 + [MIXED] * 4),
        "verdict": np.array([SPURIOUS, SPURIOUS, GENUINE, UNDECIDED] + [SPURIOUS, GENUINE] * 2 + [GENUINE, UNDECIDED]),
        "lost": np.array([False, False, True, False] + [True] * 6),
        "cause": np.array([TIMEOUT, TIMEOUT, TIMEOUT, FAST_RETRANSMIT] + [TIMEOUT] * 6),
        "delay_rtts": np.array([1.0, 3, 1, np.nan, 1, 1, 1, 1, 1, np.nan]),
        "needless_bytes": np.array([0, 0, 0, 60, 0, 0, 40, 0, 0, 0]),
        "needed_bytes": np.array([0, 0, 0, 0, 1000, 1000, 3000, 1000, 1000, 1000]),
        "header_bytes": np.ones(10),
        "data_bytes": np.full(10, 1000.0),
    }
    means = {name: mean.mean for name, mean in facts.counts(columns).items()}
    assert means["found"] == pytest.approx(100 * 2 / 3)
    assert means["found_beside_loss"] == 0
    assert means["found_timeouts"] == pytest.approx(100 * 2 / 3)
    assert means["found_fast_retransmits"] == 0
    assert means["false"] == 50
    assert (means["mixed"], means["lost_bytes"]) == (25, 2000)
    names = ("true_positives", "false_negatives", "undecided_needless", "false_positives", "true_negatives")
    assert [means[name] for name in names] == [2, 1, 1, 1, 1]
    assert [means[name] for name in ("mixed_undone", "mixed_kept", "undecided_mixed")] == [1, 2, 1]
    assert (means["delay_rtts"], means["needless_bytes"], means["header_per_mille"]) == (2, 10, 1)
    none = {name: values[:0] for name, values in columns.items()}
    assert facts.counts(none).keys().isdisjoint({"found", "false", "delay_rtts", "needless_bytes"})


def test_a_fallback_speaks_where_the_first_is_silent() -> None:
    first = {
        "verdict": np.array([SPURIOUS, UNDECIDED]),
        "delay_rtts": np.array([1, np.nan]),
        "header_bytes": np.ones(2),
    }
    other = {"verdict": np.array([GENUINE, GENUINE]), "delay_rtts": np.array([5, 7.0]), "header_bytes": np.ones(2)}
    both = facts.fallen_back(first, other)
    assert both["verdict"].tolist() == [SPURIOUS, GENUINE]
    assert both["delay_rtts"].tolist() == [1, 7]
    assert both["header_bytes"].tolist() == [2, 2]


def test_either_of_two_detectors_decides_by_the_first_spurious_verdict() -> None:
    one = {
        "verdict": [GENUINE, UNDECIDED, SPURIOUS, SPURIOUS],
        "delay_rtts": [1, np.nan, 3, 1],
        "header_bytes": [1] * 4,
    }
    other = {"verdict": [SPURIOUS, GENUINE, SPURIOUS, GENUINE], "delay_rtts": [2, 4, 1, 2], "header_bytes": [1] * 4}
    both = facts.either(
        {name: np.array(values) for name, values in one.items()},
        {name: np.array(values) for name, values in other.items()},
    )
    assert both["verdict"].tolist() == [SPURIOUS, GENUINE, SPURIOUS, SPURIOUS]
    assert both["delay_rtts"].tolist() == [2, 4, 1, 1]
    assert both["header_bytes"].tolist() == [2] * 4


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.name)
def test_a_point_is_drawn_from_its_seed_and_number_alone(situation) -> None:
    for point in range(12):
        scenario = situation.scenario(1, point, {"detect": "none"})
        _engine.check(toml.dumps(scenario), "scenario")
        other = situation.scenario(1, point, {"detect": "f-rto"})
        assert {**scenario, "flow": 0} == {**other, "flow": 0}
        assert situation.scenario(2, point, {"detect": "none"}) != scenario


def test_detectors_that_watch_see_the_same_episodes_in_every_run() -> None:
    columns = detector_runs.PANEL.point_columns(SITUATIONS[0], seed=1, point=3)
    by_code = [columns["episode"][columns["detector"] == code] for code in range(len(detector_runs.PANEL.detectors))]
    watching = len(detector_runs.PANEL.runs[0].detectors) + len(detector_runs.PANEL.runs[1].detectors)
    assert len(by_code[0]) > 5
    for seen in by_code[1:watching]:
        assert seen.tolist() == by_code[0].tolist()


def test_interrupted_detector_runs_resume_with_the_missing_points(tmp_path) -> None:
    from dataclasses import replace

    few = [replace(SITUATIONS[3], points=3), replace(SITUATIONS[4], points=2)]
    seen: list[tuple[int, int]] = []
    effort = Effort(1, 1, 2, tmp_path, progress=lambda *at: seen.append(at))
    columns = detector_runs.PANEL.episodes(effort, "test.runs", few)
    assert seen[-1] == (5, 5)
    assert set(columns["situation"].tolist()) == {0, 1}
    assert set(columns["point"][columns["situation"] == 0].tolist()) == {0, 1, 2}
    seen.clear()
    again = detector_runs.PANEL.episodes(effort, "test.runs", few)
    assert seen == [(5, 5)]
    assert all((again[name] == values).all() for name, values in columns.items() if name != "delay_rtts")


def test_a_share_in_percent_keeps_the_ends_of_its_interval() -> None:
    share = percent_interval(4, 8)
    assert (share.mean, share.count) == (50.0, 8)
    assert share.interval == pytest.approx((21.5, 78.5), abs=0.1)
