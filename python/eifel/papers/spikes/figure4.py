"""Figure 4: SCTP goes back N too, and its SACKs prevent a spurious fast retransmit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts
from eifel.papers.spikes import drawn

if TYPE_CHECKING:
    from eifel.result import Result

SERIES = 5
"""The least number of duplicate SACKs in a series."""


def _acknowledged_again(result: Result) -> int:
    """Returns the TSN, counted from 1, that the longest series of duplicate SACKs acknowledges."""
    duplicates = result.of("acks").where(duplicate=True)["cumulative"].tolist()
    most = max(set(duplicates), key=duplicates.count)
    if duplicates.count(most) < SERIES:
        raise LookupError("no series of duplicate SACKs")
    return int(most)


ARTEFACT = drawn.figure(
    4,
    "Spurious timeout in SCTP due to a delay spike",
    {"drawn": drawn.lossless("sctp")},
    Claim("SCTP suffers from a spurious timeout", lambda m: m.mean("timeouts", run="drawn") >= 1),
    Claim("it exhibits a go-back-N behaviour", facts.of(facts.window_sent_again)),
    Claim("a series of duplicate SACKs acknowledges segment 134", lambda m: _acknowledged_again(m.results[0]) == 134),
    Claim(
        "the sender does not do a spurious fast retransmission of the next one",
        lambda m: _acknowledged_again(m.results[0]) > 0 and m.mean("fast_retransmits", run="drawn") == 0,
    ),
    known=(
        "Here they acknowledge chunk 133. How many chunks are sent before the spike depends on the handshake and on "
        "the initial window, and the paper gives neither for SCTP.",
    ),
)
