"""What a detector of Python costs beside the same one in Rust: `.venv/bin/python benches/own_detector.py`.

The class is shown every ACK, or only those of episodes, which is the default. The engine must be of `make setup`.
"""

import sys
import time
from pathlib import Path
from typing import Any

import eifel

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "python"))

from own_detectors import MinRtt

RUNS = 5
SCENARIO: dict[str, Any] = {
    "duration_s": 120,
    "point_to_point": {"rate_bps": 20_000_000, "delay_ms": 20, "loss": {"kind": "random", "rate": 0.0005}},
    "flow": [
        {"name": "main", "from": "sender", "to": "receiver", "application": {"kind": "bulk", "endless": True}},
    ],
}


class EveryAck(MinRtt):
    """The same, and shown every ACK."""

    every_ack = True


def seconds(detect: Any) -> tuple[float, int]:
    """Returns the least processor time of several runs, and the segments sent."""
    taken = []
    for _ in range(RUNS):
        begin = time.process_time()
        result = eifel.run(SCENARIO, settings={"flow.main.sender.detect": detect}, record=())
        taken.append(time.process_time() - begin)
    return min(taken), result.main["segments_sent"]


def main() -> None:
    rust, segments = seconds("min-rtt")
    print(f"{segments} segments; min-rtt in Rust {rust:.3f} s")
    for name, detect in (("in Python", MinRtt), ("in Python, every ACK", EveryAck)):
        taken, _ = seconds(detect)
        more_ns = 1e9 * (taken - rust) / segments
        print(f"{name} {taken:.3f} s: {taken / rust:.1f} times as long, {more_ns:.0f} ns more a segment")


if __name__ == "__main__":
    main()
