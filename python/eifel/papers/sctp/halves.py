"""Means over the first half of the repetitions, which chooses, and over the second, which judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from eifel.papers.artefact import Artefact, Column
from eifel.papers.sctp import macro
from eifel.runs import Runs

if TYPE_CHECKING:
    from eifel.statistics import Mean

JUDGED = "judged_"


def columns(chosen_by: Sequence[Column]) -> tuple[Column, ...]:
    """Returns the columns of both halves."""
    judging = (replace(column, name=JUDGED + column.name, title=f"{column.title}, judged") for column in chosen_by)
    return (*chosen_by, *judging)


def means(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    """Returns the means of both halves, by row."""
    own = [column for column in artefact.columns if not column.name.startswith(JUDGED)]
    plain = replace(artefact, columns=tuple(own))
    last = runs["repetition"] >= (int(runs["repetition"].max()) + 1) // 2
    halves = [
        macro.means(plain, Runs({name: column[rows] for name, column in runs.columns.items()}, runs.scenarios))
        for rows in (~last, last)
    ]
    return [
        {**one, **{JUDGED + name: mean for name, mean in other.items()}} for one, other in zip(*halves, strict=True)
    ]
