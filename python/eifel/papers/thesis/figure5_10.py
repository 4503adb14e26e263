"""Figure 5-10: RTO_L with one timed segment per round trip (measured)."""

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

    return timed_figure(timed(measured), "RTO$_L$", title=measured.artefact.title)


ARTEFACT = figure(
    10,
    "RTO_L when timing one segment per RTT (measured)",
    {"simulated": transfers.steady(LOAD, transfers.lite(500, clock="heartbeat"), timestamps=False)},
    Claim(
        "gains and weight work: RTO_L stays a fifth above the round trip",
        of(lambda run: bool(run.ratio[run.steady].min() > 1.2)),
    ),
    Claim(
        "the spikes are still there: RTO_L rises when the round trip falls",
        of(lambda run: all(after > 1.1 * before for before, after in timing.falls(run))),
    ),
    Claim(
        "about one sample a round trip is taken: at most 24 in a cycle of 20",
        of(lambda run: all(cycle.stop - cycle.start <= LOAD // 2 + 4 for cycle in run.cycles)),
    ),
    draw=_draw,
)
