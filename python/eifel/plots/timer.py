"""Draws the retransmission timeout and the round trips that it is computed from."""

import numpy as np

from eifel.plots import Axes, style
from eifel.result import Result


def draw(axes: Axes, result: Result, flow: int = 0) -> None:
    """Draws one flow: each sample as a point, srtt and rto as steps, each expiry as a mark on the rto."""
    timer = result.of("timer", flow)
    style.shade(axes, result, flow)
    dense = style.dense(len(timer))
    samples = timer.where(event="sample")
    axes.scatter(
        samples["t_ns"] / 1e9, samples["rtt_ns"] / 1e9, s=5, color=style.SENT, linewidths=0, label="RTT sample", **dense
    )
    smoothed = np.where(timer["srtt_ns"] < 0, np.nan, timer["srtt_ns"] / 1e9)
    axes.step(timer["t_ns"] / 1e9, smoothed, where="post", color=style.LIMIT, linewidth=0.9, label="SRTT", **dense)
    rto = timer["rto_ns"] / 1e9
    axes.step(timer["t_ns"] / 1e9, rto, where="post", color=style.NEEDED, linewidth=1.3, label="RTO", **dense)
    expired = timer.where(event="expired")
    look = (style.SPURIOUS, "x", 26)
    style.marks(axes, expired["t_ns"], expired["rto_ns"] / 1e9, "timeout", look, linewidths=1.1, zorder=4)
    axes.set_ylabel("RTO and RTT, s")
    axes.set_ylim(bottom=0)
