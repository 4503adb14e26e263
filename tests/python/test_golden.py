"""Golden tests of the artefacts, of the boundaries of each claim, and of the pictures."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import golden
from eifel.papers import artefacts
from eifel.papers.artefact import Artefact, Measured, MeasuredRow, Repeated, Studied
from eifel.reproduction import reproduce
from eifel.statistics import Mean

ALL = list(artefacts().values())
PAPERS = sorted({artefact.id.partition(".")[0] for artefact in ALL})
STORE = json.loads((Path(__file__).parents[2] / "docs" / "internals" / "measured.json").read_text(encoding="utf-8"))
OF_MEANS = [artefact for artefact in ALL if not artefact.is_recorded and artefact.rows]
SHORT = [artefact for artefact in OF_MEANS if not artefact.is_long]


def digest(value: Any) -> str:
    return sha256(json.dumps(golden.rounded(value), sort_keys=True, default=str).encode()).hexdigest()[:16]


def declared(artefact: Artefact) -> dict[str, Any]:
    """Returns everything that an artefact declares, with the settings of its runs as a digest."""
    runs = artefact.study.design if artefact.study else [dict(row.scenario) for row in artefact.rows]
    return {
        "title": artefact.title,
        "source": artefact.source,
        "how": [type(artefact.method).__name__, artefact.repetitions, artefact.seed, artefact.flow],
        "is": [artefact.is_long, artefact.is_live, artefact.needs_traces, artefact.draw is not None],
        "columns": [list(vars(column).values()) for column in artefact.columns],
        "runs": digest(runs),
        "rows": [len(artefact.rows), digest([[row.name, dict(row.keys)] for row in artefact.rows])],
        "published": [dict(row.published) for row in artefact.rows if row.published],
        "fitted_rows": [number for number, row in enumerate(artefact.rows) if artefact.is_calibration(row)],
        "claims": [claim.text for claim in artefact.claims],
        "open": [digest(setting.json()) for setting in artefact.fitted],
        "known": digest(artefact.known),
    }


@pytest.mark.parametrize("paper", PAPERS)
def test_the_declarations_of_a_paper_match_their_golden(paper: str) -> None:
    found = {artefact.id: declared(artefact) for artefact in ALL if artefact.id.startswith(f"{paper}.")}
    golden.check(f"declared/{paper}", found)


class Read(Mapping[str, Mean]):
    """A row's means, which records the requested ones."""

    def __init__(self, row: int, means: dict[str, Mean], asked: set[tuple[int, str]]) -> None:
        self.row, self.means, self.asked = row, means, asked

    def __getitem__(self, name: str) -> Mean:
        mean = self.means[name]
        self.asked.add((self.row, name))
        return mean

    def __iter__(self) -> Iterator[str]:
        return iter(self.means)

    def __len__(self) -> int:
        return len(self.means)


