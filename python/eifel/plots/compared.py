"""Draws all repetitions of a comparison: their distribution, the differences, and one repetition over time."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from eifel.comparison import Comparison, Difference
from eifel.errors import BadInputError
from eifel.plots import Axes, Figure, overlay, style, time_sequence
from eifel.result import Result

UNITS = {"time_s": "Time of the transfer, s", "goodput_bps": "Goodput, bit/s"}
"""What an axis calls the numbers that are drawn by default. Other numbers keep their names."""
MOST_POINTS = 60
"""Up to this number of repetitions, a box plot shows each of them."""
PANEL_IN = 0.42
"""The height of a panel, as a share of the figure's width."""
OF_RUNS = ("progress", "time-sequence")
"""The panels of one repetition. The others are of all."""


def cdf(axes: Axes, names: Sequence[str], number: Difference) -> None:
    """Draws the share of repetitions up to each value."""
    for place, (name, values) in enumerate(zip(names, number.values, strict=True)):
        ordered = np.sort(values)
        shares = np.arange(1, len(ordered) + 1) / len(ordered)
        steps = np.concatenate([[ordered[0]], ordered]), np.concatenate([[0.0], shares])
        axes.step(*steps, where="post", label=name, **style.look(place, len(names)))
    axes.set_xlabel(_label(number))
    axes.set_ylabel("Share of repetitions")
    axes.set_ylim(0, 1.02)


def box(axes: Axes, names: Sequence[str], number: Difference) -> None:
    """Draws median, quartiles, whiskers to 1.5 times their distance, and few repetitions as points."""
    places = range(1, len(names) + 1)
    values = [np.asarray(one) for one in number.values]
    drawn = axes.boxplot(values, positions=list(places), orientation="horizontal", widths=0.5, showfliers=True)
    for place, line in enumerate(drawn["medians"]):
        line.set_color(style.CURVES[place % len(style.CURVES)])
    for place, of in zip(places, values, strict=True):
        if len(of) <= MOST_POINTS:
            # Spread by number and not by chance, so that equal data give equal bytes.
            beside = place + 0.36 + 0.1 * (np.arange(len(of)) % 3 - 1)
            colour = style.CURVES[(place - 1) % len(style.CURVES)]
            axes.scatter(of, beside, s=4, color=colour, linewidths=0, alpha=0.7)
    axes.set_yticks(list(places), list(names))
    axes.set_ylim(len(names) + 0.6, 0.4)
    axes.set_xlabel(_label(number))


def differences(axes: Axes, names: Sequence[str], number: Difference) -> None:
    """Draws the mean difference of each scenario from the first by repetition, with its 95 % interval."""
    for place, by in enumerate(number.differences, 1):
        low, high = by.interval or (by.mean, by.mean)
        colour = style.CURVES[place % len(style.CURVES)]
        ends = [[by.mean - low], [high - by.mean]]
        axes.errorbar([by.mean], [place], xerr=ends, fmt="o", markersize=4, capsize=4, color=colour)
        each = np.asarray(number.values[place]) - number.values[0]
        if len(each) <= MOST_POINTS:
            axes.scatter(each, np.full(len(each), place + 0.25), s=4, color=colour, linewidths=0, alpha=0.7)
    axes.axvline(0, color=style.ACK, linewidth=0.8)
    axes.set_yticks(range(1, len(names)), [str(name) for name in names[1:]])
    axes.set_ylim(len(names) - 0.4, 0.6)
    axes.set_xlabel(f"{_label(number)}: difference from {names[0]}, mean and 95 %")


PANELS: Mapping[str, Callable[[Axes, Sequence[str], Difference], None]] = {
    "cdf": cdf,
    "box": box,
    "differences": differences,
}


def figure(
    comparison: Comparison,
    panels: Sequence[str] = tuple(PANELS),
    *,
    number: str | None = None,
    runs: Mapping[str, Result] | None = None,
    columns: int | None = None,
    title: str = "",
) -> Figure:
    """Draws panels above each other: `cdf`, `box`, `differences`, and of `runs` `progress` and `time-sequence`.

    Example: `figure(eifel.compare({"none": a, "eifel": b}), ["cdf"], columns=1).savefig("cdf.pdf")`.

    `number` is the number that is compared (`Comparison.number`), and `runs` are recorded runs by name. `columns` is
    the width in columns of a paper, None for a screen.
    """
    import matplotlib as mpl

    runs = runs or {}
    if not panels or (set(panels) & set(OF_RUNS) and not runs):
        raise BadInputError(f"panels of one repetition ({', '.join(OF_RUNS)}) need recorded runs")
    counts = {"progress": 2, "time-sequence": len(runs)}
    heights = [counts.get(panel, 1) for panel in panels]
    width = style.width_in(columns)
    with mpl.rc_context(rc=style.paper(columns)):
        drawn, axes = style.new_figure(sum(heights), (width, width * PANEL_IN * sum(heights) + 0.3), share=False)
        rest = iter(axes)
        for panel, count in zip(panels, heights, strict=True):
            own = [next(rest) for _ in range(count)]
            if panel in PANELS:
                PANELS[panel](own[0], comparison.names, comparison.number(number))
            else:
                _runs(panel, own, runs, comparison.flow)
            for place in own:
                style.dress(place, 1 if columns == 1 else 2)
        if title:
            drawn.suptitle(title, fontsize=8 if columns else 10)
        # The layout is computed with the sizes of this style.
        drawn.canvas.draw()
    return drawn


def _runs(panel: str, axes: Sequence[Axes], runs: Mapping[str, Result], flow: str) -> None:
    if panel == "progress":
        overlay.draw(axes[0], axes[1], runs, flow)
    else:
        for place, (name, result) in zip(axes, runs.items(), strict=True):
            time_sequence.draw(place, result, [str(of["flow"]) for of in result.flows].index(flow))
            place.set_title(name, fontsize="medium", loc="left")
    latest = max(place.get_xlim()[1] for place in axes)
    for place in axes:
        place.set_xlim(0, latest)
    axes[-1].set_xlabel("Time, s")


def _label(number: Difference) -> str:
    return UNITS.get(number.name, number.name)
