"""The playground's presets: the README's spike, the papers' figures, and cases in which detection harms."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eifel.papers import artefacts
from eifel.papers.artefact import Artefact, Recorded

ROOT = Path(__file__).parents[3]
EXAMPLES = ("spike", "lossy", "bandwidth-change", "sctp")
"""The scenarios in `examples` with one flow and a short run."""
HARMS = ROOT / "crates" / "hunt" / "counterexamples"
RECORDING = ROOT / "examples" / "made-up.down"
PAPERS = {
    "responding": "Responding to Spurious Timeouts in TCP",
    "thesis": "Ludwig's thesis, chapter 5",
    "dualrtt": "DualRTT",
    "sctp": "On Making SCTP Robust to Spurious Retransmissions",
    "spikes": "Effect of Delay Spike on SCTP, TCP Reno, and Eifel",
}
"""The papers whose figures are runs, by the first part of their id."""
MOST_S = 1000
"""The longest run of a preset, in seconds. A longer run could not follow a slider."""


def presets() -> list[dict[str, Any]]:
    """Returns the presets, each with `id`, `title`, `group`, `about` and `scenario`."""
    found = [*_examples(), *_figures(), *_harms()]
    return [one for one in found if one["scenario"].get("duration_s", 60) <= MOST_S]


def recordings() -> dict[str, list[int]]:
    """Returns recorded links by name, each as the milliseconds at which 1500 bytes could pass."""
    return {"a made-up cellular link": [int(line) for line in RECORDING.read_text(encoding="utf-8").split()]}


def _examples() -> Iterator[dict[str, Any]]:
    for name in EXAMPLES:
        yield _read(ROOT / "examples" / f"{name}.toml", "To begin with")


def _harms() -> Iterator[dict[str, Any]]:
    for file in sorted(HARMS.glob("*.toml")):
        if 'asks = "harm"' in file.read_text(encoding="utf-8"):
            yield _read(file, "Where detecting harms")


def _read(file: Path, group: str) -> dict[str, Any]:
    text = file.read_text(encoding="utf-8")
    scenario = tomllib.loads(text)
    head = itertools.takewhile(lambda line: line.startswith("#"), text.splitlines())
    about = " ".join(line[2:] for line in head if line.startswith("# "))
    title = scenario.get("title", file.stem)
    return {"id": file.stem, "title": title, "group": group, "about": about, "scenario": scenario}


def _figures() -> Iterator[dict[str, Any]]:
    for name, artefact in artefacts().items():
        paper = name.split(".")[0]
        if paper in PAPERS and isinstance(artefact.method, Recorded):
            yield _figure(artefact, PAPERS[paper])


def _figure(artefact: Artefact, group: str) -> dict[str, Any]:
    return {
        "id": artefact.id,
        "title": f"{artefact.id.split('.')[1].replace('_', ' ')}: {artefact.title}",
        "group": group,
        "about": f"{artefact.source}.",
        "scenario": dict(artefact.rows[0].scenario),
    }
