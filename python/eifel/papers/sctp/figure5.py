"""Figure 5: bundling may make a loss look like a spurious retransmission. The cover ACK prevents this."""

from collections.abc import Mapping
from typing import Any

from eifel.papers import rfc3522
from eifel.papers.artefact import Claim
from eifel.papers.claims import of
from eifel.papers.sctp import micro, settings
from eifel.result import Result
from eifel.tables import Frame

LATE, LOST = 307, 308
"""The paper's DATA 11 and DATA 12. DATA 11 shares its packet with a SACK; DATA 12 leaves in the
next packet.
"""
BEHIND = 20
"""The number of packets that pass the late one. It arrives between the departure and the arrival of
its retransmission.
"""
MESSAGE_BYTES = 712
"""Two chunks fill a packet with a timestamp chunk. Beside a SACK, only one has room."""


def _run(detect: Mapping[str, Any]) -> dict[str, Any]:
    protocol = {"sender": {"detect": detect}, "sctp": settings.EIFEL["sctp"]}
    both = {"kind": "exchange", "bytes": 10_000_000, "back_bytes": 10_000_000}
    way = {
        "reorder": {"flow": "main", "segments": [LATE], "length": BEHIND},
        "drops": {"flow": "main", "segments": [LOST]},
    }
    made = settings.scenario(protocol, both, 8, forward=way)
    made["flow"][0]["sctp"]["message_bytes"] = MESSAGE_BYTES
    return made


def _again(result: Result) -> Frame:
    return result.of("transmissions").where(end="from", kind="retransmission")


def _bundled(result: Result) -> bool:
    """Returns whether one packet carries both chunks again, though only one of them was lost."""
    again = _again(result)
    both = again.rows((again["start"] == LATE - 1) | (again["start"] == LOST - 1))
    one_packet = len(set(both["arrived_ns"].tolist())) == 1
    return one_packet and both["needed"].tolist() == ["spurious", "needed"]


def _acceptable(result: Result) -> bool:
    """Returns whether a SACK acknowledges only the late chunk, before the retransmission arrives."""
    acks = result.of("acks").where(end="from", cumulative=LATE)
    return len(acks) > 0 and int(acks["t_ns"][0]) < int(_again(result)["arrived_ns"][0])


def _verdict(result: Result) -> str:
    return str(result.of("episodes").where(end="from")["verdict"][0])


FIGURE_5 = micro.figure(
    "5",
    "Chunk bundling: one packet carries a reordered chunk and a lost one again",
    {"drawn": _run(settings.OLDER), "RFC 3522": _run(rfc3522.PLAIN)},
    Claim("one packet carries DATA 11, which was reordered, and DATA 12, which was lost", of(_bundled)),
    Claim("the SACK of the late DATA 11 is an acceptable ACK", of(_acceptable)),
    Claim(
        "the Eifel algorithm of RFC 3522 would incorrectly interpret the congestion loss as spurious",
        lambda m: _verdict(m.result(run="RFC 3522")) == "spurious",
    ),
    Claim(
        'a "cover ack" ensures that such false positives are not generated',
        lambda m: _verdict(m.result(run="drawn")) != "spurious",
    ),
)
