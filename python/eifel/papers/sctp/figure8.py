"""Figure 8: a spurious timeout with (a) Eifel, (b) DupTSN."""

from eifel.papers.artefact import Claim
from eifel.papers.claims import count, of
from eifel.papers.measured import Measured
from eifel.papers.sctp import facts, micro, settings

LOST_S = 12.25
"""At about this time, half of the SACKs with duplicates are in flight. The outage drops one of
them.
"""
SACK_S = 0.01


def _run(protocol: settings.Sctp) -> dict[str, object]:
    return micro.association(protocol, settings.SHORT_SPIKE_S)


def _one_sack_lost() -> dict[str, object]:
    lost = {"links": ["path-back"], "at": [{"start_s": LOST_S, "length_s": SACK_S}]}
    return {**_run(settings.DUP_TSN), "outage": [lost]}


def _acks_lost(measured: Measured) -> int:
    """Returns the number of SACKs that the sender lacks, up to the last one that reports a duplicate."""
    whole, lacking = (measured.result(run=run).of("acks") for run in ("drawn", "a SACK lost"))
    until = int(whole["t_ns"][whole["dsack_start"] >= 0][-1])
    return int((whole["t_ns"] <= until).sum() - (lacking["t_ns"] <= until).sum())


FIGURE_8A = micro.figure(
    "8a",
    "A spurious timeout: Eifel (one path)",
    {"drawn": _run(settings.EIFEL), "plain": _run(settings.PLAIN), "bit": _run(settings.EIFEL_BIT)},
    micro.DETECTED,
    Claim("one chunk is retransmitted, and no more", count("retransmissions", 1)),
    Claim(
        "more is sent than by plain SCTP",
        lambda m: facts.sent_after_spike(m, "drawn") > facts.sent_after_spike(m, "plain"),
    ),
    Claim(
        "the retransmit bit, which the paper did not run, does as well",
        lambda m: m.mean("retransmissions", run="bit") == 1 and m.mean("undos", run="bit") == 1,
    ),
)
FIGURE_8B = micro.figure(
    "8b",
    "A spurious timeout: DupTSN (one path)",
    {"drawn": _run(settings.DUP_TSN), "eifel": _run(settings.EIFEL), "a SACK lost": _one_sack_lost()},
    micro.DETECTED,
    Claim("go-back-N is not avoided", of(facts.window_retransmitted)),
    Claim("less of the window is restored than with Eifel", facts.restores_less("eifel")),
    Claim(
        "the loss of a single ack out of the N acks carrying the DupTSN reports causes the algorithm to fail",
        lambda m: m.mean("undos", run="a SACK lost") == 0 and _acks_lost(m) == 1,
    ),
)
