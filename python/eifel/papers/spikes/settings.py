"""One link, a spike of 12 s in the forward direction, and its senders: the paper's three, and others beside."""

from collections.abc import Mapping
from typing import Any

from eifel.papers import rfc3522
from eifel.papers.artefact import Setting
from eifel.papers.dualrtt import settings as dualrtt
from eifel.papers.sctp import settings as sctp
from eifel.studies.settings import LINUX

CARRIED, NOT_CARRIED, not_carried = dualrtt.CARRIED, dualrtt.NOT_CARRIED, dualrtt.not_carried

SOURCE = (
    'S. Fu, M. Atiquzzaman and W. Ivancic, "Effect of Delay Spike on SCTP, TCP Reno, and Eifel in a Wireless Mobile '
    'Environment", ICCCN 2002'
)
SEED = 1
REPETITIONS = 60

# Stated in the paper.
LOW_KBPS = (9.05, 13.4, 15.6, 21.4, 31.2, 42.8)
HIGH_KBPS = (46.8, 62.4, 78.0, 130.0, 360.0, 1000.0, 1500.0)
DELAY_MS = 1400
SPIKE_S = 28.0
SPIKE_LENGTH_S = 12
SESSION_S = 150
PAYLOAD_BYTES = 536
WINDOWS = {"small": 20, "large": 60}
"""In segments."""
QUEUES = {"small": 13, "large": 50}
"""The queue limit in packets in the lossy cases, by window."""
CASES = ("spike", "spike+loss")
NO_LOSS_PACKETS = 1000

# Left open by the paper.
SPIKE_FROM_S = (20, 40)
"""Sixty spikes beside the paper's one at 28 s, since the result of one run depends on the spike's place."""
OWN, DRAWN = "at 28 s", "drawn"
"""The names of the paper's own spike and of the drawn ones."""

_RENO = {"name": "reno", "bugfix": True, "limited_transmit": False}
_OLD = {"respond": "option-1", "grant": "always"}
_SCTP_RTO = {"name": "rfc9260", "initial_ms": 3000}

PAPERS: Mapping[str, Mapping[str, Any]] = {
    "reno": {"sender": {"detect": "none", "recover": _RENO, **_OLD}},
    "eifel": {
        "sender": {"detect": dict(rfc3522.PLAIN), "recover": {**_RENO, "bugfix": False}, **_OLD},
        "tcp": dict(rfc3522.CLOCK),
    },
    "sctp": {
        "transport": "sctp",
        "sender": {"detect": "none", "rto": _SCTP_RTO},
        "sctp": dict(sctp.RFC_2960["sctp"]),
    },
}
"""The paper's three senders. Reno has the fix of RFC 2582, Eifel does not (section III.A). SCTP follows
RFC 2960.
"""
STATED_HEADERS, TCP_HEADERS = "sctp, 52/68 bytes", "sctp, 40/40 bytes"
"""SCTP with the headers of DATA and the length of a SACK that the paper states, and with TCP's."""
SACKED_EACH = f"{STATED_HEADERS}, each"
"""The former with a SACK for each packet, as TCP's receiver acknowledges each segment here."""


def _sctp(data_header_bytes: int, sack_bytes: int, **more: Any) -> Mapping[str, Any]:
    settings = {"data_header_bytes": data_header_bytes, "sack_bytes": sack_bytes, **more}
    return {**PAPERS["sctp"], "sctp": {**PAPERS["sctp"]["sctp"], **settings}}


NOT_UNDONE, LATER_TIMER = f"{LINUX}, no undo", f"{LINUX}, timer from 3 s"
BESIDE: Mapping[str, Mapping[str, Any]] = {
    LINUX: {"profile": LINUX},
    NOT_UNDONE: {"profile": LINUX, "sender": {"detect": "none", "respond": "none"}},
    LATER_TIMER: {"profile": LINUX, "sender": {"rto": {"name": LINUX, "initial_ms": 3000}}},
    STATED_HEADERS: _sctp(52, 68),
    TCP_HEADERS: _sctp(40, 40),
    SACKED_EACH: _sctp(52, 68, sack_every=1),
    "rfc6675+eifel": {
        "sender": {"detect": "eifel-timestamps", "recover": "rfc6675", "respond": "rfc4015"},
        "tcp": {**rfc3522.CLOCK, "sack": True},
    },
    "rack+eifel": {
        "sender": {"detect": "eifel-timestamps", "recover": "rack-tlp", "respond": "rfc4015"},
        "tcp": {**rfc3522.CLOCK, "sack": True},
    },
    "sctp, ns-2": {
        "transport": "sctp",
        "sender": {"detect": "none", "rto": _SCTP_RTO, **sctp.NS_2["sender"]},
        "sctp": dict(sctp.NS_2["sctp"]),
    },
    "sctp, RFC 9260": {"transport": "sctp", "sender": {"detect": "none", "rto": _SCTP_RTO}},
    "sctp+eifel": {
        "transport": "sctp",
        "sender": {"detect": dict(sctp.OLDER), "respond": "rfc4015", "rto": _SCTP_RTO},
        "sctp": dict(sctp.CLOCK),
    },
}
"""Senders that the paper does not have: Linux's, SCTP with other headers and by other rules, and Eifel with a recovery
algorithm that knows the lost segments.
"""
SENDERS = {**PAPERS, **BESIDE}

