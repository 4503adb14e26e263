"""Draws dots with intervals as SVG text in the page's colours, for light and dark mode."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 760
LINE, DENSE, MANY = 18, 15, 40
"""Pixels from row to row: LINE, or DENSE for more than MANY rows."""
RIGHT, ABOVE, BELOW = 20, 8, 34
LETTER = 6.6
"""The approximate width of a name's letter in pixels."""
TICK = 34
"""The least pixels between labels of a logarithmic axis."""
ROOM = 56
"""The least pixels for a label of another axis."""
PANEL = 260
"""The width of one of several panels in pixels, if there is room."""
WIDEST = 1030
"""The width of a section of the page in pixels."""
LEAST = 60
"""The least pixels left of the values."""


@dataclass(frozen=True)
class Dot:
    """One value in a row, with its interval and its colour (a name of the style's)."""

    value: float
    low: float | None = None
    high: float | None = None
    colour: str = "sent"
    title: str = ""
    """The tooltip."""


@dataclass(frozen=True)
class Line:
    """A row: its name, its dots, and the band in which they should lie."""

    name: str
    dots: Sequence[Dot]
    band: tuple[float, float] | None = None


def dots(lines: Sequence[Line], axis: str, *, logarithmic: bool = False) -> str:
    """Draws a row per line, with values across and one axis below."""
    return multiples([(axis, lines)], logarithmic=logarithmic)


def spacing(rows: int) -> int:
    """Returns the distance of neighbouring rows in pixels, for this number of rows."""
    return LINE if rows <= MANY else DENSE


def multiples(panels: Sequence[tuple[str, Sequence[Line]]], names: str = "", *, logarithmic: bool = False) -> str:
    """Draws panels side by side, each with its own axis. All have the same rows in the same order.

    `names` is a label below the rows' names.
    """
    known = [(axis, lines, ends) for axis, lines in panels if (ends := _ends(lines, logarithmic=logarithmic))]
    if not known:
        return ""
    rows = known[0][1]
    left = max(LEAST, 16 + LETTER * max(len(short(line.name)) for line in rows))
    width = WIDTH if len(known) == 1 else min(WIDEST, left + PANEL * len(known))
    apart = spacing(len(rows))
    bottom = ABOVE + apart * len(rows)
    middles = [ABOVE + apart * (number + 0.5) for number in range(len(rows))]
    parts = [
        f'<text x="{left - 10:.1f}" y="{y + 4:.1f}" class="name">{escape(short(line.name))}</text>'
        for y, line in zip(middles, rows, strict=True)
    ]
    if names:
        fits = short(names, int((left - 10) / LETTER))
        parts.append(f'<text x="{left - 10:.1f}" y="{bottom + BELOW - 4}" class="name dim">{escape(fits)}</text>')
    each = (width - left) / len(known)
    for place, (axis, lines, ends) in enumerate(known):
        sides = (left + each * place, left + each * (place + 1) - RIGHT)
        scale = Scale(min(ends), max(ends), sides, logarithmic=logarithmic)
        for tick in scale.ticks():
            x = scale(tick)
            parts.append(f'<line x1="{x:.1f}" y1="{ABOVE}" x2="{x:.1f}" y2="{bottom}" class="grid"/>')
            parts.append(f'<text x="{x:.1f}" y="{bottom + 14}" class="tick">{tick:g}</text>')
        named = short(axis, int((each + RIGHT) / LETTER))
        parts.append(f'<text x="{sum(sides) / 2:.1f}" y="{bottom + BELOW - 4}" class="tick">{escape(named)}</text>')
        for y, line in zip(middles, lines, strict=True):
            parts += _marks(line, scale, y)
    return picture(parts, (width, bottom + BELOW), "; ".join(axis for axis, _, _ in known))


def picture(parts: Iterable[str], size: tuple[float, float], label: str) -> str:
    """Returns the picture of these parts, of this width and height in pixels."""
    width, height = size
    title = f'<svg class="dots" viewBox="0 0 {width:g} {height}" width="{width:g}" height="{height}" role="img"'
    return f'{title} aria-label="{escape(label)}" xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'


def _ends(lines: Sequence[Line], *, logarithmic: bool) -> list[float]:
    """Returns all values that the axis has to cover."""
    ends = [end for line in lines for dot in line.dots for end in (dot.low, dot.value, dot.high) if end is not None]
    ends += [end for line in lines if line.band for end in line.band]
    return [end for end in ends if math.isfinite(end) and (end > 0 or not logarithmic)]


def _marks(line: Line, scale: "Scale", y: float) -> list[str]:
    band = ""
    if line.band:
        low, high = (scale(end) for end in line.band)
        band = f'<rect x="{low:.1f}" y="{y - 6:.1f}" width="{max(high - low, 1):.1f}" height="12" class="band"/>'
    return [band, *(_dot(dot, scale, y) for dot in line.dots if math.isfinite(dot.value))]


def _dot(dot: Dot, scale: "Scale", y: float) -> str:
    shown = ""
    if dot.low is not None and dot.high is not None:
        style = f'class="span" style="stroke: var(--{dot.colour})"'
        ends = f'x1="{scale(dot.low):.1f}" y1="{y:.1f}" x2="{scale(dot.high):.1f}" y2="{y:.1f}"'
        shown = f"<line {ends} {style}/>"
    title = f"<title>{escape(dot.title)}</title>" if dot.title else ""
    place = f'cx="{scale(dot.value):.1f}" cy="{y:.1f}" r="4"'
    return f'{shown}<circle {place} style="fill: var(--{dot.colour})">{title}</circle>'


def short(name: str, letters: int = 36) -> str:
    """Shortens a name that is too long."""
    return name if len(name) <= letters else f"{name[: letters - 1]}…"


class Scale:
    """Converts values to horizontal pixels."""

    def __init__(self, low: float, high: float, sides: tuple[float, float], *, logarithmic: bool) -> None:
        self._logarithmic = logarithmic
        self._left, self._right = sides
        self._low, self._high = (math.log10(low), math.log10(high)) if logarithmic else (min(low, 0.0), high)
        room = (self._high - self._low or abs(self._high) or 1) * 0.04
        self._high += room
        self._low -= room if logarithmic or self._low < 0 else 0

    def __call__(self, value: float) -> float:
        at = math.log10(max(value, 1e-300)) if self._logarithmic else value
        share = (at - self._low) / (self._high - self._low)
        return self._left + min(max(share, 0.0), 1.0) * (self._right - self._left)

    def _apart(self, steps: Iterable[float]) -> list[float]:
        """Returns the steps whose labels do not touch."""
        apart: list[float] = []
        for step in steps:
            if not apart or self(step) - self(apart[-1]) > TICK:
                apart.append(step)
        return apart

    def ticks(self) -> list[float]:
        """Returns about five round values; fewer if there is little room."""
        if self._logarithmic:
            steps = (0.01, 0.1, 0.2, 0.5, 0.8, 1.0, 1.25, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0)
            return self._apart(step for step in steps if self._low <= math.log10(step) <= self._high)
        span = self._high - self._low
        most = min((self._right - self._left) / ROOM, 6)
        step = 10 ** math.floor(math.log10(span / most))
        step *= next(factor for factor in (1, 2, 5, 10) if span / (step * factor) <= most)
        first = math.ceil(self._low / step)
        return [round(number * step, 12) for number in range(first, math.floor(self._high / step) + 1)]
