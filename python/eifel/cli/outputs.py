"""The arguments that name outputs. Refuses impossible names, and endings of formats that are not written."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from eifel import files
from eifel.errors import BadInputError

FOLDER = "a folder"
FORMATS = {
    "PNG": (".png",),
    "SVG": (".svg",),
    "PDF": (".pdf",),
    "xplot": (".xpl",),
    "HTML": (".html", ".htm"),
    "CSV": (".csv",),
    "Parquet": (".parquet",),
    # Readers tell it from pcap by its first bytes, and people call either .pcap.
    "pcapng": (".pcapng", ".pcap"),
    "JSON": (".json",),
    "TOML": (".toml",),
    FOLDER: (),
}
"""What options write, and the endings of its names."""
FOREIGN = frozenset(
    {
        *(".arrow", ".cap", ".db", ".doc", ".docx", ".eps", ".feather", ".gif", ".jpeg", ".jpg", ".md", ".ods"),
        *(".pkt", ".ps", ".qlog", ".snoop", ".sqlite", ".sqlog", ".tsv", ".webp", ".xls", ".xlsx", ".xml"),
        *(".bz2", ".gz", ".xz", ".yaml", ".yml", ".zip", ".zst"),
    }
)
"""Endings of formats that no option writes."""


@dataclass(frozen=True)
class Output:
    """An argument that names an output."""

    flag: str
    dest: str
    formats: Sequence[str]
    by_ending: bool
    """Whether the ending chooses among the formats. Otherwise a name may have any ending of no other format."""

    @property
    def is_folder(self) -> bool:
        return tuple(self.formats) == (FOLDER,)

    def expect(self, name: str, command: str, all_commands: Callable[[], argparse.ArgumentParser]) -> None:
        """Raises BadInputError for a name that no such output can have, or that ends as another format."""
        files.expect_folder(Path(name)) if self.is_folder else files.expect_file(Path(name))
        ending = Path(name).suffix.lower()
        own = [one for form in self.formats for one in FORMATS[form]]
        form = next((form for form, endings in FORMATS.items() if ending in endings), None)
        if ending in own or not (self.by_ending or form or ending in FOREIGN):
            return
        if self.by_ending:
            firsts = ", ".join(FORMATS[form][0] for form in self.formats)
            expected = f"expected a name that ends in {firsts}"
        else:
            expected = " or ".join(f"writes {form}" for form in self.formats)
            expected += f" ({', '.join(own)})" if own else ""
        raise BadInputError(f"{self.flag} {name}: {expected}{_way_on(ending, form, command, all_commands)}")


def expect(options: argparse.Namespace, all_commands: Callable[[], argparse.ArgumentParser]) -> None:
    """Raises BadInputError for a name that an output cannot have."""
    for output in getattr(options, "outputs", ()):
        if name := getattr(options, output.dest):
            output.expect(name, options.command, all_commands)


def _way_on(ending: str, form: str | None, command: str, all_commands: Callable[[], argparse.ArgumentParser]) -> str:
    if form is None:
        return f"; no option writes {ending}" if ending in FOREIGN else ""
    if form == "JSON":
        return "; --json prints JSON to standard output"
    writers = [(name, output.flag) for name, output in _outputs(all_commands(), "") if form in output.formats]
    here = " or ".join(flag for name, flag in writers if name == command)
    if here:
        return f"; for {form} take {here}"
    others = " and ".join(f"`eifel {name} {flag}`" for name, flag in writers)
    return f"; {form} is written by {others}"


def _outputs(parser: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, Output]]:
    """Yields each declared output, with the command that has it."""
    for output in parser.get_default("outputs") or ():
        yield name, output
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, command in action.choices.items():
                yield from _outputs(command, f"{name} {word}".lstrip())
