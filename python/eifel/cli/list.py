"""`eifel list`: the algorithms and the artefacts."""

import argparse
import sys
from typing import Any

from eifel.cli import OK


def command(options: argparse.Namespace) -> int:
    if options.what == "schema":
        from eifel import _engine

        sys.stdout.write(_engine.schema().rstrip() + "\n")
        return OK
    listed: dict[str, list[dict[str, Any]]] = {}
    if options.what in ("all", "algorithms"):
        from eifel.registry import algorithms

        listed["algorithms"] = algorithms()
    if options.what in ("all", "artefacts"):
        listed["artefacts"] = _artefacts()
    if options.json:
        from eifel.cli.output import print_json

        print_json("list", listed)
    else:
        _print(listed)
    return OK


def _artefacts() -> list[dict[str, Any]]:
    from eifel.papers import artefacts

    return [
        {
            "id": artefact.id,
            "title": artefact.title,
            "source": artefact.source,
            "kind": "figure" if artefact.draw is not None else "table",
            "repetitions": artefact.repetitions,
            "needs_traces": artefact.needs_traces,
            "long": artefact.is_long,
        }
        for artefact in artefacts().values()
    ]


def _print(listed: dict[str, list[dict[str, Any]]]) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from eifel.cli.output import NARROW, console, heading, table

    out = console()
    for seam in dict.fromkeys(algorithm["seam"] for algorithm in listed.get("algorithms", [])):
        out.print(heading(seam))
        narrow = out.width < NARROW
        shown = table(["name", "summary"] if narrow else ["name", "summary", "parameters", "from"], left=4)
        for algorithm in listed["algorithms"]:
            if algorithm["seam"] != seam:
                continue
            parameters = ", ".join(_parameter(parameter) for parameter in algorithm["parameters"])
            name, summary, source = (Text(algorithm[key]) for key in ("name", "summary", "source"))
            if algorithm["association"]:
                summary.append(" (SCTP only)")
            if narrow:
                name.no_wrap = True
                more = f"\n{parameters}" if parameters else ""
                shown.add_row(name, summary.append(f"{more}\n{source}", style="dim"))
            else:
                shown.add_row(name, summary, Text(parameters), source)
        out.print(Padding(shown, (0, 0, 1, 0)))
    if "artefacts" in listed:
        out.print(heading("artefacts"))
        shown = table(["id", "title", "repetitions"], left=2)
        for artefact in listed["artefacts"]:
            title = artefact["title"] + (" (needs --trace FILE…)" if artefact["needs_traces"] else "")
            title += " (takes minutes: by name, or with --all)" if artefact["long"] else ""
            shown.add_row(*map(Text, (artefact["id"], title, str(artefact["repetitions"]))))
        out.print(shown)


def _parameter(parameter: dict[str, Any]) -> str:
    default = parameter.get("default")
    return str(parameter["name"]) if default is None else f"{parameter['name']}={default}"
