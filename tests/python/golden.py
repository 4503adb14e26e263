"""Golden outputs: whole pages, tables, pictures and verdicts, each in a file of `golden/`.

`make golden` writes them again. A changed output is then visible in the commit, and a reviewer can
judge it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FOLDER = Path(__file__).parent / "golden"
WRITES = os.environ.get("EIFEL_GOLDEN") == "write"
written: set[str] = set()
"""The names written by this run."""
MOST_SHOWN = 8
"""The number of differences that a failure lists."""


def check(name: str, found: Any) -> None:
    """Compares with `golden/NAME.json`. Numbers may differ by a millionth, as between machines."""
    found = json.loads(json.dumps(rounded(found), default=str))
    file = FOLDER / f"{name}.json"
    if WRITES:
        assert name not in written, f"{name} is kept twice"
        written.add(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(found, indent=1, ensure_ascii=False)
        # Puts lists of numbers and other short lists on one line.
        text = re.sub(r"\[[^\[\]{}]*\]", lambda part: _on_one_line(part[0]), text)
        file.write_text(text + "\n", encoding="utf-8")
    kept = json.loads(file.read_text(encoding="utf-8"))
    shown = [line for line, _ in zip(differences(found, kept, ""), range(MOST_SHOWN), strict=False)]
    assert not shown, f"{file.name} is otherwise (make golden):\n" + "\n".join(shown)


def _on_one_line(text: str) -> str:
    shown = re.sub(r"\n *", " ", text)
    return shown if len(shown) <= 120 or '"' not in shown else text


def kept(name: str) -> Any:
    """Returns the kept output of this name; None if there is none."""
    file = FOLDER / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def differences(found: Any, kept: Any, place: str) -> Iterator[str]:
    """Yields each difference with both values."""
    if isinstance(found, dict) and isinstance(kept, dict):
        for key in dict.fromkeys([*found, *kept]):
            if key not in found or key not in kept:
                yield f"{place}/{key}: only {'found' if key in found else 'kept'}"
            else:
                yield from differences(found[key], kept[key], f"{place}/{key}")
        if list(found) != list(kept) and found.keys() == kept.keys():
            yield f"{place}: in another order"
    elif isinstance(found, list) and isinstance(kept, list):
        if len(found) != len(kept):
            yield f"{place}: {len(found)} entries, not {len(kept)}"
        for number, both in enumerate(zip(found, kept, strict=False)):
            yield from differences(*both, f"{place}/{number}")
    elif isinstance(found, float) and isinstance(kept, float):
        if abs(found - kept) > 1e-6 * max(abs(found), abs(kept), 1e-3):
            yield f"{place}: {found!r}, not {kept!r}"
    elif type(found) is not type(kept) or found != kept:
        yield f"{place}: {found!r}, not {kept!r}"


def rounded(value: Any) -> Any:
    """Converts to JSON types: 9 digits of each number, tuples as lists, and anything else as text."""
    if isinstance(value, dict):
        return {str(key): rounded(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(entry) for entry in value]
    if isinstance(value, np.generic):
        return rounded(value.item())
    if isinstance(value, float):
        return float(f"{value:.9g}") if np.isfinite(value) else str(value)
    return value


def summary(values: Any) -> list[Any]:
    """Summarises an array in a few numbers. Any change of its values, their order or its length changes one of them."""
    flat = np.ma.filled(np.ma.asarray(values, dtype=np.float64), np.nan).ravel()
    numbers = flat[np.isfinite(flat)]
    if not len(numbers):
        return [len(flat), 0]
    weights = np.arange(1, len(numbers) + 1) / len(numbers)
    ends = [float(numbers[0]), float(numbers[-1])]
    return [len(flat), len(numbers), *ends, float(numbers.mean()), float((numbers * weights).mean())]


def picture(figure: Figure) -> dict[str, Any]:
    """Returns everything that a figure shows: words, axes, and each line, point and area with its look."""
    return {
        "title": figure.get_suptitle(),
        "size": list(figure.get_size_inches()),
        "axes": [_axes(axes) for axes in figure.axes],
    }


def _axes(axes: Axes) -> dict[str, Any]:
    from matplotlib.colors import to_hex
    from matplotlib.text import Annotation

    def colours(values: Any) -> list[str]:
        return list(dict.fromkeys(to_hex(value, keep_alpha=True) for value in values))

    legend = axes.get_legend()
    shown: dict[str, Any] = {
        "title": axes.get_title(),
        "labels": [axes.get_xlabel(), axes.get_ylabel()],
        "scales": [axes.get_xscale(), axes.get_yscale()],
        "x": list(axes.get_xlim()),
        "y": list(axes.get_ylim()),
        "legend": [] if legend is None else [text.get_text() for text in legend.get_texts()],
        "texts": [
            [
                text.get_text(),
                *map(float, text.get_position()),
                f"{text.get_ha()} {text.get_va()} {text.get_fontsize():g} {to_hex(text.get_color())}",
                *(map(float, text.xy) if isinstance(text, Annotation) else []),
                *(colours([text.arrow_patch.get_edgecolor()]) if getattr(text, "arrow_patch", None) else []),
            ]
            for text in axes.texts
        ],
        "lines": [
            [
                _label(line),
                to_hex(line.get_color()),
                f"{line.get_linestyle()} {line.get_marker()} {line.get_linewidth():g} {line.get_markersize():g}",
                line.get_zorder(),
                summary(line.get_xdata()),
                summary(line.get_ydata()),
            ]
            for line in axes.lines
        ],
        "collections": [
            [
                _label(one),
                colours(one.get_facecolor()) + colours(one.get_edgecolor()),
                one.get_zorder(),
                summary(one.get_offsets()),
                summary(np.concatenate([path.vertices for path in one.get_paths()]) if one.get_paths() else []),
            ]
            for one in axes.collections
        ],
        "patches": [
            [
                _label(one),
                *colours([one.get_facecolor()]),
                one.get_zorder(),
                float(one.get_alpha() or 1),
                summary(one.get_path().vertices),
                summary(one.get_patch_transform().frozen().to_values()),
            ]
            for one in axes.patches
        ],
        "ticks": [label.get_text() for label in axes.get_xticklabels() if _fixed(axes)],
    }
    return {name: value for name, value in shown.items() if value not in ("", [])}


def _label(artist: Any) -> str:
    """Returns the name in the legend; empty for those that matplotlib generates."""
    text = str(artist.get_label())
    return "" if text.startswith("_") else text


def _fixed(axes: Axes) -> bool:
    from matplotlib.ticker import FixedLocator

    return isinstance(axes.xaxis.get_major_locator(), FixedLocator)
