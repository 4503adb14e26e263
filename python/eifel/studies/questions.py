"""The small worlds of detectors and responses: the connections, and the search."""

from collections.abc import Mapping
from typing import Any

from eifel.papers import rfc3522
from eifel.papers.study import Effort, Progress
from eifel.studies.settings import RESPONSES
from eifel.worlds import small_worlds_each

SEGMENTS = 6
WINDOW = 4
MSS = 1000
LATE_MS = (10, 60)
"""The delay of a packet beyond the expiry of the timer: it arrives before or after the packets sent then."""

DETECTORS: dict[str, tuple[Any, dict[str, Any]]] = {
    "none": ("none", {}),
    "eifel-timestamps": ("eifel-timestamps", {"timestamps": True}),
    "eifel-timestamps, plain": (dict(rfc3522.PLAIN), dict(rfc3522.CLOCK)),
    "eifel-or-f-rto": ("eifel-or-f-rto", {"timestamps": True}),
    "eifel-bit": ("eifel-bit", {"retransmission_marks": "bits"}),
    "f-rto": ("f-rto", {}),
    "f-rto-sack": ("f-rto-sack", {}),
    "dsack": ("dsack", {}),
    "dual-rtt": ("dual-rtt", {}),
    "min-rtt": ("min-rtt", {}),
}
"""Each detector with the connection settings that it needs. Timestamps are off unless needed, since
working without them is a detector's advantage.
"""
FAILURES = ("false-verdict", "missed", "undecided", "false-undo", "loss-undone", "unpaid", "needless-cut", "stuck")
"""The possible failures in a world; see docs/internals/worlds.md."""


def scenario(detect: str, respond: str) -> dict[str, Any]:
    """Returns a connection whose window is constant at four segments until something happens."""
    sender, tcp = DETECTORS[detect]
    congest = {"name": "reno", "initial_window_segments": WINDOW, "initial_ssthresh_bytes": WINDOW * MSS}
    return {
        "duration_s": 60,
        "point_to_point": {"rate_bps": 1_000_000, "delay_ms": 50},
        "flow": [
            {
                "name": "main",
                "from": "sender",
                "to": "receiver",
                "application": {"kind": "bulk", "bytes": 20 * MSS},
                "tcp": {"payload_bytes": MSS, "timestamps": False, "sack": True, **tcp},
                "sender": {"detect": sender, "respond": respond, "congest": congest},
            }
        ],
    }


def questions() -> list[tuple[str, str, int]]:
    """Returns detector, response and lateness of each row. Without a detector there is no response."""
    return [(detect, respond, late) for detect, late, responds in _asked() for respond in responds]


def _asked() -> list[tuple[str, int, tuple[str, ...]]]:
    """Returns what is searched together: a detector and a lateness, with every response."""
    return [(detect, late, RESPONSES if detect != "none" else ("none",)) for late in LATE_MS for detect in DETECTORS]


def find(effort: Effort) -> Mapping[str, Any]:
    """Searches one detector after another with all its responses, on all threads. Finished results are stored."""
    asked = _asked()

    def one(number: int, progress: Progress) -> dict[str, list[Any]]:
        detect, late, responds = asked[number]
        found = small_worlds_each(
            scenario(detect, responds[0]),
            responds,
            segments=SEGMENTS,
            late_ms=late,
            threads=effort.threads,
            progress=lambda done, _: progress(done),
        ).values()
        failed = {name.replace("-", "_"): [each.failed[name].worlds for each in found] for name in FAILURES}
        worlds, caught = [each.counts["worlds"] for each in found], [each.caught for each in found]
        return {"worlds": worlds, "caught": caught, **failed}

    sizes = [len(responds) << 4 * SEGMENTS for _, _, responds in asked]
    return effort.parts("small_worlds", {"questions": asked, "scenario": scenario("none", "none")}, sizes, one)
