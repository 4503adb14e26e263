"""Figure 5-12: RTO_L collapses into the round trip (measured), beside figure 5-9's model."""

from typing import TYPE_CHECKING

from eifel.papers.artefact import Claim
from eifel.papers.measured import Measured
from eifel.papers.thesis import figure5_9, timing
from eifel.papers.thesis.timer_figure import figure, of, prediction, timed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _agreement(measured: Measured) -> timing.Agreement:
    return timing.agreement(prediction(figure5_9.LOAD, figure5_9.LITE), timed(measured))


def _draw(measured: Measured) -> "Figure":
    from eifel.plots.timed import timed_figure

    title, beside = measured.artefact.title, _agreement(measured)
    return timed_figure(timed(measured), "RTO$_L$", title=title, near=True, beside=beside)


ARTEFACT = figure(
    12,
    "A collapsed RTO_L (measured)",
    {"simulated": figure5_9.MEASURED},
    Claim(
        "RTO_L falls below the next round trip, by at most a tenth",
        of(lambda run: bool(0.9 < run.ratio[run.steady].min() < 1)),
    ),
    Claim(
        "measured RTO / RTT is the model's within 5 % in the mean",
        lambda m: abs(_agreement(m).mean_ratio - 1) < 0.05,
    ),
    Claim(
        "and nowhere in the load cycle more than 10 % away from it",
        lambda m: _agreement(m).largest_deviation < 0.10,
    ),
    draw=_draw,
)
