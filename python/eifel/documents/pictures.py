"""Draws the README's picture of a spike, and how often each sender harms and what it gains, from `hunted.json`."""

import json
from collections.abc import Mapping
from typing import Any

from eifel import hunts
from eifel.documents import DOCS, INTERNALS
from eifel.papers import select
from eifel.plots import Figure, save, side_by_side, style
from eifel.runs import run
from eifel.statistics import share_interval

SPIKE = {"responding.figure1a": "Reno-SACK", "responding.figure2": "Reno-SACK with Eifel"}
"""The README's runs: one spike without and with Eifel."""
STORE = INTERNALS / "hunted.json"
COMPARED = {"default": ("the default", hunts.DEFAULT), "careful": ("the careful sender", hunts.CAREFUL)}
"""The two senders that the documents recommend."""
SENDERS = {
    **COMPARED,
    "limited": ("the default's detector, limited", {**hunts.CAREFUL, "detect": "eifel-timestamps"}),
    "more-found": ("the default, finding more", {**hunts.DEFAULT, "detect": "eifel-or-f-rto"}),
    "unstamped": ("without timestamps, limited", {**hunts.CAREFUL, "detect": "f-rto-sack"}),
    "at-once": ("the default, restoring at once", {**hunts.DEFAULT, "respond": "option-1"}),
}
"""The senders whose harm is searched: the name in `hunted.json`, the name in docs/internals/harm.md, and the
algorithms.
"""
_SHARED = {"detect": hunts.SHARED["detect"]}
WIRE = {
    "linux": ("Linux's", hunts.LINUX),
    "shared": ("for shared timestamps", hunts.SHARED),
    "shared-limited": ("the same, limited", {**hunts.SHARED, "grant": hunts.CAREFUL["grant"]}),
    "shared-careful": ("the same, as the careful sender", {**hunts.CAREFUL, **_SHARED}),
    "shared-default": ("the same, as the default", {**hunts.DEFAULT, **_SHARED}),
}
"""The senders that are searched on Linux's wire, in which its profile decides all but detection and response."""
DRAWN = {name: WIRE[name] for name in ("linux", "shared")}
"""Those of them in the picture. More would hide each other."""
BELOW = ("default", "limited")
"""The senders with their names below their points, since another point is near."""


def point(row: Mapping[str, Any]) -> tuple[float, tuple[float, float], float]:
    """Returns the share of random scenarios with harm, its 95 % interval, and the mean gain, all in percent."""
    share = share_interval(row["refuting"], row["drawn"])
    assert share.interval is not None
    low, high = (100 * end for end in share.interval)
    return 100 * share.mean, (low, high), -100 * row["mean"]


def frontier(stored: Mapping[str, Any]) -> Figure:
    """Draws one point per sender. Up and to the left is better; no detection has neither harm nor gain."""
    drawn, axes = style.new_figure(1, (8.2, 3.8))
    place = axes[0]
    place.plot(0, 0, "s", color=style.ACK, markersize=5)
    place.annotate("no detection", (0, 0), (6, 4), textcoords="offset points", fontsize=8)
    points = [(name, label, stored[name], "o") for name, (label, _) in SENDERS.items()]
    points += [(name, f"{label}, on Linux's wire", stored["wire"][name], "^") for name, (label, _) in DRAWN.items()]
    for name, label, row, marker in points:
        share, (low, high), gain = point(row)
        color = style.NEEDED if name in COMPARED else style.SENT
        place.plot([low, high], [gain, gain], color=color, linewidth=1)
        place.plot(share, gain, marker, color=color, markersize=5)
        below = name in BELOW
        # Long lines have room for the name at their end.
        at_end = name in WIRE
        place.annotate(
            label,
            (high if at_end else share, gain),
            (0, -5 if below else 5),
            textcoords="offset points",
            fontsize=8,
            ha="right" if at_end else "center",
            va="top" if below else "bottom",
        )
    place.set_ylim(-1, 13)
    place.set_ylabel("Mean gain of the worst off, %")
    return style.finish(drawn, axes, "", "Share of random scenarios in which it harms somebody by more than 2 %, %")


def draw_frontier() -> None:
    save(frontier(json.loads(STORE.read_text(encoding="utf-8"))), INTERNALS / "frontier.svg", "svg")


def main() -> None:
    """Draws the picture of a spike."""
    runs = {name: run(artefact.rows[0].scenario) for artefact, name in zip(select(SPIKE), SPIKE.values(), strict=True)}
    save(side_by_side.figure(runs), DOCS / "spike.svg", "svg")
