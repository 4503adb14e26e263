"""Counts over episodes, and over runs that met the same spikes."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from eifel.papers.artefact import Artefact, Column, Row, means_of
from eifel.papers.artefact import counts as whole_numbers
from eifel.runs import Runs
from eifel.statistics import Mean, mean_interval, percent_interval
from eifel.studies.judged import FAST_RETRANSMIT, GENUINE, MIXED, NEEDED, NEEDLESS, SPURIOUS, TIMEOUT, UNDECIDED

COLUMNS = (
    Column("episodes", "Episodes", digits=0),
    Column("found", "Needless, nothing lost: found %", digits=2),
    Column("found_beside_loss", "Needless, others lost: found %", digits=2),
    Column("found_timeouts", "Needless timeouts: found %", digits=2),
    Column("found_fast_retransmits", "Needless fast retransmits: found %", digits=2),
    Column("mixed", "Mixed: called spurious though something was lost %", digits=2),
    Column("lost_bytes", "Lost where that was called spurious, bytes", digits=0),
    Column("false", "Needed: called spurious %", digits=2),
    *whole_numbers("true_positives", "false_negatives"),
    Column("undecided_needless", "Needless, undecided", digits=0),
    *whole_numbers("false_positives", "true_negatives"),
    Column("undecided_needed", "Needed, undecided", digits=0),
    Column("mixed_undone", "Mixed, called spurious", digits=0),
    Column("mixed_kept", "Mixed, called genuine", digits=0),
    Column("undecided_mixed", "Mixed, undecided", digits=0),
    Column("delay_rtts", "Median delay of what is found, RTTs", digits=2),
    Column("needless_bytes", "Sent needlessly until the verdict, bytes", digits=0),
    Column("header_per_mille", "Headers, bytes in 1000 of data", digits=2),
)
"""What `counts` returns."""


def fallen_back(first: Mapping[str, Any], fallback: Mapping[str, Any]) -> dict[str, Any]:
    """Combines two detectors' verdicts on the same episodes: the fallback's verdict counts if the first has none."""
    silent = first["verdict"] == UNDECIDED
    joined = {name: np.where(silent, fallback[name], values) for name, values in first.items()}
    # Both detectors' headers are always carried.
    return {**joined, "header_bytes": first["header_bytes"] + fallback["header_bytes"]}


def either(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Combines two detectors' verdicts on the same episodes: spurious counts as soon as either says so."""
    says, too = one["verdict"] == SPURIOUS, other["verdict"] == SPURIOUS
    other_first = too & (~says | (other["delay_rtts"] < one["delay_rtts"]))
    silent = ~says & (one["verdict"] == UNDECIDED)
    joined = {name: np.where(other_first | silent, other[name], values) for name, values in one.items()}
    return {**joined, "header_bytes": one["header_bytes"] + other["header_bytes"]}


def counts(columns: Mapping[str, Any]) -> dict[str, Mean]:
    """Returns a detector's counts over episodes. A share of nothing is left out."""
    truth, verdict = columns["truth"], columns["verdict"]
    counted = {
        "true_positives": (NEEDLESS, SPURIOUS),
        "false_negatives": (NEEDLESS, GENUINE),
        "undecided_needless": (NEEDLESS, UNDECIDED),
        "false_positives": (NEEDED, SPURIOUS),
        "true_negatives": (NEEDED, GENUINE),
        "undecided_needed": (NEEDED, UNDECIDED),
        "mixed_undone": (MIXED, SPURIOUS),
        "mixed_kept": (MIXED, GENUINE),
        "undecided_mixed": (MIXED, UNDECIDED),
    }
    means = {"episodes": _count(len(truth))}
    means |= {name: _count(int(((truth == t) & (verdict == v)).sum())) for name, (t, v) in counted.items()}
    needless = truth == NEEDLESS
    shares = {
        "found": needless & ~columns["lost"],
        "found_beside_loss": needless & columns["lost"],
        "found_timeouts": needless & (columns["cause"] == TIMEOUT),
        "found_fast_retransmits": needless & (columns["cause"] == FAST_RETRANSMIT),
        "mixed": truth == MIXED,
        "false": truth == NEEDED,
    }
    for name, of in shares.items():
        if of.any():
            means[name] = percent_interval(int((of & (verdict == SPURIOUS)).sum()), int(of.sum()))
    undone_beside_loss = (truth != NEEDLESS) & (verdict == SPURIOUS)
    if undone_beside_loss.any():
        means["lost_bytes"] = mean_interval(columns["needed_bytes"][undone_beside_loss])
    found = needless & (verdict == SPURIOUS)
    if found.any():
        means["delay_rtts"] = Mean(float(np.median(columns["delay_rtts"][found])), None, int(found.sum()))
    if len(truth):
        means["needless_bytes"] = mean_interval(columns["needless_bytes"])
        per_mille = 1000 * float(columns["header_bytes"].sum() / columns["data_bytes"].sum())
        means["header_per_mille"] = Mean(per_mille, None, len(truth))
    return means


def _count(number: int) -> Mean:
    return Mean(float(number), None, 1)


def against(begins: Callable[[Row], bool]) -> Callable[[Artefact, Runs], list[dict[str, Mean]]]:
    """Measures means, the savings against the latest row for which `begins` holds, and needless retransmissions."""

    def measure(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
        measured = means_of(artefact, runs)
        compared: Any = None
        for number, (row, means) in enumerate(zip(artefact.rows, measured, strict=True)):
            columns = runs.where(scenario=number)
            if begins(row):
                compared = columns["time_s"]
            # All rows meet the same spikes, so differences are taken run by run.
            means["saved"] = mean_interval(100 * (1 - columns["time_s"] / compared))
            means["needless"] = mean_interval(100 * columns["spurious_retransmissions"] / columns["segments_sent"])
        return measured

    return measure


against_no_detection = against(lambda row: row.keys["detector"] == "none")
"""Compares with the row without a detector."""
