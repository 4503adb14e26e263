"""Figure 5-7: the cost of a spurious retransmission, by the ratio of the load to the pipe's capacity."""

import numpy as np

from eifel.model import loss
from eifel.papers.artefact import Artefact, Claim, Column, Measured, Recorded, Row, Setting
from eifel.papers.published import numbers
from eifel.papers.thesis.cycles import BEGINNINGS, KINDS, RATIOS, WINDOW, losses, scenario
from eifel.papers.thesis.transfers import SOURCE
from eifel.plots import Figure
from eifel.plots.loss import loss_figure

HICCUP = " by hiccup"

_P = numbers("thesis", "figure5_7")
PRINTED: dict[loss.Retransmission, dict[float, float]] = {
    "fast retransmit": {1.0: _P["fast_retransmit_loss_whole"], 2.0: _P["fast_retransmit_loss_half"]},
    "timeout": {1.0: _P["timeout_loss_whole"], 2.0: _P["timeout_loss_half"]},
}


def _printed_as_counted(kind: loss.Retransmission) -> bool:
    """Returns whether the closed form equals the thesis's count, which is given in whole percents."""
    return all(abs(float(loss.by_squares(ratio, kind)) - share) < 0.005 for ratio, share in PRINTED[kind].items())


def _falls(measured: Measured) -> bool:
    """Returns whether the loss never grows with the ratio, and falls below a tenth of its first value."""
    found = [list(by_ratio.values()) for by_ratio in losses(measured).values()]
    return all(bool((np.diff(values) <= 0).all()) and values[-1] < values[0] / 10 for values in found)


def _deviation(found: dict[loss.Retransmission, dict[float, float]], *kinds: loss.Retransmission) -> float:
    """Returns the largest difference between a simulated loss and the loss by rounds."""
    return max(abs(found[k][r] - loss.in_rounds(WINDOW, WINDOW / r, k)) for k in kinds for r in RATIOS)


def _hiccups_timeout_costs_less(measured: Measured) -> bool:
    """Returns whether a timeout by hiccup costs less than by rounds, since originals drain meanwhile."""
    found = losses(measured, HICCUP)["timeout"]
    return all(found[ratio] < loss.in_rounds(WINDOW, WINDOW / ratio, "timeout") for ratio in RATIOS)


def _draw(measured: Measured) -> Figure:
    return loss_figure(WINDOW, (losses(measured), losses(measured, HICCUP)), PRINTED, measured.artefact.title)


FIGURE_5_7 = Artefact(
    id="thesis.figure5_7",
    title="Approximating the performance loss",
    source=f"{SOURCE}, figure 5-7",
    columns=(Column("segments_sent", "Segments sent", digits=0),),
    rows=tuple(
        Row({"ratio": ratio, "beginning": beginning}, scenario(ratio, beginning))
        for ratio in RATIOS
        for beginning in BEGINNINGS
    ),
    claims=(
        Claim(
            "a spurious fast retransmit costs 9 percent where the pipe holds half of the load, 13 where it holds all",
            lambda _: _printed_as_counted("fast retransmit"),
        ),
        Claim("a spurious timeout costs 33 and 50 percent", lambda _: _printed_as_counted("timeout")),
        Claim(
            "the lower the ratio of the load to the pipe's capacity, the higher the loss: anything from nothing on",
            _falls,
        ),
        Claim(
            "round by round the loss is what transfers have that are simulated, within 1.5 percent of what is sent",
            lambda m: _deviation(losses(m), *KINDS) < 0.015,
        ),
        Claim(
            "so is the loss by a hiccup's own spurious fast retransmit",
            lambda m: _deviation(losses(m, HICCUP), "fast retransmit") < 0.015,
        ),
        Claim(
            "a hiccup's own spurious timeout costs less: originals keep the pipe busy, and their ACKs grow the load",
            _hiccups_timeout_costs_less,
        ),
    ),
    fitted=(
        Setting("largest load", f"{WINDOW} segments", "the text has none; more of them shorten slow start's part"),
        Setting(
            "share",
            "of what is sent, not of what could have been",
            "6 squares that could have been sent and 5.5 that were are 9 percent only so",
            rows=("all rows: the four numbers that the text gives for figure 5-7",),
        ),
    ),
    method=Recorded(_draw),
)
