"""Draws heat maps and scatter plots as SVG text in the page's colours, for light and dark mode."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from eifel.report.svg import ABOVE, BELOW, LETTER, RIGHT, WIDTH, Scale, picture, short, spacing

LINES = 3
"""Lines of a column's name."""
HEAD = 8 + 13 * LINES
"""Pixels above the first row, for the columns' names."""
NAME = int((WIDTH / 2 - 16) / LETTER)
"""Letters of a row's name: half of the map."""


@dataclass(frozen=True)
class Cell:
    """One value of a heat map, its text, and its tooltip."""

    value: float
    text: str
    title: str = ""


def heat(
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Mapping[tuple[str, str], Cell],
    axis: str,
    groups: Mapping[str, str] | None = None,
) -> str:
    """Draws a row and a column per name. Higher values make darker cells.

    If there are negative values, those are red and the others green. `groups` names the group of
    each row. Rows of a group share their shades, as when each group is another path.
    """
    values = [cell.value for cell in cells.values() if math.isfinite(cell.value)]
    if not values:
        return ""
    left = 16 + LETTER * min(max(map(len, rows)), NAME)
    wide = (WIDTH - RIGHT - left) / len(columns)
    apart = spacing(len(rows))
    height = HEAD + apart * len(rows) + 22
    parts = []
    for place, name in enumerate(columns):
        x = left + wide * (place + 0.5)
        lines = _lines(name, int(wide / 5.8))
        for line, words in enumerate(lines, LINES - len(lines)):
            place_of = f'x="{x:.1f}" y="{12 + 13 * line}"'
            parts.append(f'<text {place_of} class="tick" style="font-size: 11px">{escape(words)}</text>')
    group = {row: (groups or {}).get(row, "") for row in rows}
    shades = {
        name: _Shade.of(cell.value for (row, _), cell in cells.items() if group.get(row) == name)
        for name in group.values()
    }
    for number, row in enumerate(rows):
        y = HEAD + apart * number
        parts.append(f'<text x="{left - 8:.1f}" y="{y + apart - 5}" class="name">{escape(short(row, NAME))}</text>')
        for place, column in enumerate(columns):
            cell = cells.get((row, column))
            if cell is None or not math.isfinite(cell.value):
                continue
            x = left + wide * place
            title = f"<title>{escape(cell.title)}</title>" if cell.title else ""
            box = f'x="{x + 1:.1f}" y="{y + 1}" width="{wide - 2:.1f}" height="{apart - 2}"'
            parts.append(f"<rect {box} {shades[group[row]](cell.value)}>{title}</rect>")
            if len(cell.text) * LETTER < wide:
                place_of = f'x="{x + wide / 2:.1f}" y="{y + apart - 5}"'
                parts.append(f'<text {place_of} class="cell">{escape(cell.text)}</text>')
    parts.append(f'<text x="{(left + WIDTH - RIGHT) / 2:.1f}" y="{height - 5}" class="tick">{escape(axis)}</text>')
    return picture(parts, (WIDTH, height), axis)


@dataclass(frozen=True)
class Spot:
    """A named place between two axes."""

    name: str
    across: float
    up: float


