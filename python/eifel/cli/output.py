"""The output of commands: JSON for programs, tables for people, progress on standard error."""

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
"""Terminals with fewer columns are narrow."""


class _Output(Console):
    def on_broken_pipe(self) -> None:
        """Leaves a closed pipe to `eifel.cli.main`. Rich would exit with 1."""
        raise BrokenPipeError


def console() -> Console:
    """Returns standard output, with a fixed width if it is not a terminal."""
    return _Output(highlight=False) if sys.stdout.isatty() else _Output(highlight=False, width=WIDTH_WITHOUT_TERMINAL)


VERSIONS: Mapping[str, int] = {
    "advise": 1,
    "analyze": 1,
    "analyze-folder": 1,
    "analyze-places": 1,
    "attacks": 1,
    "captures": 1,
    "compare": 1,
    "counters": 1,
    "hunt": 1,
    "list": 1,
    "live-compare": 1,
    "live-hiccup": 1,
    "live-judge": 1,
    "live-proxy": 1,
    "live-receive": 1,
    "live-sctp": 1,
    "live-worlds": 1,
    "new": 1,
    "report": 1,
    "reproduce": 1,
    "run": 1,
    "script": 1,
    "sweep": 1,
    "sweep-check": 1,
    "templates": 1,
    "truth-score": 1,
    "watch": 1,
    "watch-summary": 1,
    "whatif": 1,
    "worlds": 1,
}
"""The version of each schema in docs/reference/schemas. It grows when a reader of the last version could fail."""


def print_json(schema: str, content: Mapping[str, Any]) -> None:
    """Prints an object for programs, after the name and the version of its schema."""
    marked = {"schema": schema, "version": VERSIONS[schema], **content}
    json.dump(_finite(marked), sys.stdout, indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


def _finite(content: Any) -> Any:
    """Replaces NaN and infinity by null, since JSON has no form for them."""
    if isinstance(content, Mapping):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def table(columns: list[str], left: int = 1) -> Table:
    """Returns a table whose first `left` columns hold words, and the others numbers."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for number, column in enumerate(columns):
        justify: Literal["left", "right"] = "left" if number < left else "right"
        # On a narrow terminal a title wraps. If it were cut off, several titles would look the
        # same.
        made.add_column(Text(column), justify=justify, header_style="dim", overflow="fold")
    return made


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Shows a progress bar on standard error. Does nothing if that is not a terminal."""
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
        """The completed count. Empty while the total is unknown, as in a single run."""

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
    """Formats a number: four digits, or down to the precision of its interval, in groups of three."""
    from eifel import _engine

    return _engine.number(value, half_width)


def size(count: int) -> str:
    """Formats a number of bytes for people."""
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB" if count >= 1e3 else f"{count} bytes"


def heading(text: str) -> Text:
    return Text(text, style="bold")


def note(text: str) -> None:
    """Prints a line for the user to standard error, so that programs do not read it."""
    print(text, file=sys.stderr, flush=True)
