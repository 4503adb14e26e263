"""Every detector against the simulator's truth: over a published mix, and where two troubles meet."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np

from eifel.papers.artefact import Artefact, Claim, Links, Measured, Row, Setting, Studied
from eifel.papers.study import Effort, Study
from eifel.runs import Runs
from eifel.scenario import load
from eifel.statistics import Mean
from eifel.studies import crossed_situations, detector_runs, facts, judged, mix, recorded, situations
from eifel.studies.crossed_situations import CROSSED
from eifel.studies.detector_runs import PANEL, SIDE_BY_SIDE, kept
from eifel.studies.situations import SITUATIONS

TITLE = "detectors.truth"
ALL = "all"
"""The published mix."""
MET = "two troubles"
"""All situations in which two troubles meet."""
PROVING = ("eifel-timestamps", "eifel-timestamps (plain)", "eifel-bit", "dsack", "f-rto", "f-rto-sack")
"""Detectors that use the contents of ACKs. The others use their arrival times."""
PLAIN = "eifel-timestamps (plain)"
USUAL = tuple(name for name in PROVING if name != PLAIN)
LOST = "spikes with loss and lost ACKs"

ACKED = ("spike", "spike and loss", "reordering", "duplicates", "rate changes", "cellular")

TIMEOUTS_ONLY = ("dual-rtt", "min-rtt", "f-rto", "f-rto-sack")
PAIRS = tuple(permutations(SIDE_BY_SIDE, 2))
"""A detector and its fallback."""
EITHER = tuple(combinations(SIDE_BY_SIDE, 2))
"""Two detectors of which either suffices."""


def pair(first: str, fallback: str) -> str:
    """Returns the name of a detector with another as its fallback."""
    return f"{first}, else {fallback}"


def union(one: str, other: str) -> str:
    """Returns the name of two detectors of which either suffices."""
    return f"{one} or {other}"


def rows() -> tuple[Row, ...]:
    """Returns the rows: each detector and each pair in the whole mix, and each detector in each situation."""
    single = [Row({"situation": where, "detector": name}) for where in (ALL, MET) for name in PANEL.detectors]
    both = [*(pair(*names) for names in PAIRS), *(union(*names) for names in EITHER)]
    pairs = [Row({"situation": ALL, "detector": name}) for name in both]
    names = [situation.name for situation in (*SITUATIONS, *CROSSED)]
    apart = [Row({"situation": where, "detector": name}) for where in names for name in PANEL.detectors]
    return (*single, *pairs, *apart)


def rows_of_traces(traces: Sequence[Path]) -> tuple[Row, ...]:
    there = recorded.situations(traces)
    return (*rows(), *(Row({"situation": s.name, "detector": name}) for s in there for name in PANEL.detectors))


def measure(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    situations = (str(row.keys["situation"]) for row in artefact.rows)
    names = [name for name in dict.fromkeys(situations) if name not in (ALL, MET)]
    mixed = np.arange(len(SITUATIONS))
    met = len(SITUATIONS) + np.arange(len(CROSSED))
    there = {name: runs[name] for name in runs.columns}
    alone = PANEL.by_detector(there)
    # In the mix all detectors observe side by side. Some combined troubles have no timestamps.
    beside = {name: kept(alone[name], np.isin(alone[name]["situation"], mixed)) for name in SIDE_BY_SIDE}
    by_name = dict(alone)
    by_name |= {pair(*both): facts.fallen_back(*(beside[name] for name in both)) for both in PAIRS}
    by_name |= {union(*both): facts.either(*(beside[name] for name in both)) for both in EITHER}
    measured = []
    for row in artefact.rows:
        columns, where = by_name[str(row.keys["detector"])], str(row.keys["situation"])
        # Recorded links belong to their owners, so "all" means the published mix only.
        places = mixed if where == ALL else met if where == MET else [names.index(where)]
        measured.append(facts.counts(kept(columns, np.isin(columns["situation"], places))))
    return measured


def find(effort: Effort, traces: Sequence[Path] = ()) -> Mapping[str, Any]:
    """Returns all episodes with all verdicts: the mix, combined troubles, and recorded links at the end."""
    links = recorded.situations(traces)
    for link in links:
        # Refuses an invalid recording at once, and not after minutes.
        load(link.scenario(effort.seed, 0, {}))
    there = (*SITUATIONS, *CROSSED)
    drawn = PANEL.episodes(effort, TITLE, there)
    if not links:
        return drawn
    asked = {"recordings": [hashlib.sha256(trace.read_bytes()).hexdigest() for trace in traces]}
    linked = PANEL.episodes(effort, f"{TITLE}.recorded", links, asked)
    linked["situation"] += len(there)
    return {name: np.concatenate([drawn[name], linked[name]]) for name in drawn}


def study(traces: Sequence[Path] = ()) -> Study:
    """Returns the study of the mix and of combined troubles, and of recorded links if there are any."""
    sources = (find, crossed_situations, detector_runs, judged, mix, recorded, situations)
    return Study(partial(find, traces=traces), PANEL.design((*SITUATIONS, *CROSSED)), sources)


Value = Callable[[str, str, str], float]
"""Returns a column's mean for a detector in a situation."""


def _claim(text: str, check: Callable[[Value], bool]) -> Claim:
    def of(measured: Measured) -> Value:
        return lambda column, detector, situation: measured.mean(column, situation=situation, detector=detector)

    return Claim(text, lambda measured: check(of(measured)))


