"""Draws cwnd, ssthresh and flight size over time."""

import numpy as np

from eifel.plots import Axes, style
from eifel.result import Result


def draw(axes: Axes, result: Result, flow: int = 0) -> None:
    """Draws one flow. Omits an ssthresh that is still "arbitrarily high"."""
    window = result.of("window", flow)
    style.shade(axes, result, flow)
    instants = window["t_ns"] / 1e9
    dense = style.dense(len(window))
    roof = 2 * max(int(window["cwnd"].max()), int(window["flight"].max()), 1) if len(window) else 1
    threshold = np.where((window["ssthresh"] < 0) | (window["ssthresh"] > roof), np.nan, window["ssthresh"] / 1e3)
    axes.step(instants, window["flight"] / 1e3, where="post", color=style.ACK, linewidth=0.7, label="flight", **dense)
    axes.step(instants, window["cwnd"] / 1e3, where="post", color=style.SENT, linewidth=1.3, label="cwnd", **dense)
    axes.step(instants, threshold, where="post", color=style.SPURIOUS, linewidth=1.0, label="ssthresh", **dense)
    axes.set_ylabel("Window, kB")
    axes.set_ylim(bottom=0)
