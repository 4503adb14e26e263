"""Figures 5-8 and 5-13: RTO_L rises when the round trip falls, and RTTVAR_E is constant then (model)."""

import numpy as np

from eifel.model import Prediction
from eifel.papers.artefact import Claim
from eifel.papers.measured import Measured
from eifel.papers.thesis import timing, transfers
from eifel.papers.thesis.timer_figure import draw_model, figure, of, prediction

LOAD = 10
LITE = transfers.lite(1)
EIFEL = transfers.eifel(1)


def _lite() -> Prediction:
    return prediction(LOAD, LITE)


def _eifel() -> Prediction:
    return prediction(LOAD, EIFEL)


def _largest_after_the_fall(_: Measured) -> bool:
    """Returns whether RTO_L peaks in the first flight of the cycle, whose round trips are the shortest."""
    found = _lite()
    rto = found.rto_s[found.cycle()]
    return int(np.argmax(rto)) < LOAD // 2 + 1


def _second_halves(found: Prediction) -> list[float]:
    """Returns the RTO's relative change in the second half of each flight but the first of the last cycle."""
    part = found.cycle()
    changes = []
    for load in range(LOAD // 2 + 2, LOAD + 1):
        flight = np.flatnonzero(found.samples.load[part] == load) + part.start
        # RTO(i), the RTO after a sample, is in force for the next one.
        rto = found.rto_ns[flight]
        changes.append(float(rto[-1] / rto[len(rto) // 2] - 1))
    return changes


def _rexmt_offset(found: Prediction) -> float:
    part = found.cycle()
    return float(np.mean((found.rexmt_s[part] - found.rto_s[part]) / found.samples.rtt_s[part]))


FIGURE_5_8 = figure(
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
        lambda _: bool(np.nanmax(_lite().ratio[_lite().cycle()]) > 2),
    ),
    draw=draw_model(LOAD, {"RTO$_L$(i - 1)": LITE}),
)
FIGURE_5_13 = figure(
    13,
    "Fixing the prediction flaw with RTTVAR_E (model)",
    {"simulated": transfers.steady(LOAD, EIFEL)},
    Claim(
        "RTO_E does not rise when the round trip falls, in the model",
        lambda _: bool((np.diff(_eifel().rto_s[_eifel().cycle()][: LOAD // 2 + 1]) <= 0).all()),
    ),
    Claim(
        "nor in the simulated transfer",
        of(lambda run: all(after <= 1.01 * before for before, after in timing.falls(run))),
    ),
    Claim(
        "the shock absorber: in the second half of each flight RTO_L falls, by up to a tenth, and RTO_E by at most 2 %",
        lambda _: min(_second_halves(_lite())) < -0.03 and min(_second_halves(_eifel())) > -0.02,
    ),
    Claim(
        "REXMT_L lies about a round trip above RTO_L (0.8 to 1.1), REXMT_E is RTO_E",
        lambda _: 0.8 < _rexmt_offset(_lite()) < 1.1 and abs(_rexmt_offset(_eifel())) < 1e-6,
    ),
    draw=draw_model(LOAD, {"RTO$_L$(i - 1)": LITE, "RTO$_E$(i - 1)": EIFEL}),
)
