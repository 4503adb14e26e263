"""The design in a sweep file: a scenario, and the values of its keys.

The cells of a sweep are the product of its cases, the axes of its product, and its random points. A
cell is computed from its number, so a design of a million cells takes no memory.
"""

import hashlib
import json
import random
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

from eifel import scenario as scenarios
from eifel import toml
from eifel.detectors import sources
from eifel.errors import BadInputError
from eifel.files import read_text
from eifel.sweeps.axis import Axis, Draw, parse_axis, parse_draw

_KEYS = ("title", "scenario", "repetitions", "seed", "random_numbers", "shard_runs", "case", "product", "random")
_SCENARIO_KEYS = ("duration_s", "flow", "point_to_point", "dumbbell", "link", "node", "group", "spike")
"""Keys by which a scenario shows that was given instead of a sweep."""
_RANDOM_NUMBERS = ("common", "independent")

SHARDS = 100
MOST_CELLS = 10_000_000
"""The most cells. Each is checked before any run, and checking this many takes an hour."""
LEAST_RUNS, MOST_RUNS = 50, 1000
"""By default a sweep has about SHARDS shards with LEAST_RUNS to MOST_RUNS runs each. An
interruption then loses few runs, and scheduling a shard costs little beside its runs. The number
must not depend on the machine, or the files would.
"""


