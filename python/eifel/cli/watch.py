"""`eifel watch` and `eifel counters`: the engine reads the command line and the kernel, and writes what it finds."""

import argparse
import signal
import sys


def command(options: argparse.Namespace) -> int:
    from eifel import _engine

    sys.stdout.flush()
    # Ctrl-C ends it in good order. An exception of Python's own would come after it.
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        engine = {"watch": _engine.watch, "counters": _engine.counters}[options.command]
        return engine(options.arguments)
    finally:
        signal.signal(signal.SIGINT, before)
