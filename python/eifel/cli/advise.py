"""`eifel advise`: the engine reads the files and says what other settings would have done; this module draws it."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from eifel.cli import OK
from eifel.cli.output import console, note
from eifel.files import opened


def command(options: argparse.Namespace) -> int:
    """Writes what the engine says. With `--plot`, draws the curves that its JSON has."""
    from eifel import _engine

    page = console()
    screen = (page.width, page.is_terminal)
    code, out, err = _engine.advise(_words(options), screen)
    if code == OK and options.plot:
        of_json = [word for word in _words(options) if word != "--json"] + ["--json"]
        curves = out if options.json else _engine.advise(_without_csv(of_json), screen)[1]
        _draw(curves, Path(options.plot))
    sys.stdout.write(out)
    sys.stdout.flush()
    sys.stderr.write(err)
    return code


def _words(options: argparse.Namespace) -> list[str]:
    """Returns the command line for the engine."""
    words = ["--json"] if options.json else []
    words += [f"--csv={options.csv}"] if options.csv else []
    words += [f"{flag}={given}" for flag, all_of in _settings(options) for given in all_of]
    # A file may have a name like an option's.
    return [*words, *(f"./{file}" if file.startswith("-") and file != "-" else file for file in options.files)]


def _settings(options: argparse.Namespace) -> list[tuple[str, Sequence[str]]]:
    return [("--now", options.now or ()), ("--value", options.value or ())]


def _without_csv(words: Sequence[str]) -> list[str]:
    """The table is written once."""
    return [word for word in words if not word.startswith("--csv=")]


def _draw(printed: str, file: Path) -> None:
    from eifel.plots import save
    from eifel.plots.advised import advised_figure

    figure = advised_figure(json.loads(printed)["curves"])
    with opened(file) as out:
        save(figure, out, file.suffix[1:])
    note(f"wrote {file}")
