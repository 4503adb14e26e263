"""Sample runs of the artefacts in `measured.json`: `python -m eifel.documents samples` names rows that are older.

The digest of the results of an artefact's sample is stored with its rows. If the same runs give
other numbers today, the engine has changed under the rows, and they must be measured again. A
sample is a few of an artefact's own runs, so a change that none of them meets goes unnoticed. A
change that alters no run makes nothing stale.
"""

import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from eifel.documents import stored
from eifel.documents.stored import Stored
from eifel.papers import artefacts
from eifel.papers.dualrtt import parking_lot, tables4_and_5
from eifel.papers.responding import distances, settings, swept
from eifel.papers.spikes import ranking
from eifel.papers.spikes import settings as spikes
from eifel.papers.study import Effort
from eifel.runs import run_many
from eifel.studies import (
    captures_protocols,
    captures_truth,
    captures_whatif,
    cheating,
    detector_runs,
    liar_search,
    liars_fast,
    liars_neighbour,
    liars_repair,
    liars_sctp,
    questions,
    wire,
    wire_liars,
)
from eifel.studies.crossed_situations import CROSSED
from eifel.studies.situations import SITUATIONS
from eifel.sweeps import load
from eifel.worlds import small_worlds_each

MOST, RUNS = 24, 48
"""The most scenarios of a sample, and its runs in all: at least one of each scenario."""
SEARCH, DRAWS, CAPTURED, POINTS = 12, 8, 3, 6
"""The runs of a search for a liar, the draws of a path, the captured transfers, and the situations of detectors."""
SEGMENTS, SETTINGS = 2, 20
"""The segments of small worlds, and the settings of the sweep that a sample is drawn of."""
NUMBERS = (
    *("bytes", "goodput_bps", "time_s", "segments_sent", "retransmissions", "spurious_retransmissions"),
    *("timeouts", "spurious_timeouts", "fast_retransmits", "detected_spurious", "undos", "drops"),
)
"""The compared numbers of a run. A run's summary may get others without making rows stale."""


def _some(many: Sequence[Any], most: int = MOST) -> list[Any]:
    """Returns all, or `most` drawn at random. Every n-th of a product of settings could have the same sender."""
    return Random(1).sample(many, min(most, len(many)))


