"""Alters recorded runs to test claims about them: rows that are missing, later, longer or renamed.

A claim that holds does not show its boundary. Here each alteration has a size, and halving finds
the size at which a claim changes. The alterations of a column are drawn from its name, so a new
column changes none of the others'. A claim meets those of the tables that it reads.

Chance may leave out the one run that a claim compares, or alter it the other way. So a claim that
none of them refutes then meets each column of each run alone, altered as much as possible both ways.
"""

from __future__ import annotations

import itertools
import random
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from eifel.papers.artefact import Measured
from eifel.result import Result
from eifel.tables import Frame

MANY_RUNS = 6
"""An artefact with this many runs or more has all of them altered together, and none alone."""
STEPS = 12
"""How often the size of an alteration is halved to find where a claim changes."""
LARGEST = 3.0
"""The largest size of an alteration, either way."""
VALUES, ROWS = ("scaled", "shaken", "shifted"), ("without", "thinned")
"""What alters a column, and what alters a table's rows."""
EVENED = "evened"
"""What brings a column's values to equal distances from its first to its last: times without a gap, say."""
SUMMARY = "summary"
"""The first flow's summary, altered as if it were a table of one row."""


class Watched(Result):
    """A run that notes which tables are read, and whether its summary is."""

    def __init__(self, result: Result, read: set[str]) -> None:
        self._read = read
        super().__init__(result.source, result.repetition, result.flows, result.tables)

    def frame(self, name: str) -> Frame:
        self._read.add(name)
        return super().frame(name)

    @property
    def main(self) -> dict[str, Any]:
        self._read.add(SUMMARY)
        return super().main


@dataclass(frozen=True)
class Alteration:
    """A change to one table of one run, or of all runs. Without a column it is to the table's rows."""

    which: int | None
    table: str
    column: str
    kind: str
    size: float

    @property
    def place(self) -> str:
        """The table, and the column if it has one: `timer.rtt_ns`."""
        return f"{self.table}.{self.column}" if self.column else self.table

    def of(self, results: Sequence[Result], size: float | None = None) -> list[Result]:
        """Returns the runs, altered by this size."""
        size = self.size if size is None else size
        return [
            _altered(result, self, size) if self.which in (None, number) else result
            for number, result in enumerate(results)
        ]


def _altered(result: Result, how: Alteration, size: float) -> Result:
    if how.table == SUMMARY:
        return _resumed(result, how, size)
    rows = result.tables.get(how.table)
    if rows is None or (how.column and how.column not in rows.column_names):
        return result
    dice = np.random.default_rng(7).random(len(rows))
    if how.kind == "without":
        # Removes the first rows, the last, or some.
        share = abs(size) / 3
        place = (np.arange(len(rows)) + 0.5) / max(1, len(rows))
        rows = rows.filter(pa.array((place > share) if size > 0 else (place < 1 - share)))
    elif how.kind == "thinned":
        rows = rows.filter(pa.array(dice > abs(size) / 3))
    else:
        place = rows.schema.get_field_index(how.column)
        rows = rows.set_column(place, rows.schema.field(place), _values(rows[how.column], how.kind, size, dice))
    return Result(result.source, result.repetition, result.flows, {**result.tables, how.table: rows})


def _resumed(result: Result, how: Alteration, size: float) -> Result:
    first, *others = result.flows
    if how.column not in first:
        return result
    value = _values(pa.chunked_array([[first[how.column]]]), how.kind, size, np.zeros(1))[0].as_py()
    return Result(result.source, result.repetition, [{**first, how.column: value}, *others], result.tables)


def _values(column: pa.ChunkedArray, kind: str, size: float, dice: Any) -> pa.Array:
    array = column.combine_chunks()
    if pa.types.is_dictionary(array.type):
        codes = np.asarray(array.indices.fill_null(0).to_numpy(zero_copy_only=False)).astype(np.int64)
        # The next label, or any, also one that no row has.
        labels = pa.array([*array.dictionary.to_pylist(), "other"], array.dictionary.type)
        label = (dice * 1e6).astype(np.int64) if kind == "shaken" else codes + 1
        other = np.where(dice < abs(size) / 3, label % len(labels), codes)
        kinds = other.astype(array.indices.type.to_pandas_dtype())
        return pa.DictionaryArray.from_arrays(pa.array(kinds), labels)
    if pa.types.is_boolean(array.type):
        truth = np.asarray(array.to_numpy(zero_copy_only=False)).astype(bool)
        return pa.array(truth ^ (dice < abs(size) / 3))
    plain = array.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64)
    if kind == "scaled":
        changed = plain * 3.0 ** (size / 3)
    elif kind == EVENED:
        share = abs(size) / 3
        changed = (1 - share) * plain + share * np.linspace(*(plain[[0, -1]] if len(plain) else (0, 0)), len(plain))
    elif kind == "shaken":
        changed = plain * (1 + size / 3 * (dice - 0.5))
    else:
        # Counts change by some, and what is zero everywhere grows.
        peak = float(np.abs(plain).max(initial=0))
        least = 0 if pa.types.is_floating(array.type) else 3
        changed = plain + (size / 3 * max(peak, least) if peak else 3 * abs(size))
    if not pa.types.is_floating(array.type):
        changed = np.round(np.maximum(changed, 0))
    return pa.array(changed).cast(array.type)


