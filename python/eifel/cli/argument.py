"""Helpers to declare commands, and the types of their values."""

import argparse
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from eifel.cli.outputs import FOLDER, Output

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction["Parser"]
else:
    Commands = Any


OPTION = 0.8
"""The least likeness of an option that is named. All begin alike."""


class Parser(argparse.ArgumentParser):
    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuses a word that is no choice, and names the nearest one, or the command that it is a choice of."""
        if action.choices is not None and value not in action.choices:
            words = [str(choice) for choice in action.choices]
            meant = _meant(str(value), words)
            if not meant and isinstance(action.choices, dict):
                meant = _meant(str(value), _choices(action.choices))
            raise argparse.ArgumentError(action, f"{value!r} is unknown{meant} (allowed: {', '.join(words)})")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuses words that are no arguments, with the usage of the command itself, and names the nearest option."""
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            word = unknown[0].partition("=")[0]
            meant = _meant(word, [*self._option_string_actions], OPTION) if word.startswith("-") else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{meant}")
        return options, unknown

    def word(self, name: str, metavar: str, text: str, **more: Any) -> None:
        self.add_argument(name, metavar=metavar, help=text, **more)

    def path(self, name: str, metavar: str, text: str, **more: Any) -> None:
        self.word(name, metavar, text, type=path, **more)

    def output(self, name: str, metavar: str, text: str, *formats: str, by_ending: bool = False, **more: Any) -> None:
        """Declares the name of an output. Names that end as another format are refused (`eifel.cli.outputs`)."""
        action = self.add_argument(name, metavar=metavar, help=text, type=path, **more)
        declared = Output(name if action.option_strings else metavar, action.dest, formats, by_ending)
        self.set_defaults(outputs=[*(self.get_default("outputs") or ()), declared])

    def folder(self, name: str, metavar: str, text: str, **more: Any) -> None:
        """Declares the name of a folder that is written."""
        self.output(name, metavar, text, FOLDER, **more)

    def positive(self, name: str, metavar: str, text: str, **more: Any) -> None:
        self.word(name, metavar, text, type=positive, **more)

    def natural(self, name: str, metavar: str, text: str, **more: Any) -> None:
        self.word(name, metavar, text, type=natural, **more)

    def switch(self, name: str, text: str) -> None:
        self.add_argument(name, action="store_true", help=text)

    def verbose(self, text: str) -> None:
        self.add_argument("-v", "--verbose", action="store_true", help=text)

    def repeated(self, name: str, metavar: str, text: str) -> None:
        """Declares a repeatable option. Its values form a list."""
        self.word(name, metavar, text, action="append", default=[])

    def jobs(self) -> None:
        self.positive("--jobs", "N", "threads (default: all cores)")


def _meant(word: str, known: list[str] | dict[str, str], least: float = 0.6) -> str:
    """Asks for the nearest of the known words, or for what stands behind it."""
    near = get_close_matches(word, known, n=1, cutoff=least)
    if not near:
        return ""
    return f"; did you mean {known[near[0]] if isinstance(known, dict) else near[0]}?"


def _choices(commands: dict[str, argparse.ArgumentParser]) -> dict[str, str]:
    """Returns the words that commands take, each with its command before it."""
    return {
        str(choice): f"{name} {choice}"
        for name, command in commands.items()
        for action in command._actions
        if not action.option_strings
        for choice in action.choices or ()
    }


def command(commands: Commands, name: str, summary: str, example: str, *, json: bool = True) -> Parser:
    """Declares a command. `summary` begins with a small letter and has no full stop."""
    parser: Parser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=f"example: {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if json:
        parser.switch("--json", "print JSON to standard output")
    parser.set_defaults(
        module=name, command=parser.prog.partition(" ")[2], resumes=name in ("sweep", "reproduce", "hunt")
    )
    return parser


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