def _ran(scenarios: Iterable[Any], seed: int = 1, runs: int = RUNS) -> dict[str, list[float]]:
    """Returns the compared numbers of each scenario's first runs, by flow."""
    some = _some([{**one, "seed": seed} for one in scenarios])
    found = run_many(some, repetitions=max(1, runs // len(some)))
    return {name: found[name].tolist() for name in NUMBERS}


def _keys(name: str) -> list[dict[str, Any]]:
    return [dict(row.keys) for row in artefacts()[name].rows]


def _cells(of: Mapping[str, Any]) -> dict[str, list[float]]:
    """Returns the compared numbers of the first run in some cells of a sweep."""
    design = load({**of, "seed": 1, "repetitions": 1})
    found = run_many([design.source(design.cell(number)) for number in _some(range(design.cells))])
    return {name: found[name].tolist() for name in NUMBERS}


def _points(of: Callable[[Any, int, int], Mapping[str, Any]], situations: Sequence[Any]) -> list[Any]:
    """Returns the judged episodes of the first point of some situations."""
    found = (of(situation, 1, 0) for situation in _some(situations, POINTS))
    return [{name: column.tolist() for name, column in columns.items()} for columns in found]


def _liars() -> list[dict[str, Any]]:
    """Returns each detector of `detectors.liars` against each lie in turn, at the highest loss."""
    return [
        cheating.scenario(detect, "rfc4015", grant, cheating.LOSSES[-1], cheating.LIES[number % len(cheating.LIES)])
        for number, (detect, grant) in enumerate(
            (detect, grant) for grant in ("once-a-round-trip", "always") for detect in cheating.DETECTORS
        )
    ]


def _wire_liars() -> list[dict[str, Any]]:
    lies = ("none", *cheating.LIES)
    return [wire_liars.scenario(sender, cheating.LOSSES[-1], lie) for sender in wire_liars.SENDERS for lie in lies]


def _found(honest: Mapping[str, Any]) -> str:
    """Returns the best liar of a short search."""
    with tempfile.TemporaryDirectory() as folder:
        return liar_search.best(honest, SEARCH, Effort(1, 1, None, Path(folder)), lambda _: None)[0]


def _worlds() -> list[Any]:
    found = []
    for detect, respond, late in questions.questions():
        worlds = small_worlds_each(questions.scenario(detect, respond), [respond], segments=SEGMENTS, late_ms=late)
        found.append(
            [[one.caught, {name: failed.worlds for name, failed in one.failed.items()}] for one in worlds.values()]
        )
    return found


def _captured() -> list[Any]:
    """Returns how the analyser judges a few captured transfers, at each place."""
    from eifel import _engine
    from eifel.captures import Analysis

    found = []
    for seed in range(captures_truth.FIRST, captures_truth.FIRST + CAPTURED):
        for place, pcapng, known in _engine.captured(seed)[1]:
            score = Analysis(_engine.analyze_bytes(place, pcapng)).score_text(known)
            found.append([place, {name: score[name] for name in captures_truth.COUNTS}])
    return found


def _hidden() -> list[str]:
    from eifel import _engine

    return [_engine.whatif_trial(captures_whatif.HIDDEN, cross, DRAWS) for cross in ("none", "transfer")]


def _tables() -> dict[str, list[float]]:
    """Returns runs of tables 1 to 4 in some settings of the sweep."""
    return _ran(
        settings.row(row.keys, congested=table != "table1", fit=one)
        for one in swept.sample()[:SETTINGS]
        for table, row in distances.ROWS
    )


_LIE = cheating.scenario(cheating.PLAIN, "rfc4015", "always", cheating.LOSSES[-1], "none")
STUDIES: Mapping[str, Callable[[], Any]] = {
    "responding.calibration": _tables,
    "responding.front": _tables,
    **dict.fromkeys(("dualrtt.table5", "dualrtt.model"), partial(_cells, tables4_and_5.DESIGN)),
    **dict.fromkeys(("dualrtt.figure13", "dualrtt.figure15"), partial(_cells, parking_lot.DESIGN)),
    "spikes.table1": lambda: _ran(
        spikes.scenario(sender, kbps, window, case, spike=spikes.drawn_spike())
        for case, _, window, kbps, sender in ranking.GRID
    ),
    "detectors.truth": lambda: _points(detector_runs.PANEL.point_columns, (*SITUATIONS, *CROSSED)),
    "detectors.wire": lambda: _points(wire.PANEL.point_columns, wire.WIRE),
    "detectors.liars": lambda: _ran(_liars()),
    "detectors.wire_liars": lambda: _ran(_wire_liars()),
    "detectors.liars_found": lambda: [_ran(_liars()), _found(_LIE)],
    "detectors.liars_fast": lambda: _ran(
        (liars_fast.scenario(**keys) for keys in _keys("detectors.liars_fast")), runs=1
    ),
    "detectors.liars_repair": lambda: _ran(
        (
            liars_repair.scenario(keys["sender"], keys["rate_mbps"], liars_repair.LIAR)
            for keys in _keys("detectors.liars_repair")
            if keys["rate_mbps"] == min(liars_repair.PATHS)
        ),
        runs=1,
    ),
    "detectors.liars_sctp": lambda: _ran(
        liars_sctp.scenario(**keys, liar=liar) for keys in _keys("detectors.liars_sctp") for liar in liars_sctp.LIES
    ),
    "detectors.beside": lambda: _ran(
        liars_neighbour.shared(keys["detect"], keys["grant"], keys["loss"], keys["lie"])
        for keys in _keys("detectors.beside")
    ),
    "detectors.small_worlds": _worlds,
    **dict.fromkeys(("captures.kernel", "captures.tools", "captures.truth"), _captured),
    "captures.whatif": _hidden,
    "captures.protocols": lambda: [
        captures_protocols.judged(captures_protocols.HIDDEN + number) for number in range(CAPTURED)
    ],
}
"""The samples of artefacts that a study measures. The others run their rows."""


def has_sample(name: str) -> bool:
    """Returns whether some of an artefact's runs can be repeated: not those of a real kernel."""
    return name in STUDIES or not artefacts()[name].is_live


def digest(name: str) -> str:
    """Returns the digest of the results of an artefact's sample, with the installed engine."""
    artefact = artefacts()[name]
    found = STUDIES[name]() if name in STUDIES else _ran([dict(row.scenario) for row in artefact.rows], artefact.seed)
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:16]


def older(store: Stored) -> list[str]:
    """Returns the artefacts whose sample gives other results than when their rows were measured."""
    return [name for name, one in store.items() if "sample" in one and one["sample"] != digest(name)]


def unknown(store: Stored) -> list[str]:
    """Returns the artefacts whose rows were stored without the sample that they could have."""
    return [name for name, one in store.items() if "sample" not in one and has_sample(name)]


def main(names: Sequence[str]) -> None:
    """Prints the stored rows that are older than the engine: all, or those of the named artefacts."""
    store = {name: one for name, one in stored.read().items() if name in names or not names}
    found = older(store)
    for name in found:
        print(f"{name}: older than the engine; python -m eifel.documents measured {name}")
    for name in unknown(store):
        print(f"{name}: measured without a sample")
    real = [name for name in store if not has_sample(name)]
    for name in real:
        print(f"{name}: measured by kernel {store[name]['kernel']} on {store[name]['on']}, which no sample repeats")
    print(f"{len(store) - len(found) - len(unknown(store)) - len(real)} of {len(store)} are as measured")
    sys.exit(1 if found else 0)
