"""The command line. `eifel --help` answers without loading anything heavy: each command imports what it needs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from eifel.cli.arguments import parser

OK, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
"""The exit codes: done; failed; what was asked for cannot be done; interrupted by Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code."""
    options = parser().parse_args(arguments)
    try:
        command = import_module(f"eifel.cli.{options.module}").command
        return int(command(options))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever reads us has seen enough (`eifel list | head`); what is buffered cannot go anywhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except ValueError as error:
        if not _is_bad_input(error):
            raise
        print(f"eifel: {error}", file=sys.stderr)
        return BAD_INPUT
    except OSError as error:
        # A write that fails, as on a full disk, may not say of which file.
        where = f"{error.filename}: " if error.filename else ""
        print(f"eifel: {where}{error.strerror or error}", file=sys.stderr)
        return FAILED


def _is_bad_input(error: ValueError) -> bool:
    from eifel.errors import BadInputError

    if isinstance(error, BadInputError):
        return True
    engine = sys.modules.get("eifel._engine")
    return engine is not None and isinstance(error, engine.ScenarioError)
