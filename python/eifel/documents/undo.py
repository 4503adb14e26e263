"""The tables of docs/internals/undo.md; a part of `documents.measured`."""

from collections.abc import Callable, Mapping
from functools import partial

from eifel.documents import UNDO, table
from eifel.documents.stored import Stored, half_width, mean
from eifel.papers.live.undo import LINUX, PATHS, QUEUES, RULES

KEPT = {"live.undo": ("seconds", "against", "undos", "after", "lost", "late_ms")}
"""The artefact, and the columns kept of it."""
INTERVALS = tuple(KEPT)
HEAD = (
    "queue",
    "undo",
    "done after, s",
    "more than Linux, s",
    "undos",
    "lost in two round trips after them",
    "lost in all",
)
EPOCH = "epoch"


def _named(rule: str) -> str:
    name, *epoch = rule.split()
    name = "Linux's (`full`)" if name == LINUX else f"`{name}`"
    return f"{name}, and the {EPOCH}" if epoch else name


def of_path(store: Stored, path: str) -> str:
    """Returns the table of a path. Differences from Linux whose interval does not contain 0 are bold."""

    def cell(column: str, digits: int, **keys: object) -> str:
        own, half = mean(store, "live.undo", column, **keys), half_width(store, "live.undo", column, **keys)
        text = f"{own:.{digits}f} ± {half:.{digits}f}"
        return f"**{text}**" if column == "against" and abs(own) > half else text

    rows = []
    for queue in QUEUES:
        for rule in RULES:
            keys = {"path": path, "queue": queue, "rule": rule}
            against = "" if rule == LINUX else cell("against", 2, **keys)
            counts = [cell(column, 1, **keys) for column in ("undos", "after", "lost")]
            rows.append([queue, _named(rule), cell("seconds", 2, **keys), against, *counts])
    return table(HEAD, rows, 2)


def where(store: Stored) -> str:
    """Returns the kernel's name, the date, and how late the box was."""
    one = store["live.undo"]
    late = [row["measured"]["late_ms"] for row in one["rows"]]
    return (
        f"Linux {one['kernel']}, {one['on']}. A run's latest packet left the emulated path {min(late):.1f} to\n"
        f"{max(late):.1f} ms late, on the average of a cell: other programs ran too."
    )


BLOCKS: Mapping[str, tuple[str, Callable[[Stored], str]]] = {
    "undo, where": (UNDO, where),
    **{f"undo, {path}": (UNDO, partial(of_path, path=path)) for path in PATHS},
}