class Table:
    """An artefact's rows with any values, and the claims about them."""

    def __init__(self, artefact: Artefact, base: dict[str, list[float | None]]) -> None:
        self.artefact = artefact
        self.asked: set[tuple[int, str]] = set()
        values = [{name: column[row] for name, column in base.items()} for row in range(len(artefact.rows))]
        self.means = [{name: _mean(value) for name, value in row.items() if value is not None} for row in values]
        rows = [MeasuredRow(row, Read(n, self.means[n], self.asked)) for n, row in enumerate(artefact.rows)]
        self.measured = Measured(artefact, rows, [], artefact.repetitions, 1, 0.0)

    def holds(self, claim: int, place: tuple[int, str] | None = None, factor: float = 1.0) -> bool:
        """Returns whether a claim holds with one value multiplied by `factor`. A value of zero becomes `factor` - 1."""
        if place is None:
            return self._judged(claim)
        means = self.means[place[0]]
        as_it_is = means[place[1]]
        means[place[1]] = _mean(factor * as_it_is.mean if as_it_is.mean else factor - 1)
        held = self._judged(claim)
        means[place[1]] = as_it_is
        return held

    def _judged(self, claim: int) -> bool:
        try:
            return bool(self.artefact.claims[claim].check(self.measured))
        except (LookupError, ValueError, ZeroDivisionError):
            return False

    def flips(self, claim: int) -> dict[str, Any]:
        """Returns whether a claim holds, and the factors on a value at which that changes."""
        self.asked.clear()
        holds = self.holds(claim)
        found: dict[str, Any] = {"holds": holds}
        read = sorted(self.asked)
        for place in read[:: -(-len(read) // MOST_READ) or 1]:
            ends = [self._end(claim, place, holds, up) for up in (1 / FARTHEST, FARTHEST)]
            if any(end is not None for end in ends):
                found[f"{place[0]} {place[1]}"] = ends
        found["read"] = digest(sorted(self.asked))
        return found

    def _end(self, claim: int, place: tuple[int, str], holds: bool, to: float) -> float | None:
        if self.holds(claim, place, to) == holds:
            return None
        near, far = 1.0, to
        while abs(near / far - 1) > 1e-5:
            middle = float(np.sqrt(near * far))
            if self.holds(claim, place, middle) == holds:
                near = middle
            else:
                far = middle
        return float(f"{near:.4g}")


def _mean(value: float) -> Mean:
    return Mean(value, 0.01 * abs(value), 10)


FARTHEST = 8.0
MOST_READ = 24
"""The most values of a claim that are changed. If it reads more, they are spread evenly."""


def base_of(artefact: Artefact) -> dict[str, list[float | None]]:
    """Returns values for all rows: the stored ones, or invented ones."""
    if artefact.id in STORE:
        there = {json.dumps(row["keys"]): row["measured"] for row in STORE[artefact.id]["rows"]}
        rows = [there.get(json.dumps(dict(row.keys)), {}) for row in artefact.rows]
    elif isinstance(artefact.method, Repeated) or not artefact.is_long:
        measured = reproduce(artefact, repetitions=min(artefact.repetitions, 2))
        rows = [{name: mean.mean for name, mean in row.means.items()} for row in measured.rows]
    else:
        rows = [{column.name: 10.0 + number for column in artefact.columns} for number in range(len(artefact.rows))]
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


@pytest.mark.parametrize("artefact", OF_MEANS, ids=lambda artefact: artefact.id)
def test_a_claim_fails_at_the_values_of_its_golden(artefact: Artefact) -> None:
    """Changes each value that a claim reads alone, until the claim changes."""
    before = None if golden.WRITES else golden.kept(f"claims/{artefact.id}")
    base = before["base"] if before else golden.rounded(base_of(artefact))
    table = Table(artefact, base)
    flips = {claim.text: table.flips(number) for number, claim in enumerate(artefact.claims)}
    golden.check(f"claims/{artefact.id}", {"base": base, "flips": flips})


@pytest.mark.parametrize("artefact", SHORT, ids=lambda artefact: artefact.id)
def test_a_short_table_measures_the_values_of_its_golden(artefact: Artefact) -> None:
    few = 2 if isinstance(artefact.method, Repeated) else artefact.repetitions
    found = reproduce(artefact, repetitions=few)
    golden.check(f"rows/{artefact.id}", rows_of(found))


def rows_of(measured: Measured) -> dict[str, Any]:
    """Returns each row's means and intervals, and which claims hold."""
    return {
        "rows": {
            row.row.name: {
                name: [mean.mean, *(mean.interval or ()), mean.count] if mean.interval else mean.mean
                for name, mean in row.means.items()
            }
            for row in measured.rows
        },
        "claims": [claim["holds"] for claim in measured.claims()],
        "reasons": [claim["reason"] for claim in measured.claims() if "reason" in claim],
    }


DRAWN = [artefact for artefact in OF_MEANS if artefact.draw is not None and not isinstance(artefact.method, Repeated)]


@pytest.mark.parametrize("artefact", DRAWN, ids=lambda artefact: artefact.id)
def test_a_picture_of_means_matches_its_golden(artefact: Artefact) -> None:
    assert isinstance(artefact.method, Studied) and artefact.draw is not None
    rows = [
        MeasuredRow(row, {c.name: Mean(10.0 * place + n, 0.1 * n, 5) for place, c in enumerate(artefact.columns, 1)})
        for n, row in enumerate(artefact.rows, 1)
    ]
    shown = artefact.draw(Measured(artefact, rows, [], 5, 1, 0.0))
    golden.check(f"pictures/{artefact.id}", golden.picture(shown))
