"""`eifel new`: writes a commented scenario as a starting point."""

import argparse
import re
import sys
from importlib.resources import files
from pathlib import Path

from eifel.cli import OK
from eifel.cli.output import console, note, print_json, table
from eifel.errors import BadInputError


def command(options: argparse.Namespace) -> int:
    """Writes the scenario, or lists the templates."""
    known = templates()
    if options.name is None:
        if options.json:
            print_json("templates", {"templates": {name: _title(text) for name, text in known.items()}})
            return OK
        shown = table(["name", "what it is"], left=2)
        for name, text in known.items():
            shown.add_row(name, _title(text))
        console().print(shown)
        return OK
    if options.name not in known:
        raise BadInputError(f"new {options.name}: no such scenario; there is: {', '.join(known)}")
    if options.out == "-":
        sys.stdout.write(known[options.name])
        return OK
    place = Path(options.out or f"{options.name}.toml")
    try:
        with place.open("x", encoding="utf-8") as out:
            out.write(known[options.name])
    except FileExistsError:
        raise BadInputError(f"{place}: is there already; expected a new name by --out") from None
    if options.json:
        print_json("new", {"template": options.name, "file": str(place)})
    else:
        note(f"wrote {place}; eifel run {place}")
    return OK


def templates() -> dict[str, str]:
    there = sorted((files("eifel") / "templates").iterdir(), key=lambda file: file.name)
    return {file.name.removesuffix(".toml"): file.read_text(encoding="utf-8") for file in there}


def _title(text: str) -> str:
    found = re.search(r'^title = "(.*)"$', text, re.MULTILINE)
    return found[1] if found else ""
