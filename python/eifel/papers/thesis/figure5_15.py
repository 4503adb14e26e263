"""Figure 5-15: RTO_E where one segment a round trip is timed (measured), as figure 5-10 with RTO_L."""

from typing import TYPE_CHECKING

from eifel.papers.artefact import Claim
from eifel.papers.measured import Measured
from eifel.papers.thesis import timing, transfers
from eifel.papers.thesis.timer_figure import figure, of, timed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOAD = 40


def _draw(measured: Measured) -> "Figure":
    from eifel.plots.timed import timed_figure

    return timed_figure(timed(measured), "RTO$_E$", title=measured.artefact.title)


ARTEFACT = figure(
    15,
    "RTO_E when timing one segment per RTT (measured)",
    {"simulated": transfers.steady(LOAD, transfers.eifel(500), timestamps=False)},
    Claim(
        "a gain of a third is safe: RTO_E stays a tenth above the round trip",
        of(lambda run: bool(run.ratio[run.steady].min() > 1.1)),
    ),
    Claim(
        "it has no spikes at the end of a cycle",
        of(lambda run: all(after <= 1.01 * before for before, after in timing.falls(run))),
    ),
    draw=_draw,
)
