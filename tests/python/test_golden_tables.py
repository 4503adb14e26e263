"""Golden verdicts of claims on tables that were never measured: many equal values, or values far
from measured ones.

A claim that fails by far, or depends on many values together, does not change with a single value.
Its boundary between two whole tables depends on each of its constants and comparisons.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

import golden
from eifel.papers.artefact import Artefact, Measured, MeasuredRow
from eifel.result import Result
from eifel.statistics import Mean
from test_golden import OF_MEANS

EACH, MANY_ROWS = 24, 60
"""The number of tables of each kind, and the number of rows from which there are fewer."""
BOUNDARIES, STEPS = 6, 14
Draw = Callable[[int], float]
"""Draws a value for the row with this number."""


class Values(Mapping[str, Mean]):
    """A row's means, made on request. A `share` above 0 interpolates between two rows."""

    def __init__(self, here: Mapping[str, float], there: Mapping[str, float] | None = None, share: float = 0) -> None:
        self.here, self.there, self.share = here, here if there is None else there, share

    def __getitem__(self, name: str) -> Mean:
        value = (1 - self.share) * self.here[name] + self.share * self.there[name]
        return Mean(value, 0.01 * abs(value), 10)

    def __iter__(self) -> Iterator[str]:
        return iter(self.here)

    def __len__(self) -> int:
        return len(self.here)


Table = list[dict[str, float]]
"""The value of each column, for each row."""


def _kinds(dice: random.Random) -> dict[str, tuple[Draw, bool]]:
    """Returns the ways of drawing values, and whether the values are multiples of the kept ones."""

    def factor(width: float) -> Draw:
        return lambda _: math.exp(width * (2 * dice.random() - 1))

    return {
        "near": (factor(0.05), True),
        "off": (factor(0.5), True),
        "far": (factor(3), True),
        "shares": (lambda _: dice.random(), False),
        "percents": (lambda _: 100 * dice.random(), False),
        "nearly all": (lambda _: 100 - (10 * dice.random() if dice.random() < 0.3 else 0), False),
        "counts": (lambda _: float(int(4 * dice.random())), False),
        "equal": (lambda _: float(int(1.2 * dice.random())), False),
        "large": (lambda _: math.exp(16 * dice.random()), False),
        "rising": (lambda row: 1 + row + dice.random(), False),
        "signed": (lambda _: 200 * dice.random() - 100, False),
        "falling": (lambda row: 1 / (1 + row + dice.random()), False),
    }


def asked(artefact: Artefact, claim: int, results: Sequence[Result] = ()) -> set[str]:
    """Returns the names of all numbers that a claim reads."""
    names: set[str] = set()

    class Noted(dict[str, Mean]):
        def __missing__(self, name: str) -> Mean:
            names.add(name)
            return Mean(1.0, 0.01, 10)

    rows = [MeasuredRow(row, Noted()) for row in artefact.rows]
    replace(Measured(artefact, rows, results, 1, 1, 0.0), artefact=_with(artefact, claim)).claims()
    return names


def _with(artefact: Artefact, claim: int) -> Artefact:
    return replace(artefact, claims=artefact.claims[claim : claim + 1])


def tables(artefact: Artefact, base: Mapping[str, Sequence[float | None]], each: int) -> list[Table]:
    """Returns tables from a fixed seed. Half have separate values, and half have one per column and key's value."""
    dice = random.Random(artefact.id)
    drawn = []
    names = set().union(*(asked(artefact, claim) for claim, _ in enumerate(artefact.claims)))
    unknown = {name: [10.0 + row for row, _ in enumerate(artefact.rows)] for name in sorted(names - {*base})}
    for (draw, multiple), by_key, _ in itertools.product(_kinds(dice).values(), (False, True), range(each)):
        of_key: dict[Any, float] = {}
        key = dice.choice(artefact.keys)
        whole = draw(0) if multiple else 1.0
        table: Table = []
        for number, row in enumerate(artefact.rows):
            here = {}
            for name, column in {**base, **unknown}.items():
                kept = column[number]
                if kept is not None:
                    own = of_key.setdefault((name, row.keys.get(key)), draw(number)) if by_key else draw(number)
                    here[name] = kept * own * whole if multiple else own
            table.append(here)
        drawn.append(table)
    return drawn


@dataclass(frozen=True)
class Judge:
    """A claim, and whether it holds for a table."""

    artefact: Artefact
    claim: int
    results: Sequence[Result] = ()

    def holds(self, one: Table, other: Table | None = None, share: float = 0) -> bool:
        """Returns whether it holds for a table, or for one between it and another."""
        both = zip(self.artefact.rows, one, one if other is None else other, strict=True)
        rows = [MeasuredRow(row, Values(here, there, share)) for row, here, there in both]
        measured = Measured(self.artefact, rows, self.results, self.artefact.repetitions, 1, 0.0)
        try:
            return bool(self.artefact.claims[self.claim].check(measured))
        except (LookupError, ValueError, ZeroDivisionError, OverflowError):
            return False

    def boundary(self, true: Table, false: Table) -> float:
        """Returns the boundary between a table for which it holds and one for which it does not, as
        a share of the way.
        """
        near, far = 0.0, 1.0
        for _ in range(STEPS):
            middle = (near + far) / 2
            if self.holds(true, false, middle):
                near = middle
            else:
                far = middle
        return near

    def verdicts(self, drawn: Sequence[Table], boundaries: int) -> dict[str, Any]:
        """Returns the tables for which it holds, and its boundaries."""
        bits = [self.holds(table) for table in drawn]
        yes, no = ([table for table, bit in zip(drawn, bits, strict=True) if bit is word] for word in (True, False))
        pairs = list(zip(yes, no, strict=False))
        ends = [self.boundary(*pair) for pair in pairs[:: -(-len(pairs) // boundaries) or 1]]
        return {"holds": "".join("-+"[bit] for bit in bits), "boundaries": ends}


@pytest.mark.parametrize("artefact", [one for one in OF_MEANS if one.claims], ids=lambda artefact: artefact.id)
def test_a_claim_judges_drawn_tables_as_its_golden_says(artefact: Artefact) -> None:
    kept = golden.kept(f"claims/{artefact.id}")
    fewer = max(1, len(artefact.rows) // MANY_ROWS)
    drawn = tables(artefact, kept["base"], max(2, EACH // fewer))
    found = {
        claim.text: Judge(artefact, number).verdicts(drawn, max(2, BOUNDARIES // fewer))
        for number, claim in enumerate(artefact.claims)
    }
    golden.check(f"tables/{artefact.id}", found)
