"""The settings shared by the figures: stated by the paper, fitted, or chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eifel.flows import main_flow
from eifel.papers.artefact import Setting

SOURCE = (
    'S. Ladha, S. Baucke, R. Ludwig and P. Amer, "On Making SCTP Robust to Spurious Retransmissions", '
    "ACM Computer Communication Review 34(2), 2004"
)
SEED = 1
REPETITIONS = 60
"""As in the paper, section 6."""

# --- Stated in sections 4 to 6 ---------------------------------------------------------------------------------------

RATE_BPS = 1_000_000
SATELLITE_BPS = 250_000
DELAY_MS = 100
SACK_DELAY_MS = 200
QUEUE_PACKETS = 100
PMTU_BYTES = 1500
CHUNK_BYTES = 1448
"""The length of a DATA chunk with its header of 16 bytes. Beside a timestamp chunk it is 12 bytes shorter."""
TRANSFER_S = 200
DOWNLOAD_BYTES = 4_000_000
SPIKE_LENGTH_S = (3, 10)
SPIKE_INTERVALS_S = ((10, 20), (30, 40), (50, 60), (70, 80))
REORDERING = (0.005, 0.01, 0.02, 0.05, 0.10, 0.15)

# --- Open ------------------------------------------------------------------------------------------------------------

RECEIVE_WINDOW_BYTES = 65_536
SPIKE_S = 10.5
SHORT_SPIKE_S = 1.5
"""The timer expires before the first SACK of a held original returns."""
SHORT_SPIKE_TODAY_S = 1.6
"""The same by RFC 9260's rules: with the shorter one plain SCTP's SACKs still come in time."""
LONG_SPIKE_S = 2.8
TWO_TIMEOUTS_S = 3.5
"""The timer expires a second time before the originals' SACKs return."""
REORDERED_BY = 6
"""The number of packets that pass a reordered one: more than the three missing reports for a fast retransmit."""
REORDERED_CHUNK = 22
"""The paper's sequence number 21, which counts from 0."""

_DATA_HEADER_BYTES = 16
_TIMESTAMP_BYTES = 12

Sctp = Mapping[str, Any]
PLAIN: Sctp = {"sender": {"detect": "none"}}
OLDER: Mapping[str, Any] = {"name": "eifel-cover-timestamps", "proof": "older"}
"""Any echo older than the first retransmission proves the originals. docs/internals/liars.md has a safer rule."""
CLOCK: Mapping[str, Any] = {"timestamp_chunk": "agreed", "timestamp_values": "clock"}
"""Packets that leave within a tick of 1 ms share their timestamp."""
EIFEL: Sctp = {"sender": {"detect": OLDER}, "sctp": CLOCK}
"""Figure 6, I."""
EIFEL_OR_DUP_TSN: Sctp = {"sender": {"detect": {**OLDER, "name": "eifel-cover-or-dsack"}}, "sctp": CLOCK}
"""Figure 6, I, with the multihoming considerations."""
EIFEL_BIT: Sctp = {"sender": {"detect": "eifel-cover-bit"}, "sctp": {"retransmit_bit": True}}
"""Figure 6, II."""
EIFEL_BIT_OR_DUP_TSN: Sctp = {
    "sender": {"detect": {"name": "eifel-cover-or-dsack", "signal": "bit"}},
    "sctp": {"retransmit_bit": True},
}
"""Figure 6, II, with the multihoming considerations."""
DUP_TSN: Sctp = {"sender": {"detect": {"name": "dsack", "waits": "next-loss"}}}
"""RFC 3708. It sets no limit on the wait for duplicates, and neither does this (step B.2)."""
F_RTO: Sctp = {"sender": {"detect": "f-rto-sctp"}}
"""RFC 5682, which section 1 leaves out."""

PROTOCOLS: Mapping[str, Sctp] = {"plain": PLAIN, "eifel": EIFEL_OR_DUP_TSN, "dup-tsn": DUP_TSN}
"""The paper's three senders, with Eifel as in figure 6: timestamps first, DupTSNs where those fail."""

