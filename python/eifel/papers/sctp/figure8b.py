"""Figure 8 (b): DupTSN on a spurious timeout."""

from eifel.papers.artefact import Claim
from eifel.papers.measured import Measured
from eifel.papers.sctp import facts, micro, settings

LOST_S = 12.25
"""At about this time, half of the SACKs with duplicates are in flight. The outage drops one of
them.
"""
SACK_S = 0.01


def _one_sack_lost() -> dict[str, object]:
    lost = {"links": ["path-back"], "at": [{"start_s": LOST_S, "length_s": SACK_S}]}
    return {**micro.association(settings.DUP_TSN, settings.SHORT_SPIKE_S), "outage": [lost]}


def _acks_lost(measured: Measured) -> int:
    """Returns the number of SACKs that the sender lacks, up to the last one that reports a duplicate."""
    whole, lacking = (measured.result(run=run).of("acks") for run in ("drawn", "a SACK lost"))
    until = int(whole["t_ns"][whole["dsack_start"] >= 0][-1])
    return int((whole["t_ns"] <= until).sum() - (lacking["t_ns"] <= until).sum())


ARTEFACT = micro.figure(
    "8b",
    "A spurious timeout: DupTSN (one path)",
    {
        "drawn": micro.association(settings.DUP_TSN, settings.SHORT_SPIKE_S),
        "eifel": micro.association(settings.EIFEL, settings.SHORT_SPIKE_S),
        "a SACK lost": _one_sack_lost(),
    },
    Claim("the timeout is told to be spurious", facts.number("detected_spurious", lambda count: count == 1)),
    Claim("go-back-N is not avoided", facts.of(facts.window_sent_again)),
    Claim(
        "less of the window is restored than with Eifel",
        lambda m: facts.restored(m.result(run="drawn")) < facts.restored(m.result(run="eifel")),
    ),
    Claim(
        "the loss of a single ack out of the N acks carrying the DupTSN reports causes the algorithm to fail",
        lambda m: m.mean("undos", run="a SACK lost") == 0 and _acks_lost(m) == 1,
    ),
)
