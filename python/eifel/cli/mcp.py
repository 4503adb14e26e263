"""`eifel mcp`: serves the tools to an assistant, over standard input and output."""

import argparse

from eifel.cli import OK
from eifel.errors import BadInputError


def command(_: argparse.Namespace) -> int:
    """Serves until standard input ends."""
    try:
        from eifel.mcp import server
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "mcp":
            raise
        raise BadInputError("the package mcp is missing; install it: pip install 'mcp>=2'") from None
    server().run("stdio")
    return OK
