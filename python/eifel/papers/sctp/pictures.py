"""Draws the first column with its intervals over a quantity, by sender."""

from collections.abc import Mapping, Sequence

from eifel.papers.artefact import Draw, Measured, word
from eifel.papers.sctp import settings
from eifel.plots import Figure, intervals, style
from eifel.statistics import Mean

_SIZE_IN = (7.2, 4.2)


def lines(
    places: Sequence[float],
    label: str,
    *,
    logarithmic: bool = False,
    ticks: Sequence[float] | None = None,
    without: Sequence[str] = (),
) -> Draw:
    """Returns a function that draws a line per sender. `places` are the first key's values, under this label.

    `ticks` are the labelled values of the axis, where labels for all places would overlap. `without` are senders
    whose lines are left out.
    """

    def draw(measured: Measured) -> Figure:
        names, series = _series(measured, *measured.artefact.keys[:2])
        # Rows behind the places have none on this axis.
        names = names[: len(places)]
        series = {name: means[: len(places)] for name, means in series.items() if name not in without}
        figure, (axes,) = style.new_figure(1, _SIZE_IN)
        intervals.lines(axes, places, series)
        if logarithmic:
            axes.set_xscale("log")
        if ticks is None:
            axes.set_xticks(places, names)
        else:
            axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.set_ylabel(_height(measured, series))
        style.finish(figure, [axes], measured.artefact.title, label)
        axes.autoscale(axis="x")
        return figure

    return draw


BY_INTERVAL = lines(tuple(sum(ends) / 2 for ends in settings.SPIKE_INTERVALS_S), "From the end of a spike to the next")
"""Draws figures 11 (b) and 13. Each interval is shown at its middle."""


def by_sender(measured: Measured) -> Figure:
    """Draws a mark for each sender, with several windows side by side."""
    names, series = _series(measured, "sender", *(key for key in measured.artefact.keys if key == "window"))
    figure, (axes,) = style.new_figure(1, _SIZE_IN)
    intervals.marks(axes, names, series)
    axes.set_ylabel(_height(measured, series))
    style.finish(figure, [axes], measured.artefact.title, "Sender")
    axes.set_xlim(-0.5, len(names) - 0.5)
    return figure


def _height(measured: Measured, series: Mapping[str, Sequence[Mean]]) -> str:
    """Returns the label of the heights. A setting without chance has no mean."""
    title = measured.artefact.columns[0].title
    alike = all(mean.interval in (None, (mean.mean, mean.mean)) for means in series.values() for mean in means)
    return title if alike else f"{title}\n(mean of {measured.repetitions}, 95 % interval)"


def _series(measured: Measured, across: str, by: str = "") -> tuple[list[str], dict[str, list[Mean]]]:
    """Returns the values of the key on the axis, and the first column's means by the other key.

    Rows that differ from the first in a further key are left out: they show another setting.
    """
    first = measured.rows[0].row.keys
    drawn = {key: value for key, value in first.items() if key not in (across, by)}
    names: dict[str, None] = {}
    series: dict[str, list[Mean]] = {}
    for row in measured.rows:
        keys = row.row.keys
        if not drawn.items() <= keys.items():
            continue
        names.setdefault(word(keys[across]))
        series.setdefault(word(keys[by]) if by else "", []).append(row.means[measured.artefact.columns[0].name])
    return list(names), series
