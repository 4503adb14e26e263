"""The command line. `eifel --help` loads nothing heavy: each command imports what it needs."""

import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from eifel.cli import outputs
from eifel.cli.arguments import parser

OK, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
"""The exit codes: done, failed, bad input, interrupted by Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code."""
    given = sys.argv[1:] if arguments is None else [*arguments]
    if refused := _refused(given):
        print(f"eifel: {refused}", file=sys.stderr)
        return BAD_INPUT
    if given[:1] == ["help"]:
        given = [*given[1:], "--help"]
    root = parser(given[0] if given else "")
    options = root.parse_args(given)
    try:
        outputs.expect(options, parser)
        command = import_module(f"eifel.cli.{options.module}").command
        code = int(command(options))
        # Detects a failed write here, and not when the interpreter ends.
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        kept = "; what is finished is kept, and the same command goes on from there" if options.resumes else ""
        print(f"interrupted{kept}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe early (`eifel list | head`).
        _forget_output()
        return OK
    except (ValueError, RuntimeError) as error:
        # Other errors are faults of this package.
        if not _is_of_input(error):
            raise
        print(f"eifel: {error}", file=sys.stderr)
        return FAILED if isinstance(error, RuntimeError) else BAD_INPUT
    except OSError as error:
        # A failed write, as on a full disk, may not name its file.
        where = f"{error.filename}: " if error.filename else ""
        # The engine's errors end in the system's number.
        said = re.sub(r" \(os error \d+\)$", "", str(error.strerror or error))
        print(f"eifel: {where}{said}", file=sys.stderr)
        _forget_output()
        return FAILED


def _refused(arguments: Sequence[str]) -> str | None:
    """Returns the reason why no command can run; None if there is none."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        return "standard output is closed"
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            return f"{argument!a}: not UTF-8; expected names and values in UTF-8"
        if "\0" in argument:
            return f"{argument!a}: holds a NUL"
    return None


def _forget_output() -> None:
    """Drops buffered output that cannot be written. Otherwise the interpreter would complain at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_of_input(error: Exception) -> bool:
    """Returns whether it is one of the classes of `eifel.errors`, of which the engine makes some."""
    return any(kind.__module__ == "eifel.errors" for kind in type(error).__mro__)