LEFT_OPEN = (
    Setting(
        "Linux's sender",
        f'the profile "{LINUX}", with the paper\'s segments and windows; "{NOT_UNDONE}" has no detector; the timer of '
        f'"{LATER_TIMER}" begins like that of the others',
        "of this project, not of the paper. Linux's timer begins with 1 s. The first round trip takes 2.8 s, so the "
        "SYN leaves again, and the connection begins with one segment",
    ),
    Setting(
        "spike",
        f"at {SPIKE_S:g} s, as in the paper; beside it {REPETITIONS} that begin between {SPIKE_FROM_S[0]} and "
        f"{SPIKE_FROM_S[1]} s, drawn. All senders meet the same",
        "the result of the paper's one run hangs on where in its window the spike begins",
    ),
    Setting("where it holds", "before the link's queue", "60 segments are released into a queue of 50"),
    Setting(
        "headers",
        f"the real ones: SCTP's DATA 48 bytes, its SACK 48; the paper's 52 and 68 bytes in {STATED_HEADERS!r}",
        "RFC 9260's DATA and SACK chunks take 16 bytes each, and the headers of IP and SCTP 32",
    ),
    Setting(
        "SCTP's SACKs",
        f"for every second packet, or after 200 ms; for each packet in {SACKED_EACH!r}",
        "not stated; RFC 2960's, section 6.2. They explain more of SCTP's lower throughput than the headers do, which "
        "the paper names as the reason (figures 5 and 6)",
    ),
    Setting(
        "SCTP's rules for losses",
        "RFC 2960's, at a further timeout too: ssthresh is halved again, to two packets",
        "section II.E says so of all three: a second timeout leaves an ssthresh of 2*MSS. ns-2's code of 2004 keeps "
        'it: "sctp, ns-2", which leads Reno in most cells. "sctp, RFC 9260" has today\'s rules',
    ),
    Setting(
        "Eifel for SCTP",
        "the SCTP paper's: timestamps of a clock, and any echo older than the first retransmission as proof",
        "as all papers have it. The defaults are a timestamp for each packet, and proof by the originals' alone. They "
        "deliver as much within 0.1 % in 48 of the 52 settings of table I. With losses they deliver 1 % less at 9.05 "
        "kbit/s with a small window, and 2 to 4 % less at up to 15.6 kbit/s with a large one. There the cause is the "
        "timer: round trips to the microsecond leave it a shorter RTO than those of a clock of 1 ms, and it expires "
        "while the losses are repaired",
    ),
    *dualrtt.LEFT_OPEN[1:4],
)


def scenario(
    sender: str,
    kbps: float,
    window: str,
    case: str,
    *,
    spike: Mapping[str, Any] | None = None,
    duration_s: float = SESSION_S,
) -> dict[str, Any]:
    """Returns a session of one sender. Without `spike`, a spike is drawn."""
    window_bytes = WINDOWS[window] * PAYLOAD_BYTES
    packets = QUEUES[window] if case == "spike+loss" else NO_LOSS_PACKETS
    queue = {"kind": "drop-tail", "packets": packets}
    link = {"rate_bps": round(1000 * kbps), "delay_ms": DELAY_MS}
    free = {"rate_bps": "unlimited", "delay_ms": 0}
    made: dict[str, Any] = {
        "seed": SEED,
        "duration_s": duration_s,
        "node": [{"name": name} for name in ("sender", "base", "receiver")],
        "link": [
            {"name": "box", "from": "sender", "to": "base", **free},
            {"name": "uplink", "from": "base", "to": "receiver", **link, "queue": queue},
            {"name": "downlink", "from": "receiver", "to": "base", **link},
            {"name": "box-back", "from": "base", "to": "sender", **free},
        ],
        "spike": [{"links": ["box"], "holds": "arriving", **(drawn_spike() if spike is None else spike)}],
        "flow": [_flow(SENDERS[sender], window_bytes)],
    }
    return made


def _flow(sender: Mapping[str, Any], window_bytes: int) -> dict[str, Any]:
    flow: dict[str, Any] = {
        "name": "main",
        "from": "sender",
        "to": "receiver",
        "application": {"kind": "bulk", "endless": True},
    }
    if sender.get("transport") == "sctp":
        sctp = {"message_bytes": PAYLOAD_BYTES, "pmtu_bytes": PAYLOAD_BYTES + 64, "receive_window_bytes": window_bytes}
        return {**flow, **sender, "sctp": {**sctp, **sender.get("sctp", {})}}
    if "profile" in sender:
        return {**flow, **sender, "tcp": {"payload_bytes": PAYLOAD_BYTES, "receive_window_bytes": window_bytes}}
    base = dualrtt.spike()["flow"][0]
    tcp = {**base["tcp"], "receive_window_bytes": window_bytes, "sack": False, **rfc3522.NONE, **sender.get("tcp", {})}
    congest = {**base["sender"]["congest"], "initial_ssthresh_bytes": window_bytes}
    return {**flow, "tcp": tcp, "sender": {"rto": base["sender"]["rto"], "congest": congest, **sender["sender"]}}


def drawn_spike() -> dict[str, Any]:
    return {
        "first_s": {"uniform": list(SPIKE_FROM_S)},
        "length_s": SPIKE_LENGTH_S,
        "interval_s": 10 * SESSION_S,
        "interval": "end-to-start",
    }


def one_spike() -> dict[str, Any]:
    return {"at": [{"start_s": SPIKE_S, "length_s": SPIKE_LENGTH_S}]}