def alterations(measured: Measured) -> list[Alteration]:
    """Returns alterations of all tables and of the summary: each column's are drawn from its name."""
    alone = (False,) if len(measured.results) >= MANY_RUNS else (False, True)
    found = []
    for table, column, kinds in _places(measured):
        dice = random.Random(f"{measured.artefact.id} {table} {column}")
        for kind, one in itertools.product(kinds, alone):
            which = int(dice.random() * len(measured.results)) if one else None
            found.append(Alteration(which, table, column, kind, 6 * dice.random() - 3))
    return found


def largest(measured: Measured) -> Iterator[Alteration]:
    """Yields the largest alterations of each column of each run alone.

    Rows stay: without them a claim has no verdict, which refutes nothing.
    """
    for which, (table, column, kinds) in itertools.product(range(len(measured.results)), _places(measured)):
        if column:
            yield from (
                Alteration(which, table, column, kind, LARGEST * way) for kind in (*kinds, EVENED) for way in (1, -1)
            )


def _places(measured: Measured) -> Iterator[tuple[str, str, Sequence[str]]]:
    for name in dict.fromkeys(name for result in measured.results for name in result.tables):
        yield name, "", ROWS
        having = (one.tables[name] for one in measured.results if name in one.tables)
        columns = dict.fromkeys(column for table in having for column in table.column_names)
        yield from ((name, column, VALUES) for column in columns if column not in ("flow", "end"))
    first = measured.results[0].flows[0]
    # A single number is not shaken.
    numbers = [name for name, value in first.items() if isinstance(value, int | float)]
    yield from ((SUMMARY, name, ("scaled", "shifted")) for name in numbers)


def verdicts(measured: Measured) -> dict[str, Any]:
    """Returns for each claim about runs its verdict, and the columns that change it.

    A column has its alterations' verdicts, and the size at which the first of them changes the claim's.
    """
    claims = [number for number, _ in enumerate(measured.artefact.claims) if read_by(measured, number)]
    tables = {number: read_by(measured, number) for number in claims}
    before = {number: _holds(measured, number, measured.results) for number in claims}
    columns: dict[int, dict[str, list[tuple[Alteration, str]]]] = {number: {} for number in claims}
    for one in alterations(measured):
        asked = [number for number in claims if one.table in tables[number]]
        results = one.of(measured.results) if asked else ()
        for number in asked:
            columns[number].setdefault(one.place, []).append((one, _holds(measured, number, results)))
    for number in claims:
        drawn = "".join(bit for bits in columns[number].values() for _, bit in bits)
        if before[number] == "+" and "-" not in drawn and (found := _refutation(measured, number, tables[number])):
            columns[number].setdefault(found.place, []).append((found, "-"))
    return {
        measured.artefact.claims[number].text: {
            "holds": before[number],
            "altered": {
                place: ["".join(bit for _, bit in bits), _end(measured, number, changed[0], before[number])]
                for place, bits in columns[number].items()
                if (changed := [one for one, bit in bits if bit != before[number]])
            },
        }
        for number in claims
    }


def _refutation(measured: Measured, claim: int, tables: set[str]) -> Alteration | None:
    """Returns the first of the largest alterations by which a claim is wrong, and not merely without a verdict."""
    asked = (one for one in largest(measured) if one.table in tables)
    return next((one for one in asked if _holds(measured, claim, one.of(measured.results)) == "-"), None)


def never_refuted(found: Mapping[str, Any]) -> list[str]:
    """Returns the claims that hold whatever is altered."""
    return [
        text
        for text, claim in found.items()
        if claim["holds"] == "+" and not any("-" in bits for bits, _ in claim["altered"].values())
    ]


def read_by(measured: Measured, claim: int) -> set[str]:
    """Returns the tables that a claim reads."""
    read: set[str] = set()
    _holds(measured, claim, [Watched(result, read) for result in measured.results])
    return read


def _end(measured: Measured, claim: int, one: Alteration, before: str) -> float:
    near, far = 0.0, one.size
    for _ in range(STEPS):
        middle = (near + far) / 2
        if _holds(measured, claim, one.of(measured.results, middle)) == before:
            near = middle
        else:
            far = middle
    return round(near, 3)


def _holds(measured: Measured, claim: int, results: Sequence[Result]) -> str:
    try:
        with warnings.catch_warnings():
            # Of altered numbers: a quotient or a mean may be no number, and the claim does not hold.
            warnings.simplefilter("ignore", RuntimeWarning)
            return "-+"[bool(measured.artefact.claims[claim].check(replace(measured, results=results)))]
    except (LookupError, ValueError, ZeroDivisionError):
        return "?"
