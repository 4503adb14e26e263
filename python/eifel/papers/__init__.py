"""The tables and figures of the papers, and this project's own studies.

Each `Artefact` at the top level of a module of `papers/<paper>/` or `studies/` is found. `known.toml` has
the known reasons for its differences from print, and `failing.toml` the number of failing claims of
those that take minutes.
"""

import pkgutil
import re
import tomllib
from collections.abc import Iterable
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.resources import files

from eifel.errors import BadInputError
from eifel.papers.artefact import Artefact


@cache
def artefacts() -> dict[str, Artefact]:
    """Returns every artefact by id: by paper, tables first, in the paper's order. Those with input come last.

    Example: `eifel.artefacts()["responding.table1"].title`.
    """
    found: dict[str, Artefact] = {}
    papers = [f"{__name__}.{paper.name}" for paper in pkgutil.iter_modules(__path__) if paper.ispkg]
    for name in (*papers, "eifel.studies"):
        package = import_module(name)
        for module in pkgutil.iter_modules(package.__path__):
            declared = vars(import_module(f"{package.__name__}.{module.name}")).values()
            found |= {artefact.id: artefact for artefact in declared if isinstance(artefact, Artefact)}
    for reason in tomllib.loads((files(__name__) / "known.toml").read_text(encoding="utf-8"))["reason"]:
        for name in reason["of"]:
            found[name] = replace(found[name], known=(*found[name].known, reason["text"]))
    return {name: found[name] for name in sorted(found, key=lambda name: (found[name].needs_traces, _order(name)))}


@cache
def failing() -> dict[str, int]:
    """Returns how many claims of each artefact that takes minutes failed when it was last measured."""
    return dict(tomllib.loads((files(__name__) / "failing.toml").read_text(encoding="utf-8")))


def select(prefixes: Iterable[str]) -> list[Artefact]:
    """Returns the artefacts whose id equals or begins with a prefix: `responding`, `responding.table`.

    Returns all of them without prefixes. Raises BadInputError for a prefix that matches nothing.
    """
    every = artefacts()
    chosen: dict[str, Artefact] = {}
    prefixes = list(prefixes)
    for prefix in prefixes:
        exact = {name: artefact for name, artefact in every.items() if name == prefix}
        matching = exact or {name: artefact for name, artefact in every.items() if name.startswith(prefix)}
        if not matching:
            nearest = "".join(f"; nearest: {name}" for name in get_close_matches(prefix, every, 1))
            raise BadInputError(f"{prefix}: no artefact begins with this{nearest}; there is: {', '.join(every)}")
        chosen |= matching
    return [every[name] for name in every if name in chosen or not prefixes]


def _order(name: str) -> tuple[str, int, list[tuple[int, str]]]:
    paper, _, artefact = name.partition(".")
    rank = 0 if artefact.startswith("table") else 1 if artefact.startswith("figure") else 2
    return paper, rank, [(int(digits or 0), letters) for digits, letters in re.findall(r"(\d*)(\D*)", artefact)]
