"""Helpers to declare commands, and the types of their values."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def command(commands: Commands, name: str, summary: str, example: str) -> argparse.ArgumentParser:
    """Declares a command. `summary` begins with a small letter and has no full stop."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=f"example: {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print JSON to standard output")
    parser.set_defaults(module=name, resumes=name in ("sweep", "reproduce", "hunt"))
    return parser


def repeated(parser: argparse.ArgumentParser, option: str, metavar: str, told: str) -> None:
    """Declares a repeatable option. Its values form a list."""
    parser.add_argument(option, action="append", default=[], metavar=metavar, help=told)


def jobs(parser: argparse.ArgumentParser) -> None:
    """Declares the number of threads."""
    parser.add_argument("--jobs", type=positive, metavar="N", help="threads (default: all cores)")


def positive(text: str) -> int:
    """Parses a whole number from 1."""
    return whole(text, 1)


def natural(text: str) -> int:
    """Parses a whole number from 0."""
    return whole(text, 0)


def whole(text: str, least: int) -> int:
    """Parses a whole number from `least`."""
    # No count has more digits, and Python refuses to parse numbers of several thousand digits.
    if not text.isdecimal() or not text.isascii() or len(text) > 20 or int(text) < least:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number from {least}")
    return int(text)


def path(text: str) -> str:
    """Accepts a path, which shells can complete."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return text
