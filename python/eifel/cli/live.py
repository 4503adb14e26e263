"""`eifel live`: the engine on a real network. The commands are the engine's own; here what they record is written."""

from __future__ import annotations

import argparse
import sys


def command(options: argparse.Namespace) -> int:
    """Runs the command, and returns its exit code."""
    from eifel import _engine

    sys.stdout.flush()
    code, recorded = _engine.live([sys.executable, "-m", "eifel", "live"], options.arguments)
    for folder, scenario, origin, run in recorded:
        from eifel.cli.output import note
        from eifel.result import Result
        from eifel.scenario import Source

        Result.from_engine(Source(scenario, origin), 0, run).write(folder)
        note(f"recorded in {folder}; `eifel compare {folder} OTHER` sets it beside another")
    return code
