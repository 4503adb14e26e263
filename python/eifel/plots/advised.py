"""Draws the curves of `eifel advise`: what goes with a value of a setting, and what waits for it."""

from collections.abc import Mapping, Sequence
from typing import Any

from eifel.plots import Axes, Figure, style

SIZE_IN = (6.4, 2.6)
"""Of one curve."""


def advised_figure(curves: Sequence[Mapping[str, Any]]) -> Figure:
    """Draws each curve by itself: the share of needless retransmissions that goes, and how long needed ones wait.

    `curves` are those of `eifel advise --json`. Those without a point are left out.

    Example: `advised_figure(json.loads(printed)["curves"]).savefig("advised.svg")`.
    """
    drawn = [curve for curve in curves if curve["points"]]
    count = max(len(drawn), 1)
    figure, axes = style.new_figure(count, (SIZE_IN[0], SIZE_IN[1] * count), share=False)
    if not drawn:
        axes[0].text(0.02, 0.5, "No setting can be judged by this input.", transform=axes[0].transAxes)
        axes[0].set_axis_off()
        return figure
    waits = [_curve(place, curve) for place, curve in zip(axes, drawn, strict=True)]
    style.finish(figure, axes, "What other settings would have done, open loop", axes[-1].get_xlabel())
    for place, wait in zip(axes, waits, strict=True):
        lines = [*place.get_lines(), *wait.get_lines()]
        place.legend(lines, [str(line.get_label()) for line in lines], fontsize=7, loc="best")
    return figure


def _curve(axes: Axes, curve: Mapping[str, Any]) -> Axes:
    """Draws a curve, and returns the axes of the waits."""
    axes.set_title(curve["title"], fontsize=9, loc="left")
    axes.set_xlabel(curve["unit"] or "value")
    points = curve["points"]
    if curve["now"] is not None and curve["unit"]:
        # As it was, nothing goes and nothing waits.
        points = [{**dict.fromkeys(points[0], 0), "value": curve["now"], "needless_left": 1}, *points]
    values = [point["value"] for point in points]
    shares = [
        100 * point["needless_gone"] / max(point["needless_gone"] + point["needless_left"], 1) for point in points
    ]
    steps: dict[str, Any] = {"drawstyle": "steps-post", "marker": "."}
    axes.plot(values, shares, color=style.SPURIOUS, label="needless ones gone, %", **steps)
    axes.set_ylim(-5, 105)
    axes.set_ylabel("%")
    waits: Axes = axes.twinx()
    later_s = [point["later_ms"] / 1000 for point in points]
    waits.plot(values, later_s, color=style.NEEDED, label="needed ones later in all, s", **steps)
    waits.set_ylim(bottom=0, top=max(*later_s, 0.1) * 1.1 if len(later_s) > 1 else None)
    waits.set_ylabel("s")
    return waits
