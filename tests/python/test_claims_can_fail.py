"""Each claim that holds fails once what it reads is changed enough.

For a claim about recorded runs the test finds the tables and numbers that it reads, and changes each
column of them. For a claim about means it reads the golden files of the changed tables.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from altered import Watched
from eifel import store
from eifel.model import Prediction, Samples, loss
from eifel.papers import artefacts
from eifel.papers.artefact import Artefact, Measured, MeasuredRow
from eifel.papers.dualrtt import sessions
from eifel.papers.thesis import figure5_18, timer_figure
from eifel.reproduction import reproduce
from eifel.result import Result
from eifel.runs import run
from eifel.statistics import Mean
from golden import FOLDER
from test_golden_tables import Judge, tables

RECORDED = [one for one in artefacts().values() if one.is_recorded and not one.is_live]
ON_A_WIRE = [one for one in artefacts().values() if one.is_recorded and one.is_live]
OF_MEANS = [one for one in artefacts().values() if not one.is_recorded and one.rows and one.claims]
OVER_TRACES = [one for one in artefacts().values() if one.needs_traces]
MANY_RUNS = 10
"""Of more runs than these, all are changed in the same way at once."""
FACTORS = (0.0, 0.5, 0.9, 1.1, 2.0)
COMPUTED: dict[str, list[str]] = {
    "dualrtt.figure14": [
        "by the paper's formula (computed, not run) the window limits Reno and DualRTT to 32.9 kbit/s, and Eifel with "
        "its timestamps to 33.6"
    ],
    "thesis.figure5_7": [
        "a spurious fast retransmit costs 9 percent where the pipe holds half of the load, 13 where it holds all",
        "a spurious timeout costs 33 and 50 percent",
    ],
    "thesis.figure5_8": [
        "RTO_L is the largest just after the round trip has fallen, in the model",
        "it then predicts more than twice the round trip",
    ],
    "thesis.figure5_9": [
        "RTO_L collapses: in every flight but the first two it comes down to the next round trip and below it",
        "with a largest load of 10 it does not: it stays above every round trip",
    ],
    "thesis.figure5_13": [
        "RTO_E does not rise when the round trip falls, in the model",
        "the shock absorber: in the second half of each flight RTO_L falls, by up to a tenth, and RTO_E by at most 2 %",
        "REXMT_L lies about a round trip above RTO_L (0.8 to 1.1), REXMT_E is RTO_E",
    ],
    "thesis.figure5_14": [
        "RTO_E / RTT is fairly constant over the cycle: after the first flight within 30 % of its mean",
        "and hardly depends on the load: the means for 10, 20, 40 and 100 are within 15 % of each other",
        "RTO_L / RTT, for 10 and 40, does: the one is a fifth larger than the other",
    ],
    "thesis.figure5_15": [
        "in the model RTO_E with a gain of a third stays above the round trip with every load from 4 to 80 segments"
    ],
    "thesis.figure5_18": [
        "k = 0.1 takes roughly 10 percent off AGG in a cycle: 9 to 11",
        "it converges on the round trip until a timeout is spurious: RTO_AGG comes below the round trip",
        "each spurious timeout backs it off: AGG rises at each, and at nothing else",
        "once trained it costs a spurious timeout in some cycles, not in each: one in 3 to 8 of the last 20",
    ],
}
"""Claims that no measured number decides: they compute with the paper's formulas or models. Their test changes what
these return.
"""
FORMULAS: dict[str, tuple[Any, str]] = {
    "dualrtt.figure14": (sessions, "saturation_kbps"),
    "thesis.figure5_7": (loss, "by_squares"),
}
"""The functions that compute a claim's numbers. All other computed claims read a timer's prediction."""


class Read(dict[str, Mean]):
    """The means of a row. It notes which of them are read."""

    def __init__(self, means: Mapping[str, Mean]) -> None:
        super().__init__(means)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> Mean:
        self.read.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.read.add(name)
        return super().get(name, default)

    def __iter__(self) -> Iterator[str]:
        self.read.update(super().keys())
        return super().__iter__()

    def items(self) -> Any:
        self.read.update(super().keys())
        return super().items()

    def values(self) -> Any:
        self.read.update(super().keys())
        return super().values()


def _tables(table: pa.Table) -> Iterator[pa.Table]:
    """Yields changed tables: fewer rows, and each column with other values."""
    half = table.num_rows // 2
    yield from (table.slice(0, half), table.slice(half), table.slice(0, 1), table.slice(0, 0))
    for place, field in enumerate(table.schema):
        if field.name in ("flow", "end"):
            continue
        array = table.column(place).combine_chunks()
        for changed in _columns(array):
            yield table.set_column(place, field, changed)


def _columns(array: pa.Array) -> Iterator[pa.Array]:
    if pa.types.is_dictionary(array.type):
        for code, _ in enumerate(array.dictionary):
            codes = pa.array(np.full(len(array), code), type=array.indices.type)
            yield pa.DictionaryArray.from_arrays(codes, array.dictionary)
    elif pa.types.is_boolean(array.type):
        yield from (pa.array(np.full(len(array), value)) for value in (False, True))
    else:
        plain = array.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64)
        rounded = not pa.types.is_floating(array.type)
        for factor in (*FACTORS, np.linspace(1, 2, len(plain)), np.linspace(2, 1, len(plain))):
            changed = plain * factor
            yield pa.array(np.round(changed) if rounded else changed).cast(array.type, safe=False)


def _runs(result: Result, read: set[str]) -> Iterator[Result]:
    """Yields a run with changes to the tables that are read, and to its summary."""
    for name in sorted(read & {*result.tables}):
        for table in _tables(result.tables[name]):
            yield Result(result.source, result.repetition, result.flows, {**result.tables, name: table})
    if "summary" in read:
        first, *others = result.flows
        for name, value in first.items():
            if isinstance(value, int | float):
                for changed in (*(factor * value for factor in FACTORS), value + 1, value - 1):
                    flows = [{**first, name: changed}, *others]
                    yield Result(result.source, result.repetition, flows, result.tables)


def _changed(measured: Measured, claim: int) -> Iterator[Measured]:
    """Yields the measured artefact with changes to what a claim reads."""
    read: list[set[str]] = [set() for _ in measured.results]
    results = [Watched(result, names) for result, names in zip(measured.results, read, strict=True)]
    means = [Read(row.means) for row in measured.rows]
    rows = [replace(row, means=noted) for row, noted in zip(measured.rows, means, strict=True)]
    _holds(replace(measured, results=results, rows=rows), claim)
    for number, row in enumerate(measured.rows):
        for name, mean in ((name, row.means[name]) for name in sorted(means[number].read & {*row.means})):
            for changed in (*(factor * mean.mean for factor in FACTORS), mean.mean + 1, mean.mean - 1):
                other = MeasuredRow(row.row, {**row.means, name: Mean(changed, 0.0, 1)})
                yield replace(measured, rows=[*measured.rows[:number], other, *measured.rows[number + 1 :]])
    asked = {number: _runs(measured.results[number], names) for number, names in enumerate(read) if names}
    if len(asked) > MANY_RUNS:
        for runs in zip(*asked.values(), strict=False):
            yield _with(measured, dict(zip(asked, runs, strict=True)))
    else:
        for number, changes in asked.items():
            yield from (_with(measured, {number: run}) for run in changes)


def _with(measured: Measured, runs: Mapping[int, Result]) -> Measured:
    return replace(measured, results=[runs.get(number, result) for number, result in enumerate(measured.results)])


def _holds(measured: Measured, claim: int) -> bool | None:
    """Returns a claim's verdict; None if the measured values do not allow one."""
    try:
        with warnings.catch_warnings():
            # Of an empty column: its mean is no number, and the claim does not hold.
            warnings.simplefilter("ignore", RuntimeWarning)
            return bool(measured.artefact.claims[claim].check(measured))
    except (LookupError, ValueError, ZeroDivisionError, TypeError):
        return None


