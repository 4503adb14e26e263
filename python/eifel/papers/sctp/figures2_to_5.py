"""Figures 2 to 5: spurious retransmissions of plain SCTP, over one path and two, and the need for a cover ACK."""

from collections.abc import Mapping
from typing import Any

from eifel.papers import rfc3522
from eifel.papers.artefact import Claim
from eifel.papers.claims import count, of
from eifel.papers.sctp import facts, micro, settings
from eifel.result import Result
from eifel.tables import Frame

FIGURE_2A = micro.figure(
    "2a",
    "A packet is reordered, and retransmitted needlessly (plain SCTP, one path)",
    {"drawn": micro.reordered(settings.PLAIN)},
    Claim(
        "sequence number 21 is retransmitted, and nothing else",
        of(lambda result: facts.again(result)["start"].tolist() == [settings.REORDERED_CHUNK - 1]),
    ),
    Claim("it was not lost", of(facts.all_needless)),
    Claim(
        "the sender cuts its window and its threshold: the fast retransmit leaves both at half the window, within a "
        "tenth",
        of(facts.halves_window),
    ),
)
FIGURE_2B = micro.figure(
    "2b",
    "A delay spike makes the timer expire (plain SCTP, one path)",
    {"drawn": micro.association(settings.PLAIN, settings.SHORT_SPIKE_S)},
    micro.EXPIRES_ONCE,
    Claim(
        "the N chunks outstanding are retransmitted, nine in ten at least, and needlessly",
        of(facts.window_retransmitted),
    ),
    Claim("ns-2.35's SCTP retransmits 44", count("retransmissions", 44)),
)


_DEAD = {"links": ["path-2", "path-2-back"], "holds": "arriving", "at": [{"start_s": 5, "length_s": 1000}]}
"""An outage here is a spike whose packets would arrive after the run."""
_COMMON = (
    Claim("all retransmissions go to the alternate path", of(facts.all_on(facts.ALTERNATE))),
    Claim("all of them are needless", of(facts.all_needless)),
)


def _run(credit: str = "last-path", protocol: settings.Sctp = settings.PLAIN) -> dict[str, object]:
    choosing = {**protocol, "sender": {**protocol["sender"], "credit": credit}}
    scenario = micro.association(choosing, settings.SHORT_SPIKE_S, paths=2)
    return {**scenario, "spike": [*scenario["spike"], _DEAD]}


def _all_overtake(result: Result) -> bool:
    first, sent = facts.overtaken(result)
    return sent > 0 and first == sent


FIGURE_3 = micro.figure(
    "3",
    "A spike on the primary path while the alternate is dead: the alternate's window overgrows (plain SCTP)",
    {
        "drawn": _run(),
        "unambiguous": _run("unambiguous"),
        "evidence": _run("evidence"),
        "eifel": _run(protocol=settings.EIFEL_OR_DUP_TSN),
    },
    *_COMMON,
    Claim("none of them arrives", of(lambda result: bool((facts.again(result)["arrived_ns"] < 0).all()))),
    Claim(
        "the alternate's congestion window grows on ACKs for the originals, more than fourfold",
        of(lambda result: facts.growth(result) > 4),
    ),
    Claim(
        "Eifel avoids the overgrowth: its alternate grows to a third of plain SCTP's at most",
        lambda m: facts.growth(m.result(run="eifel")) < facts.growth(m.result(run="drawn")) / 3,
    ),
    Claim(
        "without any detection, growth by unambiguous ACKs only avoids it: the alternate does not grow",
        lambda m: facts.growth(m.result(run="unambiguous")) <= 1,
    ),
)
FIGURE_4 = micro.figure(
    "4",
    "A spike so long that the alternate path delivers first (plain SCTP)",
    {"drawn": micro.association(settings.PLAIN, settings.LONG_SPIKE_S, paths=2)},
    *_COMMON,
    Claim("the entire go-back-N arrives before the originals", of(_all_overtake)),
)


LATE, LOST = 310, 311
"""The paper's DATA 11 and DATA 12. DATA 11 shares its packet with a SACK; DATA 12 leaves in the next packet."""
BEHIND = 20
"""The number of packets that pass the late one. It arrives between the departure and the arrival of
its retransmission.
"""
MESSAGE_BYTES = 712
"""Two chunks fill a packet with a timestamp chunk. Beside a SACK, only one has room."""


def _exchange(detect: Mapping[str, Any]) -> dict[str, Any]:
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
    {"drawn": _exchange(settings.OLDER), "RFC 3522": _exchange(rfc3522.PLAIN)},
    Claim("one packet carries DATA 11, which was reordered, and DATA 12, which was lost", of(_bundled)),
    Claim("the SACK of the late DATA 11 is an acceptable ACK", of(_acceptable)),
    Claim(
        "the Eifel algorithm of RFC 3522 would incorrectly interpret the congestion loss as spurious",
        lambda m: _verdict(m.result(run="RFC 3522")) == "spurious",
    ),
    Claim(
        'a "cover ack" ensures that such false positives are not generated',
        lambda m: _verdict(m.result(run="drawn")) == "genuine",
    ),
)
