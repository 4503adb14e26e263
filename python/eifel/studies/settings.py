"""The runs of `detectors.burst` and `detectors.responses`."""

from typing import Any

from eifel.flows import main_flow
from eifel.papers.artefact import Setting

RTT_MS = 200
PATH_PACKETS = 60
BUFFERS = (8, 15, 30, 60, 120)
RUNS = 24
HELD_S = 0.08

BURST_LEFT_OPEN = (
    Setting("round trip", f"{RTT_MS} ms", "the report measured 198.6 ms"),
    Setting("sender", "Reno's window, RACK-TLP", "as gVisor's; their RACK does not widen its window on DSACK"),
    Setting("Linux's sender", 'profile = "linux"', "docs/reference/scenario.md says what it sets"),
    Setting("rate", f"3.6 Mbit/s: {PATH_PACKETS} packets in a round trip", "not stated; windows of about 30 were seen"),
    Setting("buffer", "8 to 120 packets", "not stated: that is what it turns on"),
    Setting(
        "reordering",
        f"3 packets in 1000, held {1000 * HELD_S:.0f} ms",
        "stated are 30 ms, and jitter that together with them went beyond RACK's quarter of a round trip (50 ms)",
    ),
)


def burst(buffer: int, detect: str, respond: str, pace: str = "none") -> dict[str, Any]:
    """Returns a minute of bulk transfer over a path that reorders. In more time RACK adapts, and fewer undos occur."""
    sender = {"detect": detect, "respond": respond, "recover": "rack-tlp", "rto": "linux", "pace": pace}
    return _burst(buffer, {"sender": sender})


def burst_on_wire(buffer: int, **sender: str) -> dict[str, Any]:
    """Returns the same transfer with Linux at both ends, but for the settings of `sender`."""
    return _burst(buffer, {"profile": LINUX, "sender": sender})


def _burst(buffer: int, ends: dict[str, Any]) -> dict[str, Any]:
    reorder = {"rate": 0.003, "length": PATH_PACKETS, "longest_wait_s": HELD_S}
    rate_bps = PATH_PACKETS * 1500 * 8 * 1000 // RTT_MS
    queue = {"kind": "drop-tail", "packets": buffer}
    flow = main_flow(application={"kind": "bulk", "endless": True}, handshake=False, **ends)
    path = {"rate_bps": rate_bps, "delay_ms": RTT_MS / 2, "queue": queue, "reorder": reorder}
    return {"duration_s": 60, "point_to_point": path, "flow": [flow]}


LINUX = "linux"
"""The profile, and the sender that it names in tables."""
DETECTORS = ("eifel-timestamps", "dsack", "dual-rtt", "f-rto-sack")
ON_WIRE = ("linux", "eifel-f-rto-dsack")
"""Detectors of Linux's sender, whose timestamps neighbours share."""
RESPONSES_ON_WIRE = ("linux", "option-1", "rfc4015", "as-carried")
RESPONSES = (
    "option-1",
    "option-2",
    "option-3",
    "option-4",
    "option-4-ssthresh",
    "by-retransmissions",
    "rfc4015",
    "rfc3708",
    "partial-credit",
    "as-carried",
)
"""Every response of the registry but Linux's, which is Linux's sender's alone."""
SENDERS: dict[str, dict[str, Any]] = {
    "newreno": {"recover": "newreno"},
    "rfc6675": {"recover": "rfc6675"},
    "rack-tlp, PRR": {"recover": {"name": "rack-tlp", "reduction": "prr"}},
    "rack-tlp, PRR, CUBIC": {"recover": {"name": "rack-tlp", "reduction": "prr"}, "congest": "cubic"},
}


QUEUES = (150, 75)
"""In packets. One queue holds the window of 150 segments through a spike; the other loses the window's tail."""

EARLY = ("eifel-timestamps", "dual-rtt", "f-rto-sack")
"""Detectors with a verdict before the window has been retransmitted."""
HOLDS, LOSES = QUEUES
RESTORING = ("option-1", "option-4", "rfc4015")
SACK_SENDERS = ("rfc6675", "rack-tlp, PRR")
SPIKES_LEFT_OPEN = (
    Setting("path", "2 Mbit/s, 195 ms each way, spikes of 3 to 15 s", "as in responding.table1, section IV"),
    Setting("queue", "150 packets, and the paper's 75", "the receive window is 150 segments"),
    Setting("sender", "RFC 6298's timer, an initial window of 10", "what RFCs say today"),
    Setting("Linux's sender", 'profile = "linux"', "docs/reference/scenario.md says what it sets"),
)


def spikes(queue: int, sender: str, detect: str, respond: str) -> dict[str, Any]:
    """Returns a transfer of 5 MB over a path that stops for 3 to 15 s every 20 to 40 s (section IV).

    The sender `linux` is Linux's at both ends, but for detection and response.
    """
    path = {"rate_bps": 2_000_000, "delay_ms": 195, "queue": {"kind": "drop-tail", "packets": queue}}
    spike = {
        "links": ["bottleneck", "bottleneck-back"],
        "holds": "sending",
        "first_s": 5,
        "length_s": {"uniform": [3, 15]},
        "interval_s": {"uniform": [20, 40]},
        "interval": "start-to-start",
    }
    flow = main_flow(
        application={"kind": "bulk", "bytes": 5_000_000},
        handshake=False,
        tcp={"payload_bytes": 1000, "receive_window_bytes": 150_000},
        sender={"detect": detect, "respond": respond, **SENDERS.get(sender, {})},
        **({"profile": LINUX} if sender == LINUX else {}),
    )
    return {"duration_s": 3000, "point_to_point": path, "spike": [spike], "flow": [flow]}
