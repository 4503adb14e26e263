"""What commands print: JSON for programs, tables for people, progress on standard error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDTH_WITHOUT_TERMINAL = 140
NARROW = 100
"""A terminal with fewer columns than this."""
MOST_DIGITS = 9
"""Digits after the point; a number that needs more is written with a power of ten."""


def console() -> Console:
    """Standard output; wide enough for a table where it is not a terminal."""
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=WIDTH_WITHOUT_TERMINAL)


def print_json(content: Any) -> None:
    """One JSON document on standard output."""
    json.dump(_finite(content), sys.stdout, indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


def _finite(content: Any) -> Any:
    """Puts null in the place of what is no number: JSON has no word for it."""
    if isinstance(content, Mapping):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def table(columns: list[str], left: int = 1) -> Table:
    """A table whose first `left` columns are words and the others numbers."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for number, column in enumerate(columns):
        justify: Literal["left", "right"] = "left" if number < left else "right"
        # Where the terminal is narrow a title goes on in the next line: cut off, several would look the same.
        made.add_column(Text(column), justify=justify, header_style="dim", overflow="fold")
    return made


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error while something long goes on; nothing where that is not a terminal."""
    errors = Console(stderr=True)
    if not errors.is_terminal:
        yield lambda _done, _total: None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    class Counted(MofNCompleteColumn):
        """How much is done; nothing while nobody has said of how much, as in a single run."""

        def render(self, task: Task) -> Text:
            return Text() if task.total is None else super().render(task)

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        Counted(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=errors, transient=True) as bars:
        task = bars.add_task(what, total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)


def number(value: float | None, half_width: float | None = None) -> str:
    """Writes a number as people read it: four digits, or as many as its interval leaves meaning, in groups of three."""
    if value is None or math.isnan(value):
        return "-"
    # Equal values have a mean that is off by a rounding, and so have their half-widths.
    if not half_width or half_width < 1e-12 * abs(value):
        digits = 0 if value == 0 else max(0, 3 - math.floor(math.log10(abs(value))))
        return _grouped(value, digits, strip=True)
    # Both to the second digit of the half-width.
    digits = max(0, 1 - math.floor(math.log10(half_width)))
    return f"{_grouped(value, digits)} ± {_grouped(half_width, digits)}"


def _grouped(value: float, digits: int, *, strip: bool = False) -> str:
    if digits > MOST_DIGITS:
        return f"{value:.3g}"
    text = f"{value:,.{digits}f}".replace(",", " ")
    return text.rstrip("0").rstrip(".") if strip and "." in text else text


def size(count: int) -> str:
    """Writes a number of bytes as people read it."""
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB" if count >= 1e3 else f"{count} bytes"


def heading(text: str) -> Text:
    """What stands above a table."""
    return Text(text, style="bold")


def note(text: str) -> None:
    """A line for the person at the terminal, kept out of what programs read."""
    print(text, file=sys.stderr, flush=True)