BEYOND: Mapping[str, Sctp] = {"eifel-bit": EIFEL_BIT_OR_DUP_TSN, "f-rto": F_RTO}
"""Senders that the paper did not run: the bit, which it expects to be better still, and F-RTO."""
SENDERS: Mapping[str, Sctp] = {**PROTOCOLS, **BEYOND}
WINDOWS_BYTES = (65_536, 131_072)
"""For figure 14. Its absolute times agree with the first value, and its gains with the second."""

RFC_9260: Sctp = {}
RFC_2960: Sctp = {"sctp": {"rules": "rfc2960"}, "sender": {}}
"""Four missing reports, no fast recovery, an initial window and a least ssthresh of two packets, and
one packet at an expiry of the timer.
"""
NS_2: Sctp = {**RFC_2960, "sender": {"congest": {"name": "sctp", "rules": "rfc2960", "repeated_timeout": "hold"}}}
"""RFC 2960's rules, but at a further timeout within a spike ssthresh stays. RFC 2960 halves the window
of one packet, which leaves two packets.
"""
RULES: Mapping[str, Sctp] = {"RFC 2960": RFC_2960, "ns-2": NS_2, "RFC 9260": RFC_9260}
"""The rules for losses. The first are drawn."""

LEFT_OPEN = (
    Setting(
        "retransmissions",
        "all to the alternate path",
        "as the paper says of RFC 2960; RFC 9260 sends fast retransmits on the same path",
    ),
    Setting(
        "rules for losses",
        'RFC 2960\'s (`rules = "rfc2960"`), at a further timeout of a chunk too: ssthresh is halved again',
        "the paper names RFC 2960, and ran ns-2's agent for it. That agent's code of 2004 and of 2011 keeps ssthresh "
        "once cwnd is one packet. That decides the gain over spikes: figures 11 (b), 13 and 14 have rows with this "
        'rule ("ns-2"), and with RFC 9260\'s',
    ),
    Setting("receive window", f"{RECEIVE_WINDOW_BYTES} bytes", "not stated; ns-2's default"),
    Setting(
        "round-trip samples",
        "one a round trip, with timestamp chunks too",
        "RFC 9260, 6.3.1, C4; the paper does not say whether it uses timestamps to measure round trips",
    ),
)
"""The settings that the paper leaves open."""
AT_SENDER = Setting(
    "what a spike holds",
    "data, in front of the sender's link",
    'the paper draws "Data Buffered" and "Data Send", and cites the hiccup of the thesis, which queues what its host '
    "sends. Figures 11 (b), 13 and 14, and sctp.condition, have rows with other places",
)
LENGTHS = (
    Setting(
        "short spike",
        f"{SHORT_SPIKE_S} s, from {SPIKE_S} s on, and {SHORT_SPIKE_TODAY_S} s by RFC 9260's rules; {TWO_TIMEOUTS_S} s "
        "in figure 9",
        "not stated; one timeout, and two. The packets in the queue still arrive, so the timer expires 1.7 s after the "
        "spike begins",
    ),
    Setting(
        "long spike",
        f"{LONG_SPIKE_S} s",
        "not stated; the shortest in steps of 0.1 s with which the entire go-back-N overtakes the originals. What "
        "other lengths give is in sctp.condition",
        rows=("all rows of figure 4, by the claim that the entire go-back-N arrives first",),
    ),
)
"""For figures 2 to 10. Figures 10 (b), (d) and (f) judge the long spike."""
HELD_AT_SENDER = ("box",)
HELD_BEFORE_QUEUE = ("box", "far-box-back")
"""Packets of both directions, each in front of its end's link."""
HELD_AT_FAR_END = ("path",)
"""Data at the far end of the primary path's link, behind the queue."""


