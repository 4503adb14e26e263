"""Summaries of recorded runs: detectors' verdicts, queueing delays, and fairness between flows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import eifel
from eifel.cli import OK, main
from eifel.observed import observe
from eifel.scenario import load

SPIKE = Path(__file__).parents[2] / "examples" / "spike.toml"
QUEUE = """
duration_s = 10
header_bytes = 40
point_to_point = { rate_bps = 832_000, delay_ms = 50, queue = { kind = "unlimited" } }
[[flow]]
name = "main"
from = "sender"
to = "receiver"
handshake = false
application = { kind = "bulk", bytes = 10_000 }
tcp = { payload_bytes = 1000 }
sender = { congest = { name = "reno", initial_window_segments = 10 } }
"""


def test_every_detector_is_judged_by_the_oracle(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["run", str(SPIKE), "--set", 'flow.main.sender.observers=["dsack", "f-rto-sack", "min-rtt"]']
    assert main([*asked, "--json"]) == OK
    told = {one["name"]: one for one in json.loads(capsys.readouterr().out)["detectors"]}
    assert list(told) == ["eifel-timestamps", "dsack", "f-rto-sack", "min-rtt"]
    # There is one episode, and it is spurious. The first ACK after the spike comes at 40 s and
    # reveals it at once.
    for one in told.values():
        assert one["right"] + one["wrong"] + one["missed"] + one["silent"] == 1
        assert one["flow"] == "main"
    assert told["eifel-timestamps"]["right"] == 1
    result = eifel.run(SPIKE)
    episode = result.of("episodes")
    delay_ms = (episode["verdict_ns"][0] - episode["opened_ns"][0]) / 1e6
    assert told["eifel-timestamps"]["delay_ms"] == pytest.approx(delay_ms)
    # A needless copy has to arrive before a DSACK can report it.
    assert told["dsack"]["right"] == 1 and told["dsack"]["delay_ms"] > delay_ms
    assert main(asked) == OK
    shown = capsys.readouterr().out
    assert "missed: spurious, and nothing said" in shown and "min-rtt" in shown


def test_ten_packets_that_leave_at_once_wait_for_each_other() -> None:
    # 1040 bytes at 832 kbit/s take 10 ms each: the first packet waits 0 ms, the last 90.
    found = observe(load(QUEUE), repetitions=range(2)).queueing_ms[0]
    assert found is not None
    assert found["mean"].mean == pytest.approx(45.0)
    assert found["p95"].mean == pytest.approx(np.quantile(np.arange(0, 100, 10), 0.95))
    assert found["mean"].half_width == 0.0


def test_the_summary_has_them_and_json_always_the_same_keys(capsys: pytest.CaptureFixture[str]) -> None:
    keys = set()
    for more in ([], ["-v"], ["--repetitions", "2"], ["--repetitions", "2", "-v"]):
        assert main(["run", str(SPIKE), "--set", "duration_s=60", "--json", *more]) == OK
        told = json.loads(capsys.readouterr().out)
        keys.add(tuple(told))
        assert (told["queueing_ms"] is None) == ("-v" not in more)
        assert told["fairness"] is None
    assert len(keys) == 1
    assert main(["run", str(SPIKE), "-v"]) == OK
    shown = capsys.readouterr().out
    assert "queueing delay, ms" in shown and "eifel-timestamps" in shown
