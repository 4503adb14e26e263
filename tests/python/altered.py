"""Alters recorded runs to test claims about them: rows that are missing, later, longer or renamed.

A claim that holds does not show its boundary. Here each alteration has a size, and halving finds
the size at which a claim changes.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from eifel.papers.artefact import Measured
from eifel.result import Result

ALTERATIONS, MANY_RUNS = 48, 6
"""The number of alterations per artefact, and the number of runs from which there are fewer."""
MOST_ENDS, STEPS = 4, 12


@dataclass(frozen=True)
class Alteration:
    """A change to one table of one run, or of all runs."""

    which: int | None
    table: str
    column: str
    kind: str
    size: float

    def of(self, results: Sequence[Result], size: float | None = None) -> list[Result]:
        """Returns the runs, altered by this size."""
        size = self.size if size is None else size
        return [
            _altered(result, self, size) if self.which in (None, number) else result
            for number, result in enumerate(results)
        ]


def _altered(result: Result, how: Alteration, size: float) -> Result:
    if how.table not in result.tables or how.column not in result.tables[how.table].column_names:
        return result
    rows = result.tables[how.table]
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


def _values(column: pa.ChunkedArray, kind: str, size: float, dice: Any) -> pa.Array:
    array = column.combine_chunks()
    if pa.types.is_dictionary(array.type):
        codes = np.asarray(array.indices.fill_null(0).to_numpy(zero_copy_only=False)).astype(np.int64)
        other = np.where(dice < abs(size) / 3, (codes + 1) % len(array.dictionary), codes)
        kinds = other.astype(array.indices.type.to_pandas_dtype())
        return pa.DictionaryArray.from_arrays(pa.array(kinds), array.dictionary)
    if pa.types.is_boolean(array.type):
        truth = np.asarray(array.to_numpy(zero_copy_only=False)).astype(bool)
        return pa.array(truth ^ (dice < abs(size) / 3))
    plain = array.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64)
    if kind == "scaled":
        changed = plain * 3.0 ** (size / 3)
    elif kind == "shaken":
        changed = plain * (1 + size / 3 * (dice - 0.5))
    else:
        changed = plain + size / 3 * np.abs(plain).max(initial=0)
    if not pa.types.is_floating(array.type):
        changed = np.round(np.maximum(changed, 0))
    return pa.array(changed).cast(array.type)


def alterations(measured: Measured) -> list[Alteration]:
    """Returns alterations of all tables, drawn from a fixed seed."""
    dice = random.Random(measured.artefact.id)
    tables = measured.results[0].tables
    names = [name for name in tables if tables[name].num_rows]
    found = []
    for _ in range(ALTERATIONS if len(measured.results) < MANY_RUNS else ALTERATIONS // 4):
        table = dice.choice(names)
        column = dice.choice([name for name in tables[table].column_names if name not in ("flow", "end")])
        kind = dice.choice(("scaled", "shaken", "shifted", "without", "thinned"))
        which = None if dice.random() < 0.5 else int(dice.random() * len(measured.results))
        found.append(Alteration(which, table, column, kind, 6 * dice.random() - 3))
    return found


def verdicts(measured: Measured) -> dict[str, Any]:
    """Returns for each claim which alterations leave it unchanged, and the boundary sizes of some others."""
    asked, most = alterations(measured), MOST_ENDS if len(measured.results) < MANY_RUNS else 1
    found: dict[str, Any] = {}
    for number, claim in enumerate(measured.artefact.claims):
        before = _holds(measured, number, measured.results)
        bits = [_holds(measured, number, one.of(measured.results)) for one in asked]
        changed = [one for one, bit in zip(asked, bits, strict=True) if bit != before]
        ends = [_end(measured, number, one, before) for one in changed[:: -(-len(changed) // most) or 1]]
        found[claim.text] = {"holds": "".join(bits), "ends": ends}
    return found


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
        return "-+"[bool(measured.artefact.claims[claim].check(replace(measured, results=results)))]
    except (LookupError, ValueError, ZeroDivisionError):
        return "?"
