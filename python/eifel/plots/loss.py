"""What a load that is halved without need costs, over the load's ratio to the pipe's capacity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from eifel.model import loss
from eifel.plots import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS: Mapping[loss.Retransmission, str] = {"timeout": style.SPURIOUS, "fast retransmit": style.SENT}
FINE = np.linspace(1, 5, 161)


def loss_figure(
    window: int,
    simulated: Mapping[loss.Retransmission, Mapping[float, float]],
    printed: Mapping[loss.Retransmission, Mapping[float, float]],
    title: str = "",
) -> Figure:
    """The loss by squares and by rounds as lines, `simulated` and `printed` by ratio as marks; shares of 1."""
    dots: dict[str, Any] = {"marker": "o", "markersize": 4, "linestyle": "", "markerfacecolor": "white"}
    figure, (axes,) = style.new_figure(1, (5.2, 4.4))
    for spurious, colour in COLOURS.items():
        rounds = [100 * loss.in_rounds(window, window / ratio, spurious) for ratio in FINE]
        axes.plot(FINE, 100 * loss.by_squares(FINE, spurious), color=colour, linewidth=1.0, linestyle=(0, (4, 2)))
        axes.plot(FINE, rounds, color=colour, linewidth=1.4, label=f"spurious {spurious}")
        axes.plot(
            list(simulated[spurious]),
            [100 * share for share in simulated[spurious].values()],
            color=colour,
            **dots,
        )
        found = list(printed[spurious]), [100 * share for share in printed[spurious].values()]
        axes.plot(*found, color="black", marker="x", markersize=6, linestyle="", markeredgewidth=1.3, zorder=5)
    # What tells the kinds of value apart, in no colour of either.
    axes.plot([], [], "kx", markersize=6, label="thesis, counting squares")
    axes.plot([], [], color=style.ACK, linestyle=(0, (4, 2)), label="the same, exactly")
    axes.plot([], [], color=style.ACK, label=f"by rounds, W = {window}")
    axes.plot([], [], color=style.ACK, **dots, label="simulated")
    axes.set_ylabel("Performance loss, %")
    axes.set_ylim(bottom=0)
    style.finish(figure, [axes], title)
    axes.set_xlim(0.9, 5.1)
    axes.set_xlabel("Largest load W over the pipe's capacity")
    return figure
