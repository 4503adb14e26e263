"""`eifel attacks`: runs attacks on the connection, and prints the findings."""

import argparse
import json
from collections.abc import Sequence
from typing import Any

from eifel.cli import FAILED, OK
from eifel.cli.output import console, heading, print_json, progress, table
from eifel.errors import BadInputError


def command(options: argparse.Namespace) -> int:
    """Runs the selected attacks. Returns 1 if a finding is outside its bound."""
    from eifel import _engine

    chosen = _choose(json.loads(_engine.attacks()), options.names)
    if options.list:
        _show_list(chosen, options)
        return OK
    with progress("attacking") as advance:
        for done, attack in enumerate(chosen):
            advance(done, len(chosen))
            attack["findings"] = json.loads(_engine.attack(attack["name"]))
            attack["holds"] = all(finding["holds"] for finding in attack["findings"])
    if options.json:
        print_json("attacks", {"attacks": chosen})
    else:
        _show(chosen)
    return OK if all(attack["holds"] for attack in chosen) else FAILED


def _choose(attacks: list[dict[str, Any]], names: Sequence[str]) -> list[dict[str, Any]]:
    for name in names:
        if not any(attack["name"].startswith(name) for attack in attacks):
            known = ", ".join(attack["name"] for attack in attacks)
            raise BadInputError(f"attacks {name}: no attack begins with this, there are: {known}")
    return [attack for attack in attacks if not names or any(attack["name"].startswith(name) for name in names)]


def _show_list(attacks: list[dict[str, Any]], options: argparse.Namespace) -> None:
    if options.json:
        print_json("attacks", {"attacks": attacks})
        return
    from rich.text import Text

    shown = table(["name", "attack", "defence", "from"], left=4)
    for attack in attacks:
        shown.add_row(*(Text(attack[key]) for key in ("name", "summary", "defence", "source")))
    console().print(shown)


def _show(attacks: list[dict[str, Any]]) -> None:
    from rich.padding import Padding
    from rich.text import Text

    out = console()
    for attack in attacks:
        out.print(heading(f"{attack['name']}: {'withstood' if attack['holds'] else 'NOT withstood'}"))
        out.print(Text(f"{attack['summary']} ({attack['source']})"))
        out.print(Text(f"against it: {attack['defence']}"))
        shown = table(["", "measured", "bound", "unit", ""], left=1)
        for finding in attack["findings"]:
            bound = finding["limit"] if finding["bound"] is None else f"{_limit(finding)}{_number(finding['bound'])}"
            verdict = "" if finding["limit"] == "reported" else "holds" if finding["holds"] else "BROKEN"
            shown.add_row(*map(Text, (finding["what"], _number(finding["measured"]), bound, finding["unit"], verdict)))
        out.print(Padding(shown, (0, 0, 1, 2)))
    withstood = sum(attack["holds"] for attack in attacks)
    out.print(Text(f"{withstood} of {len(attacks)} attacks withstood"))


def _limit(finding: dict[str, Any]) -> str:
    return {"at most": "≤ ", "at least": "≥ ", "exactly": ""}[finding["limit"]]


def _number(value: float) -> str:
    return f"{value:,}".replace(",", " ") if isinstance(value, int) else f"{value:.3g}"