def _cannot_fail(measured: Measured) -> list[str]:
    return [
        claim.text
        for number, claim in enumerate(measured.artefact.claims)
        if _holds(measured, number)
        and not any(_holds(changed, number) is False for changed in _changed(measured, number))
    ]


@pytest.mark.parametrize("artefact", RECORDED, ids=lambda one: one.id)
def test_a_claim_about_runs_fails_once_what_it_reads_is_changed(artefact: Artefact) -> None:
    assert _cannot_fail(reproduce(artefact)) == COMPUTED.get(artefact.id, [])


@pytest.mark.parametrize("artefact", ON_A_WIRE, ids=lambda one: one.id)
def test_a_claim_about_runs_on_a_wire_fails_once_simulated_ones_are_changed(artefact: Artefact) -> None:
    results = [run(row.scenario) for row in artefact.rows]
    for result in results:
        # Just within what a wire may differ.
        result.main.update(difference_ms=5.5, late_ms=1.0)
    measured = store.measured_figure(artefact, results, 1, 0.0)
    assert [claim["text"] for claim in measured.claims() if not claim["holds"]] == []
    assert _cannot_fail(measured) == []


@pytest.mark.parametrize("artefact", OVER_TRACES, ids=lambda one: one.id)
def test_a_claim_about_given_links_fails_once_what_it_reads_is_changed(artefact: Artefact, tmp_path: Path) -> None:
    trace = tmp_path / "tunnel.down"
    trace.write_text("".join(f"{ms if ms < 30_000 else ms + 8000}\n" for ms in range(4, 60_000, 4)))
    measured = reproduce(artefact, traces=[trace], repetitions=1)
    assert [claim["text"] for claim in measured.claims() if not claim["holds"]] == []
    base = {c.name: [row.means[c.name].mean for row in measured.rows] for c in artefact.columns}
    for number, _ in enumerate(artefact.claims):
        assert "-" in Judge(measured.artefact, number).verdicts(tables(measured.artefact, base, 6), 3)["holds"]


