"""`eifel hunt`: a search for what refutes a claim."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from eifel.cli import FAILED, OK
from eifel.cli.output import console, print_json, progress


def command(options: argparse.Namespace) -> int:
    """Searches, and shows the worst that was found; 1 if the claim is refuted."""
    from rich.text import Text

    from eifel import _engine
    from eifel import scenario as scenarios

    source = scenarios.override(scenarios.load(Path(options.scenario)), scenarios.parse_settings(options.set))
    with progress("runs") as advance:
        found = json.loads(
            _engine.hunt_liars(
                source.text,
                source.origin,
                options.runs,
                options.seed,
                lambda done: advance(done, options.runs),
            )
        )
    refuted = found["gain"] > options.most
    if options.json:
        print_json({**found, "claim": options.claim, "most": options.most, "refuted": refuted})
    else:
        out = console()
        verdict = "refuted" if refuted else "not refuted"
        out.print(
            Text(
                f"{verdict}: the worst of {options.runs} runs has {found['gain']:.3f} of an honest receiver's goodput, "
                f"in {found['runs']} runs that were not searched with"
            )
        )
        if found["liar"]:
            out.print(Text(found["liar"].rstrip()))
    return FAILED if refuted else OK
