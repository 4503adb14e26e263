"""Writes THIRD-PARTY.txt: the licences of everything in a wheel except this project's own code."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eifel.documents import ROOT

PAGE = ROOT / "THIRD-PARTY.txt"
HEAD = """\
A wheel of eifel contains the Rust crates below, compiled, and uPlot's scripts and styles.
Of the licences that a project offers, the MIT licence is used where there is one.
"""


def _linked() -> list[dict[str, Any]]:
    """Returns the third-party crates that the Python extension links, on any platform, by name."""
    # The metadata alone would count what only tests switch on.
    tree = ("tree", "--package", "eifel-python", "--edges", "normal", "--target", "all", "--prefix", "none")
    linked = {tuple(line.split()[:2]) for line in _cargo(*tree, "--format", "{p}").splitlines()}
    packages = json.loads(_cargo("metadata", "--format-version", "1"))["packages"]
    foreign = (one for one in packages if one["source"] is not None and (one["name"], f"v{one['version']}") in linked)
    return sorted(foreign, key=lambda package: (package["name"], package["version"]))


def _cargo(command: str, *words: str) -> str:
    call = ["cargo", command, "--locked", "--manifest-path", str(ROOT / "Cargo.toml"), *words]
    return subprocess.run(call, check=True, capture_output=True, text=True).stdout


def _texts(folder: Path) -> Iterator[str]:
    """Yields the texts of a project's licence: only the MIT licence's, if there is one."""
    files = sorted(file for file in folder.iterdir() if re.match(r"(LICEN[CS]E|COPYING|NOTICE)", file.name, re.I))
    files = [file for file in files if file.is_file()]
    chosen = [file for file in files if "MIT" in file.name.upper()] or files
    yield from map(_text, chosen)


def _text(file: Path) -> str:
    return "\n".join(line.rstrip() for line in file.read_text(encoding="utf-8").strip().splitlines())


def page() -> str:
    """Returns the whole text: each licence once, below its projects."""
    under: dict[str, list[str]] = {}
    for package in _linked():
        name = f"{package['name']} {package['version']} ({package['license']})"
        found = list(_texts(Path(package["manifest_path"]).parent))
        if not found and "Apache-2.0" in package["license"]:
            # The text of this licence is the same for every project, and names no holder.
            found = [_text(ROOT / "LICENSE-APACHE")]
        if not found:
            raise FileNotFoundError(f"{name}: the package has no text of its licence")
        for text in found:
            under.setdefault(text, []).append(name)
    for text in _texts(ROOT / "python" / "eifel" / "report" / "uplot"):
        under.setdefault(text, []).append("uPlot (MIT)")
    blocks = ["\n".join(names) + "\n\n" + text for text, names in sorted(under.items(), key=lambda item: item[1])]
    rule = "\n\n" + "-" * 80 + "\n\n"
    return rule.join([HEAD.rstrip(), *blocks]) + "\n"
