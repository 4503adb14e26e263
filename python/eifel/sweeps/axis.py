"""The values of a scenario's key in a sweep: listed, spread over a range, or drawn."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from eifel.errors import BadInputError

Value = Any
"""Any TOML value."""

_SPREADS = ("linear", "log")
MOST_POINTS = 1_000_000
"""The most values of a key, since they are held in memory."""
_DRAWS = ("uniform", "log_uniform", "choice")


@dataclass(frozen=True)
class Axis:
    key: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Draw:
    """A key, and the computation of its value from a number in [0, 1)."""

    key: str
    kind: str
    between: tuple[Value, ...]
    whole: bool = False

    def value(self, unit: float) -> Value:
        if self.kind == "choice":
            return self.between[int(unit * len(self.between))]
        low, high = (float(end) for end in self.between)
        if self.whole:
            # Every whole number has the same probability, including the last one.
            low, high = math.floor(low), math.floor(high) + 1
        drawn = low + unit * (high - low) if self.kind == "uniform" else low * (high / low) ** unit
        return min(math.floor(drawn), math.floor(float(self.between[1]))) if self.whole else drawn


def parse_axis(key: str, written: Value, where: str) -> Axis:
    """Parses an axis of a product: a list, `{ linear = [a, b], points = n }` or `{ log = … }`, maybe `whole`."""
    if isinstance(written, list):
        if not written:
            raise BadInputError(f"{where}: an empty list; expected one value or more")
        return Axis(key, tuple(written))
    table = _table(
        written, where, (*_SPREADS, "points", "whole"), "a list of values, or { linear = [a, b], points = n }"
    )
    kind = _one_of(table, _SPREADS, where)
    low, high = _ends(table[kind], f"{where}.{kind}", positive=kind == "log")
    points = table.get("points")
    if not isinstance(points, int) or isinstance(points, bool) or not 2 <= points <= MOST_POINTS:
        raise BadInputError(f"{where}.points: {points!r}; expected a whole number from 2 to {MOST_POINTS}")
    at: Callable[[float], float] = (
        (lambda share: low + share * (high - low)) if kind == "linear" else (lambda share: low * (high / low) ** share)
    )
    inner = [at(number / (points - 1)) for number in range(1, points - 1)]
    spread: list[Value] = [low, *inner, high]
    if _switch(table, "whole", where):
        # Rounding may produce duplicates.
        spread = list(dict.fromkeys(round(value) for value in spread))
    return Axis(key, tuple(spread))


def parse_draw(key: str, written: Value, where: str) -> Draw:
    """Parses a draw: `{ uniform = [a, b] }` or `{ log_uniform = … }`, maybe `whole`, or `{ choice = […] }`."""
    table = _table(
        written, where, (*_DRAWS, "whole"), "{ uniform = [a, b] }, { log_uniform = [a, b] } or { choice = […] }"
    )
    kind = _one_of(table, _DRAWS, where)
    whole = _switch(table, "whole", where)
    if kind == "choice":
        if whole or not isinstance(table[kind], list) or not table[kind]:
            raise BadInputError(f"{where}.choice: expected a list of one value or more, and no `whole`")
        return Draw(key, kind, tuple(table[kind]))
    return Draw(key, kind, _ends(table[kind], f"{where}.{kind}", positive=kind == "log_uniform"), whole)


def _table(written: Value, where: str, known: tuple[str, ...], expected: str) -> Mapping[str, Value]:
    if not isinstance(written, Mapping):
        raise BadInputError(f"{where}: {written!r}; expected {expected}")
    for name in written:
        if name not in known:
            raise BadInputError(f"{where}.{name}: no such key; allowed: {', '.join(known)}")
    return written


def _one_of(table: Mapping[str, Value], kinds: tuple[str, ...], where: str) -> str:
    given = [kind for kind in kinds if kind in table]
    if len(given) != 1:
        raise BadInputError(f"{where}: {' and '.join(given) or 'none'} given; expected one of {', '.join(kinds)}")
    return given[0]


def _ends(written: Value, where: str, *, positive: bool) -> tuple[float, float]:
    numbers = isinstance(written, list) and all(
        isinstance(end, int | float) and not isinstance(end, bool) and math.isfinite(end) for end in written
    )
    if not numbers or len(written) != 2 or not written[0] < written[1]:
        raise BadInputError(f"{where}: {written!r}; expected two numbers, the lower one first")
    if positive and written[0] <= 0:
        raise BadInputError(f"{where}: {written!r}; expected numbers above 0")
    return written[0], written[1]


def _switch(table: Mapping[str, Value], name: str, where: str) -> bool:
    value = table.get(name, False)
    if not isinstance(value, bool):
        raise BadInputError(f"{where}.{name}: {value!r}; expected true or false")
    return value
