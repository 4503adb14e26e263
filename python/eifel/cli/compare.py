"""`eifel compare`: compares scenarios, with the differences between runs with the same seed."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.text import Text

from eifel import scenario as scenarios
from eifel.cli import OK
from eifel.cli.output import console, heading, note, number, print_json, progress, table
from eifel.comparison import Comparison, Difference, compare
from eifel.errors import BadInputError
from eifel.files import opened
from eifel.recommendation import CANDIDATES, protocols
from eifel.runs import run

LONGEST_LABEL = 48
"""The most letters of a name in a picture."""


def command(options: argparse.Namespace) -> int:
    """Runs every scenario with the same seeds, and shows the differences."""
    names, sources = _variants(options)
    repetitions = options.repetitions or max(source.repetitions for source in sources)
    with progress("running") as advance:
        runs = compare(sources, repetitions=repetitions, flow=options.flow, threads=options.jobs, progress=advance)
    found = replace(runs, names=names)
    if options.plot:
        _plot(found, (names, sources), options)
    if options.json:
        head = {"scenarios": names, "seed": sources[0].seed, "repetitions": repetitions, "flow": found.flow}
        advice = {"recommendation": _recommendation(found)} if options.protocols else {}
        print_json("compare", {**head, "numbers": [_json(difference) for difference in found.numbers], **advice})
        return OK
    out = console()
    out.print(heading(f"flow {found.flow}  seed {sources[0].seed}, means of {repetitions} repetitions"))
    if options.protocols and repetitions > 1:
        *rows, sentence = str(found.recommendation()).splitlines()
        for line in rows:
            out.print(Text(line))
        out.print(heading(sentence))
        if not options.verbose:
            return OK
    for letter, name in zip(_letters(len(names)), names, strict=True):
        out.print(Text(f"{letter}  {name}"))
    _show(found.numbers, len(names), verbose=options.verbose)
    if repetitions > 1:
        note("differences with 95 % intervals, run by run with the same seed; * where the interval leaves out zero")
    else:
        note("one repetition says nothing of chance: --repetitions N")
    return OK


def _plot(
    found: Comparison, variants: tuple[Sequence[str], Sequence[scenarios.Source]], options: argparse.Namespace
) -> None:
    """Draws all repetitions and one of them over time, by default the median one."""
    from eifel.plots import compared, save

    names, sources = variants
    letters = _letters(len(names))
    labels = [f"{letter}  {_short(name)}" for letter, name in zip(letters, names, strict=True)]
    number = found.number(options.number)
    several = len(number.values[0]) > 1
    panels = options.draw or [*(compared.PANELS if several else ()), "progress"]
    title, runs = f"flow {found.flow}", {}
    if several:
        title += f", {len(number.values[0])} repetitions"
    if set(panels) & set(compared.OF_RUNS):
        chosen = found.median_repetition(number) if options.repetition is None else options.repetition
        if chosen >= len(number.values[0]):
            raise BadInputError(f"--repetition {chosen}: expected one below {len(number.values[0])}, as from 0 on")
        runs = {name: run(source, repetition=chosen) for name, source in zip(labels, sources, strict=True)}
        which = f" (the median one by {number.name} of {letters[0]})" if options.repetition is None and several else ""
        title += f"; over time: repetition {chosen}{which}"
    # Legends have the names, and the axes of panels room for letters only.
    shown = replace(found, names=labels if list(panels) == ["cdf"] else letters)
    columns = {None: None, "one": 1, "two": 2}[options.columns]
    figure = compared.figure(shown, panels, number=options.number, runs=runs, columns=columns, title=title)
    file = Path(options.plot)
    with opened(file) as out:
        save(figure, out, file.suffix.lstrip("."))
    note(f"wrote {file}: {title}")


def _variants(options: argparse.Namespace) -> tuple[list[str], list[scenarios.Source]]:
    """Returns the names and scenarios to compare.

    They are several files, one file with each of `--protocols`, or one file unchanged and with each `--set`.
    """
    given = [scenarios.load(name) for name in options.scenarios]
    names = list(options.scenarios)
    if options.protocols:
        if len(given) > 1:
            raise BadInputError("--protocols: several scenarios; expected one, whose path all protocols use")
        chosen = CANDIDATES if options.protocols == "all" else options.protocols.split(",")
        each = protocols(given[0], chosen, flow=options.flow)
        names, given = list(each), list(each.values())
    if len(given) == 1:
        if not options.set:
            raise BadInputError(
                f"compare {names[0]}: with what? expected another scenario, --set KEY.PATH=VALUE or --protocols all"
            )
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


def _recommendation(found: Comparison) -> dict[str, Any] | None:
    """Returns the recommendation for programs; None for a single repetition."""
    if len(found["goodput_bps"].values[0]) < 2:
        return None
    advice = found.recommendation()
    less = [{"protocol": name, "mean": one.mean, "interval95": one.interval} for name, one in advice.less.items()]
    return {"protocol": advice.best, "equal": advice.equal, "less_percent": less}


def _json(one: Difference) -> dict[str, Any]:
    return {
        "name": one.name,
        "mean": [mean.mean for mean in one.means],
        "difference": [difference.mean for difference in one.differences],
        "interval95": [difference.interval for difference in one.differences],
    }
