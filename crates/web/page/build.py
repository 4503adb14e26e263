"""Builds the page that needs no installation: simulator and capture analyser in one HTML file.

`python crates/web/page/build.py ENGINE.wasm OUT.html` writes the page; `make web` builds the engine
first.
"""

from __future__ import annotations

import base64
import gzip
import json
import sys
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from presets import presets, recordings

from eifel import _engine

HERE = Path(__file__).parent

SCRIPTS = (
    "remote.js",
    "controls.js",
    "state.js",
    "menus.js",
    "words.js",
    "steps.js",
    "drop.js",
    "play.js",
)
"""The page's own scripts, in the order in which they depend on each other."""
WORKER = ("engine.js", "worker.js")
CHARTS = ("uplot/uPlot.iife.min.js", "touch.js", "paint.js", "chart.js", "layers.js", "captured.js")
"""The scripts that draw the report's charts."""
DESCRIBED = ("", "link", "spike-at", "reorder")
"""Tables of a scenario whose keys have sliders. "" is the scenario itself."""


def build(wasm: bytes) -> str:
    """Returns the page with an engine that was compiled to WebAssembly."""
    data = {
        "presets": presets(),
        "recordings": recordings(),
        "registry": json.loads(_engine.registry()),
        "described": _described(json.loads(_engine.schema())),
    }
    engine = base64.b64encode(gzip.compress(wasm, 9, mtime=0)).decode()
    style = _report("uplot/uPlot.min.css") + _report("style.css") + _own("style.css")
    scripts = [_bare(script) for script in (*map(_report, CHARTS), *map(_own, SCRIPTS))]
    return Template(_own("page.html")).substitute(
        version=_engine.version(),
        licence=_report("uplot/LICENSE"),
        style=style,
        engine=engine,
        data=_inside(json.dumps(data, separators=(",", ":"))),
        worker=_bare("".join(map(_own, WORKER))),
        scripts="\n".join(f"<script>{script}</script>" for script in scripts),
    )


def _bare(script: str) -> str:
    """Returns a script without comments and indentation, which readers of the source need. No literal spans lines."""
    lines = map(str.strip, script.splitlines())
    return "\n".join(line for line in lines if not line.startswith("//"))


def _inside(text: str) -> str:
    """Escapes JSON for use inside a page."""
    return text.replace("<", "\\u003c")


def _described(schema: dict[str, Any]) -> dict[str, dict[str, str]]:
    tables = {name: schema["definitions"][name] if name else schema for name in DESCRIBED}
    return {
        name: {key: str(value.get("description", "")) for key, value in table["properties"].items()}
        for name, table in tables.items()
    }


def _own(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _report(name: str) -> str:
    return files("eifel.report").joinpath(name).read_text(encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Builds the page from an engine's file. Returns 2 for wrong arguments."""
    if len(arguments) != 2:
        print("usage: build.py ENGINE.wasm OUT.html", file=sys.stderr)
        return 2
    wasm, out = map(Path, arguments)
    if not wasm.is_file():
        print(f"{wasm}: no such file; expected an engine that was compiled to WebAssembly", file=sys.stderr)
        return 2
    page = build(wasm.read_bytes())
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page, encoding="utf-8")
    print(f"{out}: {len(page.encode()) / 1e6:.2f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
