"""Prints numbers of flows as a table that fits the terminal: those that `eifel run` adds to the engine's own.

Flows that one entry of the scenario repeats are folded to their mean and range. If the flows do not fit side by side,
each has a row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from eifel.cli.output import number, table
from eifel.flows import Flow
from eifel.statistics import Mean

GAP = 2
"""The spaces between columns."""


@dataclass(frozen=True)
class Flows:
    """A flow, or all flows of a group, with their means."""

    title: str
    means: Sequence[Mapping[str, Mean]]

    def text(self, name: str) -> str:
        """Formats a number: mean and interval for a flow, mean and range for a group."""
        means = [one[name] for one in self.means]
        if len(means) == 1:
            return number(means[0].mean, means[0].half_width)
        each = [mean.mean for mean in means]
        low, high = number(min(each)), number(max(each))
        middle = number(sum(each) / len(each))
        return middle if low == high else f"{middle} ({low} to {high})"


def folded(flows: Sequence[Flow], means: Sequence[Mapping[str, Mean]], *, unfold: bool) -> list[Flows]:
    """Merges the flows of each group. With `unfold` each flow stays separate."""
    groups: dict[str, list[Mapping[str, Mean]]] = {}
    for flow, found in zip(flows, means, strict=True):
        groups.setdefault(flow.group if flow.group and not unfold else flow.name, []).append(found)
    return [Flows(name if len(of) == 1 else f"{name} ({len(of)} flows)", of) for name, of in groups.items()]


def fitted(out: Console, title: str, entries: Sequence[Flows], names: Sequence[str], *, verbose: bool) -> int:
    """Prints the numbers as a fitting table with a column or a row per flow. Returns the count of omitted numbers."""
    across = _across(title, entries, names)
    if out.measure(across).minimum <= out.width and _width(across) <= out.width:
        out.print(across)
        return 0
    return _down(out, title, entries, names, verbose=verbose)


def _across(title: str, entries: Sequence[Flows], names: Sequence[str]) -> Table:
    """Returns a table with a row per number, and a column per flow."""
    shown = table([title, *(entry.title for entry in entries)])
    for name in names:
        shown.add_row(name, *(entry.text(name) for entry in entries))
    return shown


def _down(out: Console, title: str, entries: Sequence[Flows], names: Sequence[str], *, verbose: bool) -> int:
    """Prints a row per flow: the numbers that fit, or all in several tables. Returns the count of omitted numbers."""
    titles = [entry.title for entry in entries]
    room = out.width - max(map(len, (title, *titles))) - GAP
    widths = {name: max(len(name), *(len(entry.text(name)) for entry in entries)) + GAP for name in names}
    waiting = [*names]
    while waiting:
        chosen, left = [waiting[0]], room - widths[waiting[0]]
        for name in waiting[1:]:
            if widths[name] <= left:
                chosen.append(name)
                left -= widths[name]
        shown = table([title, *chosen])
        for entry, called in zip(entries, titles, strict=True):
            shown.add_row(called, *(entry.text(name) for name in chosen))
        out.print(shown)
        waiting = [name for name in waiting if name not in chosen]
        if not verbose:
            break
    return len(waiting)


def _width(shown: Table) -> int:
    """Returns the width of a table in columns of the terminal, if nothing is folded."""
    cells = [[str(column.header), *map(str, column.cells)] for column in shown.columns]
    return sum(max(map(len, column)) + GAP for column in cells) - GAP
