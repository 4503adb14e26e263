"""Figure 5-8: RTO_L rises when the round trip falls (model)."""

from typing import TYPE_CHECKING

import numpy as np

from eifel.papers.artefact import Claim
from eifel.papers.measured import Measured
from eifel.papers.thesis import timing, transfers
from eifel.papers.thesis.timer_figure import figure, of, prediction

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOAD = 10
LITE = transfers.lite(1)


def _draw(measured: Measured) -> "Figure":
    from eifel.plots.prediction import prediction_figure

    names = ["RTO$_L$(i - 1)"]
    return prediction_figure([prediction(LOAD, LITE)], 3, title=measured.artefact.title, names=names)


def _largest_after_the_fall(_: Measured) -> bool:
    """Returns whether RTO_L peaks in the first flight of the cycle, whose round trips are the shortest."""
    found = prediction(LOAD, LITE)
    rto = found.rto_s[found.cycle()]
    return int(np.argmax(rto)) < LOAD // 2 + 1


ARTEFACT = figure(
    8,
    "Prediction flaw in RTO_L (model, largest load 10, 1 ms ticks)",
    {"simulated": transfers.steady(LOAD, LITE)},
    Claim("RTO_L is the largest just after the round trip has fallen, in the model", _largest_after_the_fall),
    Claim(
        "at each fall of the round trip RTO_L first rises, in the simulated transfer",
        of(lambda run: all(after > 1.2 * before for before, after in timing.falls(run))),
    ),
    Claim(
        "it then predicts more than twice the round trip",
        lambda _: bool(np.nanmax(prediction(LOAD, LITE).ratio[prediction(LOAD, LITE).cycle()]) > 2),
    ),
    draw=_draw,
)
