"""What commands print: JSON for programs, tables for people, progress on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDTH_WITHOUT_TERMINAL = 140


def console() -> Console:
    """Standard output; wide enough for a table where it is not a terminal."""
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=WIDTH_WITHOUT_TERMINAL)


def print_json(content: Any) -> None:
    """One JSON document on standard output."""
    json.dump(content, sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")


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
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=errors, transient=True) as bars:
        task = bars.add_task(what, total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)


def heading(text: str) -> Text:
    """What stands above a table."""
    return Text(text, style="bold")


def note(text: str) -> None:
    """A line for the person at the terminal, kept out of what programs read."""
    print(text, file=sys.stderr, flush=True)
