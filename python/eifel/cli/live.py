"""`eifel live`: the engine on a real network. The commands are the engine's own; here they are only handed on."""

from __future__ import annotations

import argparse
import sys


def command(options: argparse.Namespace) -> int:
    """Runs the command, and returns its exit code."""
    from eifel import _engine

    sys.stdout.flush()
    return _engine.live([sys.executable, "-m", "eifel", "live"], options.arguments)
