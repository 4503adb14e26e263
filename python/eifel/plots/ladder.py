"""Draws small worlds as ladders: time runs down, segments go right, and ACKs come back."""

from collections import defaultdict
from collections.abc import Mapping
from textwrap import fill

from eifel.plots import Axes, Figure, style
from eifel.worlds import Arrow, Ladder

WIDTH_IN = 5.2
"""Narrow enough to be readable on a phone."""
STEP = 14.0
"""The least distance between two times, so that their labels are readable..."""
PAUSE = 45.0
"""...and the largest one: time is not to scale. In units of 1/72 inch."""
LOST_AT = 0.45
"""The part of the way that a lost packet is shown to travel."""
HEAD = 40.0


def ladder_figure(worlds: Mapping[str, Ladder], *, title: str = "") -> Figure:
    """Draws one panel per world, under its name."""
    shown = {name: _places(ladder) for name, ladder in worlds.items()}
    heights = [max(places.values()) + HEAD for places in shown.values()]
    figure, axes = style.new_figure(len(worlds), (WIDTH_IN, (sum(heights) + HEAD) / 72), share=False, heights=heights)
    for place, (name, ladder) in zip(axes, worlds.items(), strict=True):
        _draw(place, ladder, shown[name])
        place.set_title(f"{name}\n{ladder.fates}", fontsize=8, loc="left")
    if title:
        figure.suptitle(title, fontsize=10)
    return figure


def _places(ladder: Ladder) -> dict[float, float]:
    instants = {arrow.left_ms for arrow in ladder.arrows} | {at for at, _ in ladder.notes}
    instants |= {at for arrow in ladder.arrows for at in arrow.arrived_ms}
    places: dict[float, float] = {}
    before, place = min(instants), 0.0
    for at in sorted(instants):
        if at > before:
            place += min(max(at - before, STEP), PAUSE)
        places[at] = place
        before = at
    return places


def _draw(axes: Axes, ladder: Ladder, shown: Mapping[float, float]) -> None:
    axes.set_xlim(-0.55, 2.1)
    axes.set_ylim(max(shown.values()) + 6, -HEAD / 2)
    for end, name in ((0, "sender"), (1, "receiver")):
        axes.axvline(end, color=style.ACK, linewidth=0.8)
        axes.text(end, -8, name, fontsize=7, ha="center", va="bottom", backgroundcolor="white")
    for arrow in ladder.arrows:
        _arrow(axes, arrow, shown)
    sent = defaultdict(list)
    for arrow in ladder.arrows:
        sent[arrow.left_ms, arrow.from_sender].append(arrow.label)
    for (at, from_sender), labels in sent.items():
        side, align = (-0.02, "right") if from_sender else (1.02, "left")
        axes.text(side, shown[at], ", ".join(labels), fontsize=5, ha=align, va="center")
    notes = defaultdict(list)
    for at, text in ladder.notes:
        notes[at].append(text)
    for at, texts in notes.items():
        words = "\n".join(fill(text, 36) for text in texts)
        axes.text(1.42, shown[at], words, fontsize=5, va="center", color=style.SPURIOUS, linespacing=1.1)
    for at, place in shown.items():
        axes.text(-0.54, place, f"{at:g} ms", fontsize=5, va="center", color=style.ACK)
    axes.set_axis_off()


def _arrow(axes: Axes, arrow: Arrow, shown: Mapping[float, float]) -> None:
    colour = style.SENT if arrow.from_sender else style.ACK
    if "again" in arrow.label:
        colour = style.NEEDED
    begin, end = (0.0, 1.0) if arrow.from_sender else (1.0, 0.0)
    top = shown[arrow.left_ms]
    for at in arrow.arrived_ms:
        dashes = "dashed" if arrow.fate == "delayed" else "solid"
        line = {"arrowstyle": "->", "color": colour, "linewidth": 0.8, "linestyle": dashes, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", (end, shown[at]), (begin, top), arrowprops=line)
    if not arrow.arrived_ms:
        stop = begin + (end - begin) * LOST_AT
        axes.plot([begin, stop], [top, top + STEP], color=style.DROP, linewidth=0.8)
        axes.plot([stop], [top + STEP], marker="x", color=style.DROP, markersize=5)
