"""`eifel script`: the engine reads the command line, runs the scripts, and says how they went."""

import argparse
import sys


def command(options: argparse.Namespace) -> int:
    from eifel import _engine

    code, out, err = _engine.script(options.arguments)
    sys.stdout.write(out)
    sys.stdout.flush()
    sys.stderr.write(err)
    return code
