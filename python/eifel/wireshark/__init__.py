"""The plugin for Wireshark: its installation, and the findings that it reads."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from shlex import quote
from typing import Any

from eifel.errors import BadInputError
from eifel.tshark import FIELDS, WHY

PLUGIN = "eifel.lua"
PROFILE = "eifel"
ORDER = ("verdict", "confidence", "reason", "evidence_frame", "cause", "other_cause", "copy", "stack_noticed")
"""The fields of a finding after the frame's number, as the plugin expects them."""
ENVIRONMENT = "EIFEL_CAPTURE"
"""The variable that names the open file where the system does not tell it."""
GENERATIONS = 4
"""How far up the program that opened the file may be: a shell or two are between."""
MAGIC = (
    *(b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x4d\x3c\xb2\xa1"),
    *(b"\x0a\x0d\x0d\x0a", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"snoop"),
)
"""What captures begin with: pcap, pcapng, gzip, zstd, snoop."""
COLUMNS = (
    *(("No.", "%m"), ("Time", "%t"), ("Source", "%s"), ("Destination", "%d"), ("Protocol", "%p"), ("Length", "%L")),
    *(("Verdict", "%Cus:eifel.verdict:0:R"), ("Cause", "%Cus:eifel.cause:0:R"), ("Info", "%i")),
)
COLOURS = (
    ("Spurious retransmission, certain", 'eifel.verdict == "spurious" && eifel.confidence == "certain"', "ff9f80"),
    ("Spurious retransmission", 'eifel.verdict == "spurious"', "ffd0b8"),
    ("Needed retransmission", 'eifel.verdict == "needed"', "c8dcff"),
    ("Undecidable retransmission", 'eifel.verdict == "undecidable"', "e8e8e8"),
)
"""Colouring rules: name, display filter, background."""


def plugin() -> str:
    """Returns the text of the plugin, which calls this installation."""
    text = (files("eifel") / "wireshark" / PLUGIN).read_text(encoding="utf-8")
    command = f"{quote(sys.executable)} -m eifel"
    why = ", ".join(f"[{_lua(' '.join(pair))}] = {_lua(reason)}" for pair, reason in WHY.items())
    flags = ", ".join(f"{{ {_lua(field)}, {_lua(word)} }}" for field, word in FIELDS.items())
    filled = {"@COMMAND@": _lua(command), "@WHY@": f"{{ {why} }}", "@FLAGS@": f"{{ {flags} }}"}
    for name, value in filled.items():
        text = text.replace(name, value)
    return text


def _lua(text: str) -> str:
    # JSON's escapes of ASCII are Lua's, except for those of Unicode, which none of these texts has.
    return json.dumps(text, ensure_ascii=False)


def folders() -> Mapping[str, Path]:
    """Returns Wireshark's own folders by their names. Raises BadInputError without Wireshark."""
    command = shutil.which("tshark") or shutil.which("wireshark")
    if command is None:
        raise BadInputError("neither tshark nor wireshark is installed; expected Wireshark 3 or newer, or --folder")
    said = subprocess.run([command, "-G", "folders"], capture_output=True, text=True, check=False).stdout
    pairs = (line.split(":", 1) for line in said.splitlines() if ":" in line)
    return {name.strip(): Path(folder.strip()) for name, folder in pairs}


def install(folder: Path | None) -> list[Path]:
    """Writes the plugin, and a profile with columns and colouring rules. Returns the files.

    `folder` is that of Lua plugins; None asks Wireshark, and only then a profile is written.
    """
    if folder is not None:
        return [_write(folder / PLUGIN, plugin())]
    own = folders()
    try:
        lua, configuration = own["Personal Lua Plugins"], own["Personal configuration"]
    except KeyError as missing:
        raise BadInputError(f"Wireshark names no folder {missing}; expected one with Lua, or --folder") from None
    profile = configuration / "profiles" / PROFILE
    columns = ", ".join(f'"{cell}"' for pair in COLUMNS for cell in pair)
    rules = "".join(f"@{name}@{rule}@{_colour(back)}[0,0,0]\n" for name, rule, back in COLOURS)
    return [
        _write(lua / PLUGIN, plugin()),
        _write(profile / "preferences", f"gui.column.format: {columns}\n"),
        _write(profile / "colorfilters", rules),
    ]


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _colour(hexadecimal: str) -> str:
    """Returns a colour as Wireshark writes it: red, green and blue of 16 bits."""
    parts = (257 * int(hexadecimal[place : place + 2], 16) for place in (0, 2, 4))
    return f"[{','.join(map(str, parts))}]"


def findings(capture: Path) -> Iterator[str]:
    """Yields a line for each retransmission: the frame's number and ORDER, with tabs between."""
    from eifel.captures import analyze

    for row in analyze(capture).report["retransmissions"]:
        yield "\t".join((str(row["frame"]), *(_cell(row.get(name)) for name in ORDER)))


def _cell(value: Any) -> str:
    return "" if value is None else str(value).replace("\t", " ").replace("\n", " ")


def opened() -> Path:
    """Returns the capture that the calling Wireshark has open. Raises BadInputError if none is found."""
    if given := os.environ.get(ENVIRONMENT):
        return Path(given)
    process = os.getpid()
    for _ in range(GENERATIONS):
        process = _parent(process)
        if process <= 1:
            break
        captures = [path for path in _files_of(process) if _is_capture(path)]
        if captures:
            return captures[-1]
    raise BadInputError(f"the open file is not to be found; expected its name in the variable {ENVIRONMENT}")


def _parent(process: int) -> int:
    stat = Path(f"/proc/{process}/stat")
    if stat.exists():
        # The name of the program, in parentheses, may hold spaces.
        return int(stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1])
    said = subprocess.run(["ps", "-o", "ppid=", "-p", str(process)], capture_output=True, text=True, check=False)
    return int(said.stdout.strip() or 0)


def _files_of(process: int) -> list[Path]:
    """Returns the files that a process has open, in the order of their descriptors."""
    own = Path(f"/proc/{process}/fd")
    if own.is_dir():
        found = []
        for descriptor in sorted(own.iterdir(), key=lambda one: int(one.name)):
            try:
                found.append(descriptor.readlink())
            except OSError:
                continue
        return found
    if shutil.which("lsof") is None:
        return []
    line = ["lsof", "-a", "-p", str(process), "-d", "0-255", "-Fn"]
    said = subprocess.run(line, capture_output=True, text=True, check=False)
    return [Path(line[1:]) for line in said.stdout.splitlines() if line.startswith("n/")]


def _is_capture(path: Path) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(8).startswith(MAGIC)
    except OSError:
        return False
