"""Draws the curves of `eifel advise`: what goes with a value of a setting, and what waits for it."""

from collections.abc import Mapping, Sequence
from typing import Any

from eifel.plots import Axes, Figure, style

SIZE_IN = (6.4, 2.6)
"""Of one curve."""


def advised_figure(curves: Sequence[Mapping[str, Any]]) -> Figure:
    """Draws each knob by itself: the share of needless retransmissions that goes, and how long needed ones wait.

    `curves` are those of `eifel advise --json`. A knob without a curve is a picture with the reason in it.

    Example: `advised_figure(json.loads(printed)["curves"]).savefig("advised.svg")`.
    """
    size = (SIZE_IN[0], SIZE_IN[1] * len(curves))
    figure, axes = style.new_figure(len(curves), size, share=False)
    for place, curve in zip(axes, curves, strict=True):
        _curve(place, curve)
    style.finish(figure, axes, "What other settings would have done, open loop", axes[-1].get_xlabel())
    return figure


def _curve(axes: Axes, curve: Mapping[str, Any]) -> None:
    axes.set_title(curve["title"], fontsize=9, loc="left")
    axes.set_xlabel(curve["unit"] or "value")
    if not curve["points"]:
        axes.text(0.02, 0.5, curve["sentence"], transform=axes.transAxes, fontsize=8, wrap=True)
        axes.set_yticks([])
        return
    points = curve["points"]
    if curve["now"] is not None and len(points) > 1:
        points = [{**dict.fromkeys(points[0], 0), "value": curve["now"], "needless_left": 1}, *points]
    values = [point["value"] for point in points]
    shares = [100 * point["needless_gone"] / max(point["needless_gone"] + point["needless_left"], 1) for point in points]
    axes.plot(values, shares, color=style.SPURIOUS, drawstyle="steps-post", marker=".", label="needless ones gone, %")
    axes.set_ylim(-5, 105)
    axes.set_ylabel("%")
    waits = axes.twinx()
    waits.plot(
        values,
        [point["later_ms"] / 1000 for point in points],
        color=style.NEEDED,
        drawstyle="steps-post",
        marker=".",
        label="needed ones later in all, s",
    )
    waits.set_ylim(bottom=0)
    waits.set_ylabel("s")
    lines = [*axes.get_lines(), *waits.get_lines()]
    axes.legend(lines, [str(line.get_label()) for line in lines], fontsize=8, loc="center right")
