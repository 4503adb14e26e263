"""`eifel watch`: the engine reads the command line, watches, and writes what it finds."""

import argparse
import signal
import sys


def command(options: argparse.Namespace) -> int:
    from eifel import _engine

    sys.stdout.flush()
    # Ctrl-C ends the watch in good order. An exception of Python's own would come after it.
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        return _engine.watch(options.arguments)
    finally:
        signal.signal(signal.SIGINT, before)
