"""Draws detectors by what they find and what they call falsely (receiver operating characteristic)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eifel.errors import BadInputError
from eifel.plots import Figure, style

if TYPE_CHECKING:
    from eifel.judging import Score


def figure(scores: Sequence[Score], *, columns: int | None = None, title: str = "") -> Figure:
    """Draws a point for each detector, with both 95 % intervals. Variants of one class are joined by a line.

    Raises BadInputError if there are no spurious or no genuine episodes.
    """
    import matplotlib as mpl

    known = [score for score in scores if score.found_share is not None and score.false_share is not None]
    if not known:
        raise BadInputError("a ROC needs spurious and genuine episodes; there are none of one kind")
    width = style.width_in(columns)
    with mpl.rc_context(rc=style.paper(columns)):
        drawn, (axes,) = style.new_figure(1, (width, width * 0.75), share=False)
        families = list(dict.fromkeys(score.name.partition("(")[0] for score in known))
        for number, family in enumerate(families):
            of = [score for score in known if score.name.partition("(")[0] == family]
            shares = [(score.false_share, score.found_share) for score in of]
            points = sorted((100 * false.mean, 100 * found.mean) for false, found in shares if false and found)
            colour = style.CURVES[number % len(style.CURVES)]
            axes.plot(*zip(*points, strict=True), color=colour, marker="o", markersize=3, linewidth=1, label=family)
            for false, found in shares:
                if false is None or found is None or false.interval is None or found.interval is None:
                    continue
                x, y = 100 * false.mean, 100 * found.mean
                ends = [[x - 100 * false.interval[0]], [100 * false.interval[1] - x]]
                heights = [[y - 100 * found.interval[0]], [100 * found.interval[1] - y]]
                axes.errorbar([x], [y], xerr=ends, yerr=heights, fmt="none", ecolor=colour, elinewidth=0.7)
        axes.set_xlabel("Genuine episodes called spurious, %")
        axes.set_ylabel("Spurious episodes found, %")
        axes.set_xlim(left=-1)
        axes.set_ylim(-2, 102)
        style.dress(axes, 1)
        if title:
            drawn.suptitle(title, fontsize=8 if columns else 10)
        drawn.canvas.draw()
    return drawn
