"""`eifel compare`: compares scenarios, with the differences between runs with the same seed."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from eifel import scenario as scenarios
from eifel.cli import OK
from eifel.cli.output import console, heading, note, number, print_json, progress, table
from eifel.comparison import Difference, compare
from eifel.errors import BadInputError
from eifel.runs import run

LONGEST_LABEL = 48
"""The most letters of a name in a picture."""


def command(options: argparse.Namespace) -> int:
    """Runs every scenario with the same seeds, and shows the differences."""
    names, sources = _variants(options)
    repetitions = options.repetitions or max(source.repetitions for source in sources)
    with progress("running") as advance:
        found = compare(sources, repetitions=repetitions, flow=options.flow, threads=options.jobs, progress=advance)
    if options.plot:
        from eifel.plots.overlay import write

        recorded = [run(source, record=("acks", "window")) for source in sources]
        labels = [f"{letter}  {_short(name)}" for letter, name in zip(_letters(len(names)), names, strict=True)]
        write(dict(zip(labels, recorded, strict=True)), found.flow, Path(options.plot))
        note(f"wrote {options.plot}")
    if options.json:
        head = {"scenarios": names, "seed": sources[0].seed, "repetitions": repetitions, "flow": found.flow}
        print_json("compare", {**head, "numbers": [_json(difference) for difference in found.numbers]})
        return OK
    out = console()
    out.print(heading(f"flow {found.flow}  seed {sources[0].seed}, means of {repetitions} repetitions"))
    for letter, name in zip(_letters(len(names)), names, strict=True):
        out.print(Text(f"{letter}  {name}"))
    _show(found.numbers, len(names), verbose=options.verbose)
    if repetitions > 1:
        note("differences with 95 % intervals, run by run with the same seed; * where the interval leaves out zero")
    else:
        note("one repetition says nothing of chance: --repetitions N")
    return OK


def _variants(options: argparse.Namespace) -> tuple[list[str], list[scenarios.Source]]:
    """Returns the names and scenarios to compare: several files, or one file unchanged and with each `--set`."""
    given = [scenarios.load(name) for name in options.scenarios]
    names = list(options.scenarios)
    if len(given) == 1:
        if not options.set:
            raise BadInputError(f"compare {names[0]}: with what? expected another scenario, or --set KEY.PATH=VALUE")
        given += [scenarios.override(given[0], scenarios.parse_settings([setting])) for setting in options.set]
        names += [f"{names[0]} with {setting}" for setting in options.set]
    else:
        given = [scenarios.override(source, scenarios.parse_settings(options.set)) for source in given]
    seed = given[0].seed if options.seed is None else options.seed
    return names, [scenarios.override(source, {"seed": seed}) for source in given]


def _short(name: str) -> str:
    """Returns the end of a name, which distinguishes it, shortened to fit a legend."""
    return name if len(name) <= LONGEST_LABEL else f"…{name[1 - LONGEST_LABEL :]}"


def _letters(count: int) -> list[str]:
    return [chr(ord("A") + place) if count <= 26 else str(place + 1) for place in range(count)]


def _show(numbers: Sequence[Difference], count: int, *, verbose: bool) -> None:
    letters = _letters(count)
    shown = table(["", *letters, *(f"{letter} - A" for letter in letters[1:])])
    for one in numbers:
        if not verbose and all(mean.mean == 0 for mean in one.means):
            continue
        differences = []
        for difference in one.differences:
            low, high = difference.interval or (0.0, 0.0)
            mark = " *" if low > 0 or high < 0 else "  "
            differences.append(number(difference.mean, difference.half_width) + mark)
        shown.add_row(one.name, *(number(mean.mean) for mean in one.means), *differences)
    console().print(shown)


def _json(one: Difference) -> dict[str, Any]:
    return {
        "name": one.name,
        "mean": [mean.mean for mean in one.means],
        "difference": [difference.mean for difference in one.differences],
        "interval95": [difference.interval for difference in one.differences],
    }
