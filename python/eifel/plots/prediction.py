"""Draws timers' predictions and the round trips: the model's pictures, small enough for a phone."""

from collections.abc import Sequence

import numpy as np

from eifel.model.prediction import Prediction
from eifel.model.steady_state import Samples
from eifel.plots import Axes, Figure, style

SIZE_IN = (4.8, 3.4)
COLOURS = (style.NEEDED, style.LIMIT, style.PROBE)
SAMPLE = "Sample of the round trip"


def samples_figure(samples: Samples) -> Figure:
    """Draws the round trip against the number of the sample."""
    figure, axes = style.new_figure(1, SIZE_IN)
    axes[0].plot(np.arange(len(samples)), samples.rtt_s, color=style.SENT, linewidth=1.1, label="RTT")
    return _finished(figure, axes, "")


def prediction_figure(
    predictions: Sequence[Prediction],
    cycles: int = 3,
    *,
    title: str = "",
    names: Sequence[str] = (),
    rexmt: bool = False,
    zoom: bool = False,
) -> Figure:
    """Draws RTT(i) and each timer's RTO(i - 1) over the last load cycles. `zoom` adds the last cycle, near RTT."""
    figure, axes = style.new_figure(1, SIZE_IN) if not zoom else _two()
    for number, place in enumerate(axes):
        for index, prediction in enumerate(predictions):
            name = names[index] if names else f"RTO(i - 1), {prediction.timer}"
            draw(place, prediction, 1 if number else cycles, name, COLOURS[index], rexmt=rexmt)
        place.set_ylim(bottom=0)
    if zoom:
        part = predictions[0].cycle()
        rtt = predictions[0].samples.rtt_s[part]
        axes[1].set_ylim(0.95 * float(rtt.min()), 1.15 * float(rtt.max()))
    return _finished(figure, axes, title)


def draw(axes: Axes, prediction: Prediction, cycles: int, name: str, colour: str, *, rexmt: bool = False) -> None:
    """Draws one timer, and the round trips unless they are already drawn."""
    begin = prediction.cycle(-cycles).start
    number = np.arange(begin, len(prediction.samples))
    part = slice(begin, None)
    dense = style.dense(len(number))
    label = style.once(axes, "RTT(i)")
    if label:
        axes.plot(number, prediction.samples.rtt_s[part], color=style.SENT, linewidth=1.1, label=label, **dense)
    axes.plot(number, prediction.rto_s[part], color=colour, linewidth=1.3, label=name, **dense)
    if rexmt:
        axes.plot(number, prediction.rexmt_s[part], color=style.SPURIOUS, linewidth=0.9, label="REXMT", **dense)
    expired = np.flatnonzero(prediction.expired[part]) + begin
    if len(expired):
        axes.scatter(
            expired,
            prediction.samples.rtt_s[expired],
            s=22,
            color=style.SPURIOUS,
            marker="x",
            linewidths=1.0,
            label=style.once(axes, "spurious timeout"),
            zorder=4,
        )
    axes.set_ylabel("RTT and RTO, s")


def _two() -> tuple[Figure, list[Axes]]:
    """Two pictures above each other, the second a part of the first: they share no axis."""
    figure, axes = style.new_figure(2, (SIZE_IN[0], 5.2), share=False)
    return figure, axes


def _finished(figure: Figure, axes: list[Axes], title: str) -> Figure:
    style.finish(figure, axes, title, SAMPLE)
    for place in axes:
        place.set_xlim(*place.dataLim.intervalx)
        place.set_ylabel(place.get_ylabel() or "RTT, s")
        place.legend(loc="best", fontsize=8, framealpha=0.9, ncols=2)
    return figure