def test_no_claim_is_left_out() -> None:
    judged = {one.id for one in (*RECORDED, *ON_A_WIRE, *OF_MEANS, *OVER_TRACES)}
    assert {one.id for one in artefacts().values() if one.claims} <= judged


@pytest.mark.parametrize("artefact", OF_MEANS, ids=lambda one: one.id)
def test_a_claim_about_means_fails_for_some_of_the_changed_tables(artefact: Artefact) -> None:
    flips, drawn = (_golden(kind, artefact) for kind in ("claims", "tables"))
    flips = flips.get("flips", {})
    sure = [
        claim.text
        for claim in artefact.claims
        if flips.get(claim.text, {}).get("holds")
        and not any(" " in place for place in flips[claim.text])
        and "-" not in drawn.get(claim.text, {}).get("holds", "")
    ]
    assert sure == COMPUTED.get(artefact.id, [])


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in COMPUTED.items() for text in texts], ids=lambda word: word[:40]
)
def test_a_computed_claim_fails_once_what_it_computes_is_changed(
    name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check: Any = next(claim.check for claim in artefacts()[name].claims if claim.text == text)
    assert check(None)
    verdicts = []
    for owner, function, changed in _changed_functions(name):
        with monkeypatch.context() as patch:
            patch.setattr(owner, function, changed)
            _forget_predictions()
            verdicts.append(bool(check(None)))
    _forget_predictions()
    assert False in verdicts


def _changed_functions(name: str) -> Iterator[tuple[Any, str, Any]]:
    """Yields the function that an artefact's claims compute with, and each time another change of what it returns."""
    owner, function = FORMULAS.get(name, (Samples, "predict"))
    original = getattr(owner, function)
    if name in FORMULAS:
        for factor in FACTORS[1:]:
            yield owner, function, lambda *given, factor=factor: factor * original(*given)
        return
    for timer in ("lite", "eifel", "self-trained"):
        for change in _PREDICTIONS:

            def predict(*given: Any, timer: str = timer, change: Any = change, **more: Any) -> Prediction:
                found = original(*given, **more)
                return replace(found, **change(found)) if found.timer == timer else found

            yield owner, function, predict


def _times(factor: float) -> Any:
    return lambda found: {name: (factor * getattr(found, name)).astype(np.int64) for name in ("rto_ns", "rexmt_ns")}


_PREDICTIONS = (
    *map(_times, FACTORS[1:]),
    lambda found: {"rto_ns": (found.rto_ns * np.linspace(1, 2, len(found.rto_ns))).astype(np.int64)},
    lambda found: {"rto_ns": (found.rto_ns * (1 + found.samples.model.max_load / 50)).astype(np.int64)},
    lambda found: {"rto_ns": found.rto_ns[::-1].copy()},
    lambda found: {"rto_ns": (found.rto_ns * 0.99 ** (np.arange(len(found.rto_ns)) % 100)).astype(np.int64)},
    lambda found: {"rexmt_ns": 2 * found.rexmt_ns},
    lambda found: {"expired": np.zeros_like(found.expired)},
    lambda found: {"expired": np.ones_like(found.expired)},
)
"""Changes to a prediction: all longer or shorter, rising with time or load, reversed, decaying, later
timeouts, none, all.
"""


def _forget_predictions() -> None:
    for cached in (timer_figure._predicted, figure5_18._prediction, figure5_18._untrained):
        cached.cache_clear()


def _golden(kind: str, artefact: Artefact) -> dict[str, Any]:
    path = FOLDER / kind / f"{artefact.id}.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found
