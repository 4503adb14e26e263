"""Figures 5-10 and 5-15: RTO_L and RTO_E with one timed segment per round trip (measured)."""

from eifel.papers.artefact import Claim
from eifel.papers.thesis import timing, transfers
from eifel.papers.thesis.timer_figure import draw_run, figure, of, prediction

LOAD = 40


def _safe(load: int) -> bool:
    made = prediction(load, transfers.eifel(1), "one-a-round-trip")
    return bool((made.ratio[made.cycle(1).start : made.cycle().stop] > 1).all())


FIGURE_5_10 = figure(
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
    draw=draw_run("RTO$_L$"),
)
FIGURE_5_15 = figure(
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
    draw=draw_run("RTO$_E$"),
)
