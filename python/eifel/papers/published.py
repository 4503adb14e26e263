"""Reads the printed tables of a paper from its `published.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from eifel.papers.artefact import Key, Row


@cache
def _tables(paper: str) -> dict[str, Any]:
    return tomllib.loads((files("eifel.papers") / paper / "published.toml").read_text(encoding="utf-8"))


def table(paper: str, name: str) -> Mapping[str, Any]:
    """Everything that is printed under a name, as the file has it."""
    printed: Mapping[str, Any] = _tables(paper)[name]
    return printed


def caption(paper: str, table: str) -> str:
    """The caption under which the paper prints the table."""
    return str(_tables(paper)[table]["caption"])


def numbers(paper: str, figure: str) -> dict[str, float]:
    """The numbers that the paper's text gives for a figure, by name."""
    return {name: float(value) for name, value in _tables(paper)[figure].items()}


def rows(paper: str, table: str, scenario: Callable[[Mapping[str, Key]], Mapping[str, Any]]) -> tuple[Row, ...]:
    """The printed rows, each with the scenario that `scenario` makes of its keys."""
    printed = _tables(paper)[table]
    names = [*printed["keys"], *printed["columns"]]
    made = []
    for values in printed["rows"]:
        named = dict(zip(names, values, strict=True))
        keys = {key: named[key] for key in printed["keys"]}
        made.append(Row(keys, scenario(keys), {column: float(named[column]) for column in printed["columns"]}))
    return tuple(made)
