"""Reads the printed tables of a paper from its `published.toml`."""

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
    """Returns everything printed under a name, in the file's form."""
    printed: Mapping[str, Any] = _tables(paper)[name]
    return printed


def caption(paper: str, table: str) -> str:
    """Returns the paper's caption of the table."""
    return str(_tables(paper)[table]["caption"])


def numbers(paper: str, figure: str) -> dict[str, float]:
    """Returns the numbers in the paper's text about a figure, by name."""
    return {name: float(value) for name, value in _tables(paper)[figure].items()}


def rows(paper: str, table: str, scenario: Callable[[Mapping[str, Key]], Mapping[str, Any]]) -> tuple[Row, ...]:
    printed = _tables(paper)[table]
    names = [*printed["keys"], *printed["columns"]]
    made = []
    for values in printed["rows"]:
        named = dict(zip(names, values, strict=True))
        keys = {key: named[key] for key in printed["keys"]}
        made.append(Row(keys, scenario(keys), {column: float(named[column]) for column in printed["columns"]}))
    return tuple(made)
