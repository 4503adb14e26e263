"""The description of a captured path, for each quantity that a capture can leave open."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from eifel.captured_path import CapturedPath

SEEN: dict[str, Any] = {
    "sender": "10.0.0.1:5001",
    "receiver": "10.0.0.2:80",
    "path": {
        "rate_bps": 2_345_678.0,
        "rate_seen": True,
        "base_rtt_ms": 101.25,
        "queue": {"largest_packets": 17, "overflowed": True},
        "losses": {"at_queue": 3, "random": 0, "of": 812},
        "acks": {"lost": 0, "delay_seen": True},
        "reordering": {"packets": 0, "length": 0},
        "holds": [],
    },
    "replay": {"compared": [{"what": "timeouts", "captured": 1.0, "replayed": 1.0, "agrees": True}]},
}


class Engine:
    """A fake of the engine's extracted path."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.found = found

    def json(self) -> str:
        return json.dumps(self.found)

    def scenario(self) -> str:
        return json.dumps({"duration_s": 3, "flow": [{"name": "main"}]})


def path(**changes: Any) -> CapturedPath:
    found = copy.deepcopy(SEEN)
    for key, value in changes.items():
        part = found["path"][key]
        found["path"][key] = {**part, **value} if isinstance(part, dict) else value
    return CapturedPath(Engine(found))  # type: ignore[arg-type]


HOLDS = [
    {"kind": "open", "start_s": [1.0, 1.25], "end_s": 3.5},
    {"kind": "behind", "start_s": [7.1234, 7.2], "end_s": 8.98765},
]


@pytest.mark.parametrize(
    ("changes", "opens"),
    [
        ({}, []),
        ({"rate_seen": False}, ["the rate: packets never waited for each other, so it is at least this"]),
        (
            {"queue": {"overflowed": False}},
            ["the queue's limit: it held 17 packets and never overflowed"],
        ),
        ({"losses": {"random": 5}}, ["which packets are lost: 5 of 812 were at random"]),
        ({"acks": {"lost": 4}}, ["which ACKs are lost: about 4 were"]),
        ({"reordering": {"packets": 6}}, ["which packets are overtaken: 6 were"]),
        ({"acks": {"delay_seen": False}}, ["how long the receiver delays an ACK"]),
        (
            {"holds": HOLDS},
            [
                "when the hold until 3.500 s began: from 1.000 to 1.250 s; and where it held packets",
                "when the hold until 8.988 s began: from 7.123 to 7.200 s",
            ],
        ),
    ],
)
def test_an_extracted_path_names_the_settings_that_its_capture_leaves_open(
    changes: dict[str, Any], opens: list[str]
) -> None:
    found = path(**changes)
    assert found.open_quantities() == opens
    text = found.toml()
    assert [line for line in text.splitlines() if line.startswith("# Open")] == [f"# Open: {one}." for one in opens]
    assert "that 10.0.0.1:5001 had to 10.0.0.2:80" in text and "events agree with the capture's." in text


def test_a_path_is_summed_up_in_lines() -> None:
    assert path().summary().splitlines() == [
        "10.0.0.1:5001 -> 10.0.0.2:80: 2.346 Mbit/s, round trip 101.2 ms, a queue of 17 packets",
        "lost 3 packets at the full queue and 0 others of 812, about 0 ACKs; 0 packets overtaken by 0",
    ]
    opens = path(rate_seen=False, queue={"overflowed": False}, holds=HOLDS, acks={"lost": 9})
    assert opens.summary().splitlines() == [
        "10.0.0.1:5001 -> 10.0.0.2:80: at least 2.346 Mbit/s, round trip 101.2 ms, a queue of 17 or more packets",
        "lost 3 packets at the full queue and 0 others of 812, about 9 ACKs; 0 packets overtaken by 0",
        "held for 2.375 s until 3.500 s (open)",
        "held for 1.826 s until 8.988 s (behind)",
    ]


def test_a_path_whose_replay_differs_is_refused() -> None:
    found = copy.deepcopy(SEEN)
    found["replay"]["compared"] += [
        {"what": "retransmissions", "captured": 12.0, "replayed": 9.0, "agrees": False},
        {"what": "bytes", "captured": 5.0, "replayed": 6.12345, "agrees": False},
    ]
    one = CapturedPath(Engine(found))  # type: ignore[arg-type]
    why = "retransmissions: 12 captured, 9 replayed; bytes: 5 captured, 6.123 replayed"
    assert one.refused == f"the replayed sender differs from the captured one in {why}"
    assert f"not trustworthy, for {one.refused}." in one.toml()
    assert path().refused is None