def path(number: int, rate_bps: int = RATE_BPS, **forward: Any) -> dict[str, list[dict[str, Any]]]:
    """Returns the nodes and links of a path: a box at each end, and a link with the stated queue between the boxes.

    A box releases held packets into the queue all at once. `forward` are settings of the forward
    link.
    """
    end = "" if number == 1 else f"-{number}"
    names = [f"sender{end}", f"entry{end}", f"exit{end}", f"receiver{end}"]
    plain = {"rate_bps": "unlimited", "delay_ms": 0, "both": True}
    queue = {"kind": "drop-tail", "packets": QUEUE_PACKETS}
    link = {"rate_bps": rate_bps, "delay_ms": DELAY_MS, "queue": queue}
    links = [
        {"name": f"box{end}", "from": names[0], "to": names[1], **plain},
        {"name": f"path{end}", "from": names[1], "to": names[2], **link, **forward},
        {"name": f"path{end}-back", "from": names[2], "to": names[1], **link},
        {"name": f"far-box{end}-back", "from": names[3], "to": names[2], "rate_bps": "unlimited", "delay_ms": 0},
        {"name": f"far-box{end}", "from": names[2], "to": names[3], "rate_bps": "unlimited", "delay_ms": 0},
    ]
    return {"node": [{"name": name} for name in names], "link": links}


def scenario(
    protocol: Sctp,
    application: Mapping[str, Any],
    duration_s: float,
    *,
    paths: int = 1,
    spike: Mapping[str, Any] | None = None,
    rate_bps: int = RATE_BPS,
    forward: Mapping[str, Any] | None = None,
    window_bytes: int = RECEIVE_WINDOW_BYTES,
    alternate: Mapping[str, Any] | None = None,
    held: Sequence[str] = HELD_AT_SENDER,
    rules: Sctp = RFC_2960,
) -> dict[str, Any]:
    """Returns an association from `sender` to `receiver` over one path or two. Spikes hold the links `held`.

    `forward` are settings of the first path's forward link, and `alternate` of the second's.
    """
    topology = [path(1, rate_bps, **(forward or {}))]
    if paths == 2:
        topology.append(path(2, rate_bps, **(alternate or {})))
    stamps = _TIMESTAMP_BYTES if "timestamp_chunk" in protocol.get("sctp", {}) else 0
    flow: dict[str, Any] = main_flow(
        transport="sctp",
        application=dict(application),
        sctp={
            "pmtu_bytes": PMTU_BYTES,
            "message_bytes": CHUNK_BYTES - _DATA_HEADER_BYTES - stamps,
            "receive_window_bytes": window_bytes,
            "sack_delay_ms": SACK_DELAY_MS,
            **rules.get("sctp", {}),
            **protocol.get("sctp", {}),
        },
        sender={**SENDER, **rules.get("sender", {}), **protocol["sender"]},
    )
    if paths == 2:
        flow["alternates"] = [{"from": "sender-2", "to": "receiver-2"}]
    made: dict[str, Any] = {
        "seed": SEED,
        "duration_s": duration_s,
        "node": [node for part in topology for node in part["node"]],
        "link": [link for part in topology for link in part["link"]],
        "flow": [flow],
    }
    if spike is not None:
        made["spike"] = [{"links": list(held), "holds": "arriving", **spike}]
    return made


SENDER: Mapping[str, Any] = {
    "respond": "rfc4015",
    "after_spurious": "none",
    "retransmit": "all-to-alternate",
    "pace": "none",
    "grant": "always",
}
"""The response of section 5. It adapts the timer itself (RFC 4015, step 11), so `after_spurious` does nothing."""


@dataclass(frozen=True)
class Variant:
    """What the paper leaves open of figures 11 to 14: the rules for losses, and what a spike holds."""

    rules: str
    held: Sequence[str] = HELD_AT_SENDER


VARIANTS: Mapping[str, Variant] = {
    **{rules: Variant(rules) for rules in RULES},
    **{f"{rules}, both ways": Variant(rules, HELD_BEFORE_QUEUE) for rules in RULES},
}
"""The settings of the rows of figures 11 (b), 13 and 14, by name. The first is drawn, and the claims are about it."""
DRAWN = next(iter(VARIANTS))


def one_spike(length_s: float) -> dict[str, Any]:
    return {"at": [{"start_s": SPIKE_S, "length_s": length_s}]}


def spikes(interval_s: Sequence[float]) -> dict[str, Any]:
    """Returns the random spikes of section 6. Each interval runs from the end of a spike to the next."""
    between = {"uniform": list(interval_s)}
    length = {"uniform": list(SPIKE_LENGTH_S)}
    return {"first_s": between, "length_s": length, "interval_s": between, "interval": "end-to-start"}
