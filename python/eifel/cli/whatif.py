"""`eifel whatif`: the engine reads the command line, predicts, and says what it finds."""

import argparse
import sys
from collections.abc import Callable
from contextlib import ExitStack

from eifel.cli.output import console, progress


def command(options: argparse.Namespace) -> int:
    from eifel import _engine

    page = console()
    with ExitStack() as shown:
        bars: dict[str, Callable[[int, int], None]] = {}

        def advance(what: str, done: int, total: int) -> None:
            if what not in bars:
                shown.close()
                bars[what] = shown.enter_context(progress(what))
            bars[what](done, total)

        code, out, err = _engine.whatif(options.arguments, page.width, page.is_terminal, advance)
    sys.stdout.write(out)
    sys.stdout.flush()
    sys.stderr.write(err)
    return code