def spots(found: Sequence[Spot], across: str, up: str, height: int = 300) -> str:
    """Draws named dots between two axes. The horizontal axis is logarithmic."""
    found = [spot for spot in found if spot.across > 0 and math.isfinite(spot.across) and math.isfinite(spot.up)]
    if not found:
        return ""
    left, bottom = 60.0, height - BELOW
    across_all = [spot.across for spot in found]
    scale = Scale(min(across_all) / 1.3, max(across_all) * 3, (left, WIDTH - RIGHT), logarithmic=True)
    rise = Scale(0, max(*(spot.up for spot in found), 0) or 1, (0, bottom - ABOVE - 10), logarithmic=False)
    parts = []
    for tick in scale.ticks():
        x = scale(tick)
        parts.append(f'<line x1="{x:.1f}" y1="{ABOVE}" x2="{x:.1f}" y2="{bottom}" class="grid"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 14}" class="tick">{tick:g}</text>')
    for tick in rise.ticks():
        y = bottom - rise(tick)
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" class="grid"/>')
        parts.append(f'<text x="{left - 8}" y="{y + 4:.1f}" class="name">{tick:g}</text>')
    ordered = sorted(found, key=lambda spot: (-spot.up, spot.across))
    places = [(scale(spot.across), bottom - rise(spot.up)) for spot in ordered]
    names = [short(spot.name, 28) for spot in ordered]
    for spot, name, (x, y), (beside, label) in zip(ordered, names, places, _labels(names, places), strict=True):
        if abs(label - y) > LABEL / 2:
            end = beside - 2 if beside > x else beside + LETTER * len(name)
            ends = f'x1="{x:.1f}" y1="{y:.1f}" x2="{end:.1f}" y2="{label:.1f}"'
            parts.append(f'<line {ends} style="stroke: var(--dim); stroke-width: 0.6"/>')
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" style="fill: var(--sent)">'
            f"<title>{escape(spot.name)}: {spot.up:.3g}, {spot.across:.3g}</title></circle>"
        )
        parts.append(f'<text x="{beside:.1f}" y="{label + 4:.1f}">{escape(name)}</text>')
    parts.append(f'<text x="{(left + WIDTH - RIGHT) / 2:.1f}" y="{height - 4}" class="tick">{escape(across)}</text>')
    parts.append(f'<text x="{left}" y="{ABOVE + 2}">{escape(up)}</text>')
    return picture(parts, (WIDTH, height), f"{up} against {across}")


LABEL = 14
"""Pixels between labels."""


def _labels(names: Sequence[str], places: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Returns the begin of each name: beside its dot, as near as other names and dots allow."""
    taken: list[tuple[float, float, float]] = [(x - 5, x + 5, y) for x, y in places]
    found = []
    for place, (name, (x, y)) in enumerate(zip(names, places, strict=True)):
        others = [*taken[:place], *taken[place + 1 :]]
        length = LETTER * len(name)
        candidates = ((begin, y + away) for away in _AWAY for begin in (x + 9, x - 9 - length))
        begin, at = next(
            (begin, at)
            for begin, at in candidates
            if not any(
                low < begin + length and begin < high and abs(at - there) < LABEL - 1 for low, high, there in others
            )
        )
        taken.append((begin, begin + length, at))
        found.append((begin, at))
    return found


_AWAY = sorted(range(-600, 601, 2), key=abs)
"""The vertical offsets of a name, nearest first."""


class _Shade:
    """The colour of a value: a shade of one hue, or of two hues around zero."""

    @classmethod
    def of(cls, values: Iterable[float]) -> "_Shade":
        known = [value for value in values if math.isfinite(value)]
        return cls(min(known, default=0.0), max(known, default=0.0))

    def __init__(self, low: float, high: float) -> None:
        self._signed = low < 0 < high or high <= 0 > low
        self._low, self._high = low, high

    def __call__(self, value: float) -> str:
        if self._signed:
            hue, share = ("bad" if value < 0 else "good"), abs(value) / max(abs(self._low), abs(self._high))
        else:
            hue, share = "sent", (value - self._low) / ((self._high - self._low) or 1)
        return f'style="fill: var(--{hue}); fill-opacity: {0.06 + 0.5 * share:.2f}"'


def _lines(name: str, letters: int) -> list[str]:
    """Breaks a column's name before a space or hyphen, or where the column ends."""
    lines: list[str] = []
    while len(name) > letters and len(lines) < LINES - 1:
        at = max(
            (place for place, letter in enumerate(name[: letters + 1]) if place and letter in " -,"), default=letters
        )
        lines.append(name[:at].rstrip(" ,"))
        name = name[at:].lstrip(" ")
    return [*lines, short(name, max(letters, 2))]
