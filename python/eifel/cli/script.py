"""`eifel script`: runs scripted conversations with a connection, and prints the outcomes."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from eifel.cli import BAD_INPUT, FAILED, OK
from eifel.cli.output import note, print_json
from eifel.errors import BadInputError
from eifel.files import read_text


def command(options: argparse.Namespace) -> int:
    """Runs every script. Returns 1 if one fails, and 2 if one is refused."""
    from eifel import _engine

    outcomes: list[dict[str, Any]] = []
    refused = 0
    for path in _scripts(options.paths):
        try:
            outcome, shown = _engine.converse(read_text(path), str(path), options.profile)
        except _engine.ScriptError as error:
            note(f"eifel: {error}")
            refused += 1
            continue
        outcomes.append(json.loads(outcome))
        if not options.json and not outcomes[-1]["passed"]:
            print(shown)
    failed = sum(not outcome["passed"] for outcome in outcomes)
    if options.json:
        print_json("script", {"scripts": outcomes})
    else:
        _count(len(outcomes) - failed, failed, refused)
    return BAD_INPUT if refused else FAILED if failed else OK


def _count(passed: int, failed: int, refused: int) -> None:
    parts = [f"{number} {what}" for number, what in ((failed, "failed"), (refused, "refused")) if number]
    sys.stdout.write(", ".join([f"{passed} passed", *parts]) + "\n")


def _scripts(paths: list[str]) -> list[Path]:
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        if path.is_dir():
            below = sorted(path.rglob("*.pkt"))
            if not below:
                raise BadInputError(f"{path}: no scripts there, their names end in .pkt")
            found |= dict.fromkeys(below)
        elif path.exists():
            found[path] = None
        else:
            raise BadInputError(f"{path}: No such file or folder")
    return list(found)