@dataclass(frozen=True)
class Case:
    """Settings that change together, under one name."""

    name: str
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """One combination: its number, the name of its case if any, and the value of each swept key."""

    number: int
    case: str | None
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class Design:
    title: str
    base: scenarios.Source
    repetitions: int
    seed: int
    independent: bool
    shard_runs: int
    cases: tuple[Case, ...] = ()
    axes: tuple[Axis, ...] = ()
    points: int = 1
    draws: tuple[Draw, ...] = ()
    origin: str = field(default="sweep", compare=False)
    file: str | None = field(default=None, compare=False)
    """The scenario's file; `None` if the sweep itself holds the scenario."""

    @property
    def cells(self) -> int:
        return max(len(self.cases), 1) * prod(len(axis.values) for axis in self.axes) * self.points

    @property
    def runs(self) -> int:
        """The number of combinations times repetitions."""
        return self.cells * self.repetitions

    @property
    def shards(self) -> int:
        """The number of files with results."""
        return -(-self.runs // self.shard_runs)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Every key that some cell sets, in the file's order."""
        of_cases = [key for case in self.cases for key in case.settings]
        others = [*(axis.key for axis in self.axes), *(draw.key for draw in self.draws)]
        return tuple(dict.fromkeys([*of_cases, *others]))

    def kind(self, key: str) -> str:
        """Returns the type of a key's values in all cells: int, float, bool, str, or json for others or several."""
        values = [case.settings[key] for case in self.cases if key in case.settings]
        values += [value for axis in self.axes if axis.key == key for value in axis.values]
        for draw in self.draws:
            if draw.key == key:
                values += draw.between if draw.kind == "choice" else [0 if draw.whole else 0.0]
        kinds = {type(value).__name__ for value in values}
        if kinds <= {"int", "float"}:
            return "int" if kinds == {"int"} else "float"
        return kinds.pop() if kinds in ({"bool"}, {"str"}) else "json"

    def cell(self, number: int) -> Cell:
        """Returns a cell by number. Random points vary fastest, then the last axis, and cases slowest."""
        rest, point = divmod(number, self.points)
        settings: dict[str, Any] = {}
        for axis in reversed(self.axes):
            rest, place = divmod(rest, len(axis.values))
            settings[axis.key] = axis.values[place]
        case = self.cases[rest] if self.cases else None
        # All cases and all places of the product get the same points, and are compared under equal
        # conditions.
        drawn = {draw.key: draw.value(_unit(self.seed, draw.key, point)) for draw in self.draws}
        settings = {**(case.settings if case else {}), **settings, **drawn}
        return Cell(number, case.name if case else None, settings)

    def seed_of(self, cell: Cell) -> int:
        """Returns the scenario's seed in a cell: equal in all cells for common chance, or separate for each."""
        return _hash(self.seed, "cell", cell.number) >> 1 if self.independent else self.seed

    def source(self, cell: Cell) -> scenarios.Source:
        """Returns the scenario of a cell. Raises ScenarioError or BadInputError if its values are refused."""
        return scenarios.override(self.base, {**cell.settings, "seed": self.seed_of(cell)})

    def definition(self) -> dict[str, Any]:
        """Returns everything that the results depend on, except the engine."""
        return {
            **({"detectors": code} if (code := sources(self._named())) else {}),
            "title": self.title,
            "scenario": self.base.text,
            "repetitions": self.repetitions,
            "seed": self.seed,
            "random_numbers": _RANDOM_NUMBERS[self.independent],
            "shard_runs": self.shard_runs,
            "cases": [{"name": case.name, "set": dict(case.settings)} for case in self.cases],
            "product": {axis.key: list(axis.values) for axis in self.axes},
            "points": self.points,
            "random": {draw.key: {draw.kind: list(draw.between), "whole": draw.whole} for draw in self.draws},
        }

    def _named(self) -> str:
        """Returns everything in which a class of Python may be named."""
        values = [[dict(case.settings) for case in self.cases], [list(axis.values) for axis in self.axes]]
        return f"{self.base.text}\n{json.dumps(values)}"

    def check(self) -> None:
        """Raises the error of the first cell with a refused scenario, with the cell's values."""
        for number in range(self.cells):
            cell = self.cell(number)
            try:
                self.source(cell)
            except ValueError as error:
                values = ", ".join(f"{key} = {json.dumps(value)}" for key, value in cell.settings.items())
                raise BadInputError(f"{self.origin}: cell {number} ({values}): {error}") from None


def load(sweep: str | Path | Mapping[str, Any]) -> Design:
    """Reads a sweep file, or an equivalent dict. Raises BadInputError with one line if it is refused."""
    if isinstance(sweep, Mapping):
        return parse(toml.held(sweep), "sweep", Path.cwd())
    path = Path(sweep)
    try:
        document = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise BadInputError(f"{path}: {error}") from None
    return parse(document, str(path), path.parent)


def parse(document: Mapping[str, Any], origin: str, folder: Path) -> Design:
    """Parses a sweep from plain values. The scenario's file name is relative to `folder`."""
    for key in document:
        if key not in _KEYS:
            if key in _SCENARIO_KEYS:
                raise BadInputError(
                    f'{origin}: this is a scenario (it has {key}), and no sweep; expected `scenario = "FILE"` and what '
                    f"varies, or `eifel run {origin}`"
                )
            raise BadInputError(f"{origin}: {key}: no such key; allowed: {', '.join(_KEYS)}")
    base = _base(document.get("scenario"), origin, folder)
    numbers = document.get("random_numbers", "common")
    if numbers not in _RANDOM_NUMBERS:
        raise BadInputError(f"{origin}: random_numbers: {numbers!r}; allowed: {', '.join(_RANDOM_NUMBERS)}")
    product = _entries(document, "product", origin)
    drawn = _entries(document, "random", origin)
    points = _count(drawn.pop("points", 1 if not drawn else None), "random.points", origin)
    if not drawn and "random" in document:
        raise BadInputError(f"{origin}: random: no key to draw; expected one or more beside points")
    design = Design(
        title=str(document.get("title", Path(origin).stem)),
        base=base,
        repetitions=_count(document.get("repetitions", base.repetitions), "repetitions", origin),
        seed=_count(document.get("seed", base.seed), "seed", origin, least=0),
        independent=numbers == "independent",
        shard_runs=_count(document.get("shard_runs", 1), "shard_runs", origin),
        cases=_cases(document.get("case", []), origin),
        axes=tuple(parse_axis(key, value, f"{origin}: product.{key}") for key, value in product.items()),
        points=points,
        draws=tuple(parse_draw(key, value, f"{origin}: random.{key}") for key, value in drawn.items()),
        origin=origin,
        file=base.origin if isinstance(document.get("scenario"), str) else None,
    )
    if "shard_runs" not in document:
        design = replace(design, shard_runs=min(max(design.runs // SHARDS, LEAST_RUNS), MOST_RUNS))
    if design.cells > MOST_CELLS:
        raise BadInputError(f"{origin}: {design.cells} cells; allowed: {MOST_CELLS} at the most")
    for key in design.keys:
        if key in ("seed", "repetitions"):
            raise BadInputError(f"{origin}: {key} cannot be swept; set it at the top of the file")
    named = [key for case in design.cases for key in {*case.settings}]
    for key in [axis.key for axis in design.axes] + [draw.key for draw in design.draws]:
        if key in named or [axis.key for axis in design.axes].count(key) + [d.key for d in design.draws].count(key) > 1:
            raise BadInputError(f"{origin}: {key} is set twice; expected it in one of case, product and random")
    return design


def _base(written: Any, origin: str, folder: Path) -> scenarios.Source:
    if isinstance(written, str):
        return scenarios.load(folder / written)
    if isinstance(written, Mapping):
        return scenarios.from_values(written, folder, f"{origin}: scenario")
    found = "missing" if written is None else repr(written)
    raise BadInputError(f"{origin}: scenario: {found}; expected the name of a scenario file, or a table")


def _entries(document: Mapping[str, Any], name: str, origin: str) -> dict[str, Any]:
    table = document.get(name, {})
    if not isinstance(table, Mapping):
        raise BadInputError(f'{origin}: {name}: expected a table of quoted keys, as in "flow.main.sender.detect"')
    return dict(table)


def _count(value: Any, key: str, origin: str, least: int = 1) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise BadInputError(f"{origin}: {key}: {value!r}; expected a whole number from {least}")
    return value


def _cases(written: Any, origin: str) -> tuple[Case, ...]:
    if not isinstance(written, list):
        raise BadInputError(f"{origin}: case: expected entries [[case]] with name and set")
    cases: list[Case] = []
    for number, entry in enumerate(written):
        settings = entry.get("set") if isinstance(entry, Mapping) else None
        name = entry.get("name") if isinstance(entry, Mapping) else None
        if not isinstance(settings, Mapping) or not isinstance(name, str) or {*entry} != {"name", "set"}:
            raise BadInputError(f"{origin}: case {number}: expected name (a word) and set (a table of quoted keys)")
        if name in [case.name for case in cases]:
            raise BadInputError(f"{origin}: case {number}: there is another one named {name!r}")
        cases.append(Case(name, settings))
    return tuple(cases)


def _hash(*parts: object) -> int:
    text = "\x1f".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def _unit(seed: int, key: str, point: int) -> float:
    """Returns a number in [0, 1) for a key and a point. It does not depend on the sweep's other keys."""
    return random.Random(_hash(seed, key, point)).random()
