"""Figure 5-15: RTO_E with one timed segment per round trip (measured), like figure 5-10 with RTO_L."""

from typing import TYPE_CHECKING

from eifel.papers.artefact import Claim
from eifel.papers.measured import Measured
from eifel.papers.thesis import timing, transfers
from eifel.papers.thesis.timer_figure import figure, of, prediction, timed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOAD = 40


def _draw(measured: Measured) -> "Figure":
    from eifel.plots.timed import timed_figure

    return timed_figure(timed(measured), "RTO$_E$", title=measured.artefact.title)


KNOWN = (
    "The two timeouts come in the first 21 s, while slow start fills the queue; figure 5-10's RTO_L has none there. In "
    "the steady load cycles, which the figure shows, there is none."
)


def _safe(load: int) -> bool:
    made = prediction(load, transfers.eifel(1), "one-a-round-trip")
    return bool((made.ratio[made.cycle(1).start : made.cycle().stop] > 1).all())


ARTEFACT = figure(
    15,
    "RTO_E when timing one segment per RTT (measured)",
    {"simulated": transfers.steady(LOAD, transfers.eifel(500), timestamps=False)},
    Claim(
        "with a gain of a third RTO_E stays a tenth above the round trip",
        of(lambda run: bool(run.ratio[run.steady].min() > 1.1)),
    ),
    Claim(
        "a gain of a third is sufficiently safe: no timeout is spurious",
        lambda m: m.mean("spurious_timeouts", run="simulated") == 0,
    ),
    Claim(
        "it has no spikes at the end of a cycle",
        of(lambda run: all(after <= 1.01 * before for before, after in timing.falls(run))),
    ),
    Claim(
        "in the model RTO_E with a gain of a third stays above the round trip with every load from 4 to 80 segments",
        lambda _: all(_safe(load) for load in range(4, 81, 2)),
    ),
    draw=_draw,
    known=(KNOWN,),
)
