"""Figures 5-9 and 5-12: RTO_L collapses to the round trip if every segment is timed and the load is large.

Figure 5-9 is the model, and figure 5-12 the measurement beside it.
"""

import numpy as np

from eifel.papers.artefact import Claim
from eifel.papers.thesis import transfers
from eifel.papers.thesis.timer_figure import agrees, draw_model, draw_run, figure, of, prediction, timed

LOAD = 40
LITE = transfers.lite(500)
MEASURED = transfers.steady(LOAD, transfers.lite(500, clock="heartbeat"))
"""The same transfer with the implementation."""


def _lowest(load: int) -> list[float]:
    """Returns the least RTO_L(i - 1) / RTT(i) of each flight of the last cycle, except the first two flights.

    Those follow the fall of the round trip.
    """
    found = prediction(load, LITE)
    part = found.cycle()
    ratio, loads = found.ratio[part], found.samples.load[part]
    return [float(np.min(ratio[loads == flight])) for flight in range(load // 2 + 3, load + 1)]


FIGURE_5_9 = figure(
    9,
    "A collapsed RTO_L (model, largest load 40, 500 ms ticks)",
    {"simulated": MEASURED},
    Claim(
        "RTO_L collapses: in every flight but the first two it comes down to the next round trip and below it",
        lambda _: max(_lowest(LOAD)) < 1,
    ),
    Claim(
        "in theory that is a spurious timeout a flight; in practice nothing times out, in the simulated transfer",
        lambda m: m.mean("timeouts", run="simulated") == 0,
    ),
    Claim("with a largest load of 10 it does not: it stays above every round trip", lambda _: min(_lowest(10)) > 1),
    Claim(
        "the simulated transfer's RTO_L collapses as well",
        lambda m: bool(timed(m).ratio[timed(m).steady].min() < 1),
    ),
    draw=draw_model(LOAD, {"RTO$_L$(i - 1)": LITE}, zoom=True),
)
FIGURE_5_12 = figure(
    12,
    "A collapsed RTO_L (measured)",
    {"simulated": MEASURED},
    Claim(
        "RTO_L falls below the next round trip, by at most a tenth",
        of(lambda run: bool(0.9 < run.ratio[run.steady].min() < 1)),
    ),
    *agrees((LOAD, LITE)),
    draw=draw_run("RTO$_L$", model=(LOAD, LITE), near=True),
)
