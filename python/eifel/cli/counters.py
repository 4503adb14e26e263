"""`eifel counters`: the engine reads the command line and the counters, and writes what they mean."""

import argparse
import signal
import sys


def command(options: argparse.Namespace) -> int:
    from eifel import _engine

    sys.stdout.flush()
    # Ctrl-C ends a count in good order. An exception of Python's own would come after it.
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        return _engine.counters(options.arguments)
    finally:
        signal.signal(signal.SIGINT, before)
