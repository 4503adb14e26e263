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


def _linked(metadata: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the third-party crates that the Python extension links, on any platform, by name."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    (root,) = (id for id, package in packages.items() if package["name"] == "eifel-python")
    found, ahead = {root}, [root]
    while ahead:
        for needed in nodes[ahead.pop()]["deps"]:
            normal = any(kind["kind"] is None for kind in needed["dep_kinds"])
            if normal and needed["pkg"] not in found:
                found.add(needed["pkg"])
                ahead.append(needed["pkg"])
    foreign = (packages[id] for id in found if packages[id]["source"] is not None)
    return sorted(foreign, key=lambda package: (package["name"], package["version"]))


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
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", str(ROOT / "Cargo.toml")]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    under: dict[str, list[str]] = {}
    for package in _linked(metadata):
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
