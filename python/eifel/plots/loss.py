"""Draws the cost of halving a load needlessly, over the load's ratio to the pipe's capacity."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from eifel.model import loss
from eifel.plots import Figure, style

COLOURS: Mapping[loss.Retransmission, str] = {"timeout": style.SPURIOUS, "fast retransmit": style.SENT}
Losses = Mapping[loss.Retransmission, Mapping[float, float]]
"""The loss as a share (1 is all) by ratio."""
FINE = np.linspace(1, 5, 161)


def loss_figure(
    window: int,
    simulated: tuple[Losses, Losses],
    printed: Losses,
    title: str = "",
) -> Figure:
    """Draws the loss by squares and by rounds as lines, and simulated and printed values as marks."""
    hollow: dict[str, Any] = {"markersize": 4, "linestyle": "", "markerfacecolor": "white"}
    looks: dict[str, dict[str, Any]] = {
        "thesis, counting squares": {"marker": "x", "markersize": 6, "linestyle": "", "color": "black", "zorder": 5},
        "simulated": {"marker": "o", **hollow},
        "simulated, by hiccup": {"marker": "^", **hollow},
    }
    figure, (axes,) = style.new_figure(1, (5.2, 4.4))
    for spurious, colour in COLOURS.items():
        rounds = [100 * loss.in_rounds(window, window / ratio, spurious) for ratio in FINE]
        axes.plot(FINE, 100 * loss.by_squares(FINE, spurious), color=colour, linewidth=1.0, linestyle=(0, (4, 2)))
        axes.plot(FINE, rounds, color=colour, linewidth=1.4, label=f"spurious {spurious}")
        for look, shares in zip(looks.values(), (printed, *simulated), strict=True):
            percent = [100 * share for share in shares[spurious].values()]
            axes.plot(list(shares[spurious]), percent, **{"color": colour} | look)
    # Legend entries for the kinds of value, in neutral colour.
    axes.plot([], [], color=style.ACK, linestyle=(0, (4, 2)), label="squares, exactly")
    axes.plot([], [], color=style.ACK, label=f"by rounds, W = {window}")
    for label, look in looks.items():
        axes.plot([], [], label=label, **{"color": style.ACK} | look)
    axes.set_ylabel("Performance loss, %")
    axes.set_ylim(bottom=0)
    style.finish(figure, [axes], title)
    axes.set_xlim(0.9, 5.1)
    axes.set_xlabel("Largest load W over the pipe's capacity")
    return figure
