"""Figures 7 to 9: a spurious fast retransmit, a spurious timeout, and two in a row, with (a) Eifel, (b) DupTSN."""

from typing import Any

from eifel.papers.artefact import Claim, Measured
from eifel.papers.claims import count, of
from eifel.papers.sctp import facts, micro, settings

_EIFEL, _DUP_TSN = micro.reordered(settings.EIFEL), micro.reordered(settings.DUP_TSN)
_DETECTED = Claim(
    "the fast retransmit is detected as spurious: the only loss signal of the run, and all that it retransmits is "
    "needless",
    of(facts.detected("fast-retransmit")),
)

FIGURE_7A = micro.figure(
    "7a",
    "A reordered packet: Eifel (one path)",
    {"drawn": _EIFEL, "plain": micro.reordered(settings.PLAIN), "dup-tsn": _DUP_TSN},
    _DETECTED,
    Claim(
        "the window is restored: ssthresh is what it was before the fast retransmit, and cwnd above what that left",
        of(facts.restores_window),
    ),
    Claim(
        "goodput increases significantly compared to plain SCTP: by 5 % at least in these 10 s",
        lambda m: m.mean("segments_sent", run="drawn") > 1.05 * m.mean("segments_sent", run="plain"),
    ),
    Claim(
        "it decides before the DupTSN report comes",
        lambda m: facts.verdict_s(m.result(run="drawn")) < facts.verdict_s(m.result(run="dup-tsn")),
    ),
)
FIGURE_7B = micro.figure(
    "7b",
    "A reordered packet: DupTSN (one path)",
    {"drawn": _DUP_TSN, "eifel": _EIFEL},
    _DETECTED,
    Claim(
        "the DupTSN report decides it, and not while loss recovery lasts: with the SACK that ends it at the earliest",
        of(lambda result: facts.decided_by_reports(result) and facts.decided_after_recovery_s(result) >= 0),
    ),
    Claim("less of the window can be restored than with Eifel, since less is in flight", facts.restores_less("eifel")),
)


LOST_S = 12.9
"""At about this time, half of the SACKs with duplicates are in flight. The outage drops one of them."""
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
    micro.BY_ORIGINAL,
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
    micro.BY_REPORTS,
    Claim(
        "go-back-N is not avoided: nine in ten of the chunks outstanding are retransmitted, needlessly",
        of(facts.window_retransmitted),
    ),
    Claim("less of the window is restored than with Eifel", facts.restores_less("eifel")),
    Claim(
        "the loss of a single ack out of the N acks carrying the DupTSN reports causes the algorithm to fail",
        lambda m: m.mean("undos", run="a SACK lost") == 0 and _acks_lost(m) == 1,
    ),
)


_BY_NUMBER = {**settings.EIFEL, "sender": {**settings.EIFEL["sender"], "respond": "by-retransmissions"}}
"""The only published response that decreases with the number of timeouts: that of the original Eifel algorithm."""
_COMMON = (
    Claim("the timer expires twice", count("timeouts", 2)),
    micro.DETECTED,
    Claim("less of the window is restored than after one timeout", facts.restores_less("one timeout")),
)


def _runs(protocol: settings.Sctp, drawn: str = "drawn", other: str = "one timeout") -> dict[str, dict[str, Any]]:
    lengths = {drawn: settings.TWO_TIMEOUTS_S, other: settings.SHORT_SPIKE_S}
    return {name: micro.association(protocol, length_s) for name, length_s in lengths.items()}


FIGURE_9A = micro.figure(
    "9a",
    "A spike that spans two timeouts: Eifel (one path)",
    {**_runs(settings.EIFEL), **_runs(_BY_NUMBER, "by number", "by number, one")},
    *_COMMON,
    Claim(
        "with the response of the original Eifel algorithm the state restored is decayed: to half of it, within a "
        "tenth",
        lambda m: (
            abs(facts.restored(m.result(run="by number")) / facts.restored(m.result(run="by number, one")) - 0.5) < 0.1
        ),
    ),
)
FIGURE_9B = micro.figure("9b", "A spike that spans two timeouts: DupTSN (one path)", _runs(settings.DUP_TSN), *_COMMON)
