"""Figure 5-14: RTO_E scales with the flow's load (model)."""

from typing import TYPE_CHECKING

import numpy as np

from eifel.papers.artefact import Claim
from eifel.papers.measured import Measured
from eifel.papers.thesis import figure5_9, transfers
from eifel.papers.thesis.timer_figure import figure, prediction

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

LOAD = figure5_9.LOAD
EIFEL = transfers.eifel(500)
MEASURED = transfers.steady(LOAD, EIFEL)
"""The scenario of figure 5-19."""


def _draw(measured: Measured) -> "Figure":
    from eifel.plots.prediction import prediction_figure

    names = ["RTO$_E$(i - 1)"]
    return prediction_figure([prediction(LOAD, EIFEL)], 3, title=measured.artefact.title, names=names)


def ratio(load: int) -> "NDArray[np.float64]":
    """Returns RTO_E / RTT over a load cycle, without its first flight, which follows the fall of the round trip."""
    found = prediction(load, EIFEL)
    return found.ratio[found.cycle()][load // 2 + 1 :]


ARTEFACT = figure(
    14,
    "RTO_E scales with the flow's load (model)",
    {"simulated": MEASURED},
    Claim(
        "RTO_E / RTT is fairly constant over the cycle: after the first flight within 30 % of its mean",
        lambda _: bool(np.max(np.abs(ratio(LOAD) / ratio(LOAD).mean() - 1)) < 0.30),
    ),
    Claim(
        "and hardly depends on the load: the means for 10, 20, 40 and 100 are within 15 % of each other",
        lambda _: bool(np.ptp([ratio(load).mean() for load in (10, 20, 40, 100)]) < 0.15 * ratio(LOAD).mean()),
    ),
    Claim(
        "RTO_L / RTT, for 10 and 40, does: the one is a fifth larger than the other",
        lambda _: _lite_mean(10) > 1.2 * _lite_mean(40),
    ),
    draw=_draw,
)


def _lite_mean(load: int) -> float:
    found = prediction(load, figure5_9.LITE)
    return float(found.ratio[found.cycle()][load // 2 + 1 :].mean())
