"""Writes the manual pages of the program: `python3 packaging/manpages.py PROGRAM FOLDER VERSION`.

There is one for the program, and one for each of its commands, and all that they say is what `--help` says.
"""

import re
import subprocess
import sys
from pathlib import Path

SECTION = "1"
EXIT_CODES = ("done", "failed: a condition of --fail-if or another check, or a file that could not be written")
REFUSED = "refused: an argument, a capture or another input is wrong"
SEE_ALSO = ("tcpdump(8)", "tshark(1)", "ss(8)", "nstat(8)")
COLUMN = re.compile(r"^  (\S.*?)(?:  +| (?=an? ))(\S.*)$")
"""A word of a list, and what it means: two spaces are between them, or one if the word is long."""


def said(program: str, command: tuple[str, ...]) -> str:
    return subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True).stdout


def escaped(text: str) -> str:
    """Returns a line of text that troff shows as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return "\\&" + text if text.startswith(".") else text


def described(lines: list[str]) -> list[str]:
    """Returns a list of words and meanings as tagged paragraphs."""
    made: list[str] = []
    for line in lines:
        found = COLUMN.match(line)
        if found and not line.startswith("   "):
            made += [".TP", f".B {escaped(found[1])}", escaped(found[2])]
        else:
            made.append(escaped(line.strip()))
    return made


def page(command: tuple[str, ...], text: str, version: str, others: list[str]) -> str:
    """Returns the manual page of a command, by the text of its `--help`."""
    name = "-".join(("eifel", *command))
    first, *parts = text.strip().split("\n\n")
    sentence = " ".join(first.split())
    # A page's name has one line, for apropos.
    short = re.split(r"[.:] ", sentence)[0].rstrip(".")
    lines = [f'.TH {name.upper()} {SECTION} "" "eifel {version}"', ".SH NAME"]
    lines += [f"{escaped(name)} \\- {escaped(short[0].lower() + short[1:])}", ".SH SYNOPSIS", ".nf"]
    usage, examples, rest = parts[0], [], []
    lines += [escaped(line.removeprefix("usage:").strip()) for line in usage.splitlines()]
    lines += [".fi", ".SH DESCRIPTION", escaped(sentence)]
    for part in parts[1:]:
        content = part.splitlines()
        if content[0].startswith("  "):
            lines += [
                ".SH COMMANDS" if not any("--" in line for line in content) else ".SH OPTIONS",
                *described(content),
            ]
        elif content[0].startswith("example:"):
            examples += [escaped(line.removeprefix("example:").strip()) for line in content]
        else:
            rest += [".PP", *map(escaped, content)]
    lines += [".SH NOTES", *rest[1:]] if rest else []
    lines += [".SH EXIT STATUS"]
    for code, meaning in enumerate((*EXIT_CODES, REFUSED)):
        lines += [".TP", f".B {code}", escaped(meaning)]
    lines += [".SH EXAMPLES", ".nf", *examples, ".fi"] if examples else []
    pages = sorted({*others, *SEE_ALSO} - {f"{name}({SECTION})"})
    lines += [".SH SEE ALSO", ",\n".join(escaped(one) for one in pages)]
    return "\n".join(lines) + "\n"


def commands(program: str, command: tuple[str, ...] = ()) -> dict[tuple[str, ...], str]:
    """Returns the help of a command, and of the commands below it."""
    text = said(program, command)
    found = {command: text}
    if "` and so on say more." in text:
        listed = text.split("\n\n")[2]
        for line in listed.splitlines():
            found |= commands(program, (*command, line.split()[0]))
    return found


def main(program: str, folder: str, version: str) -> None:
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    found = commands(program)
    for command, text in found.items():
        # Those above it and those directly below it.
        near = [other for other in found if other in (command[:-1], ()) or other[:-1] == command]
        others = [f"{'-'.join(('eifel', *other))}({SECTION})" for other in near if other != command]
        name = "-".join(("eifel", *command))
        (out / f"{name}.{SECTION}").write_text(page(command, text, version, others), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
