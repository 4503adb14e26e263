"""`eifel truth`: records this kernel's TCP with the truth about each retransmission, and scores tools by it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def command(options: argparse.Namespace) -> int:
    """Records or scores, and returns the exit code."""
    return _record(options) if options.truth == "record" else _score(options)


def _record(options: argparse.Namespace) -> int:
    from eifel import _engine

    words = ["truth", "--count", options.count, "--first", options.first, "--seed", options.seed]
    words += ["--congestion", options.congestion] if options.congestion else []
    words += ["--watch"] if options.watch else []
    sys.stdout.flush()
    code, _ = _engine.live([sys.executable, "-m", "eifel", "live"], [*map(str, words), str(options.folder)])
    return int(code)


def _score(options: argparse.Namespace) -> int:
    from eifel import truth
    from eifel.cli.output import console, print_json, progress, table

    tools = {**truth.TOOLS, "watch": truth.watch}
    tool = tools[options.tool] if options.found is None else truth.findings(Path(options.found))
    with progress("scored") as said:
        rows = truth.score(Path(options.folder), tool, said)
    if options.json:
        name = options.tool if options.found is None else str(options.found)
        print_json("truth-score", {"folder": str(options.folder), "tool": name, "rows": rows})
        return 0
    shown = table(truth.HEADS, left=2)
    for cells in truth.table(rows):
        shown.add_row(*cells)
    console().print(shown)
    return 0