CLAIMS = (
    _claim("at least 100 000 episodes are judged", lambda of: of("episodes", "eifel-bit", ALL) >= 100_000),
    _claim(
        "what goes by what ACKs say (Eifel, DSACK, F-RTO) calls no genuine retransmission spurious, of 40 000 and more",
        lambda of: (
            all(of("false_positives", name, ALL) == 0 for name in PROVING)
            and of("true_negatives", "eifel-timestamps", ALL) > 40_000
        ),
    ),
    _claim(
        "what goes by time is wrong now and then: DualRTT in less than 1 of 1000 genuine ones, the smallest round trip "
        "in more than that",
        lambda of: of("false", "dual-rtt", ALL) < 0.1 < of("false", "min-rtt", ALL),
    ),
    _claim(
        "where a spike loses nothing, Eifel, F-RTO and DSACK find 999 of 1000 and more, and DualRTT 95 of 100",
        lambda of: all(of("found", name, "spike") >= 99.9 for name in USUAL) and of("found", "dual-rtt", "spike") > 95,
    ),
    _claim(
        "where it loses the window's tail, most episodes are mixed: Eifel by timestamps calls three of four of these "
        "spurious though something was lost, F-RTO and DSACK none",
        lambda of: (
            of("mixed_undone", "eifel-timestamps", "spike and loss")
            + of("mixed_kept", "eifel-timestamps", "spike and loss")
            > of("true_positives", "eifel-timestamps", "spike and loss")
            and of("mixed", "eifel-timestamps", "spike and loss") > 75
            and all(of("mixed", name, "spike and loss") == 0 for name in ("f-rto", "f-rto-sack", "dsack"))
        ),
    ),
    _claim(
        "to believe the original's own timestamp alone, which no liar knows, costs less than 1 of 500 wherever ACKs"
        " get through, and a third of what it finds where they are lost",
        lambda of: (
            all(of("found", "eifel-timestamps", where) > of("found", PLAIN, where) - 0.2 for where in ACKED)
            and of("found", "eifel-timestamps", "lost ACKs") < 0.8 * of("found", PLAIN, "lost ACKs")
        ),
    ),
    _claim(
        "by the time DSACK speaks, five times as much has been sent needlessly as when Eifel does",
        lambda of: of("needless_bytes", "dsack", "spike") > 5 * of("needless_bytes", "eifel-timestamps", "spike"),
    ),
    _claim(
        "of spurious fast retransmits, DSACK finds more than Eifel does, and what watches timeouts alone finds none",
        lambda of: (
            of("found_fast_retransmits", "dsack", "reordering")
            > of("found_fast_retransmits", "eifel-timestamps", "reordering")
            > 25
            and all(of("found_fast_retransmits", name, "reordering") == 0 for name in TIMEOUTS_ONLY)
        ),
    ),
    _claim(
        "where ACKs are lost, what goes by them finds less than a third: RFCs 3522 and 3708 let such signals stand",
        lambda of: all(of("found", name, "lost ACKs") < 100 / 3 for name in PROVING),
    ),
    _claim("DSACK finds nothing where the network duplicates", lambda of: of("found", "dsack", "duplicates") == 0),
    _claim(
        "DualRTT and the smallest round trip miss three of four timeouts of a rate that falls; Eifel finds 99 of 100",
        lambda of: (
            of("found", "dual-rtt", "rate changes") < 25
            and of("found", "min-rtt", "rate changes") < 25
            and of("found", "eifel-timestamps", "rate changes") > 99
        ),
    ),
    _claim(
        "a fallback for its silence adds nothing to Eifel, which hardly ever is silent",
        lambda of: of("found", "eifel-timestamps, else dsack", ALL) - of("found", "eifel-timestamps", ALL) < 0.1,
    ),
    _claim(
        "to believe DSACK as well finds a tenth more of the spurious fast retransmits, and is never wrong either",
        lambda of: (
            of("found_fast_retransmits", "eifel-timestamps or dsack", ALL)
            > 1.1 * of("found_fast_retransmits", "eifel-timestamps", ALL)
            and of("false_positives", "eifel-timestamps or dsack", ALL) == 0
        ),
    ),
    _claim(
        "where two troubles meet, the original's own timestamp still proves no needed retransmission spurious",
        lambda of: of("false_positives", "eifel-timestamps", MET) == 0 < of("true_negatives", "eifel-timestamps", MET),
    ),
    _claim(
        "where data and ACKs are lost, the second ACK finds spurious timeouts that the original's timestamp misses",
        lambda of: of("found_timeouts", "eifel-or-f-rto", LOST) > of("found_timeouts", "eifel-timestamps", LOST),
    ),
)

LEFT_OPEN = (
    Setting("mix", "drawn from the seed", "docs/internals/detectors.md lists the situations and what each draws"),
    Setting("timer", "Linux's, at least 200 ms above the round trip", "shorter spikes matter then too"),
    Setting("response", "none", "what was seen before a verdict is then what every sender would have seen"),
)

ARTEFACT = Artefact(
    id=TITLE,
    title="Every detector against the simulator's truth",
    source="eifel, docs/internals/detectors.md",
    columns=facts.COLUMNS,
    rows=rows(),
    claims=CLAIMS,
    fitted=LEFT_OPEN,
    method=Studied(study(), measure=measure, long=True),
    links=Links(rows_of_traces, study),
)
