"""Figure 5-18: a self-trained RTO converges to the round trip, and backs off (model)."""

from functools import cache
from typing import Any

import numpy as np

from eifel.model import Prediction
from eifel.papers import rfc3522
from eifel.papers.artefact import Claim, Measured
from eifel.papers.thesis import transfers
from eifel.papers.thesis.timer_figure import figure
from eifel.plots import Figure
from eifel.plots.prediction import prediction_figure

LOAD = 26
CYCLES = 30


def _timer(k_per_mille: int) -> dict[str, Any]:
    return transfers.eifel(1) | {"name": "self-trained", "k_per_mille": k_per_mille}


@cache
def _prediction(k_per_mille: int, detected: bool = True) -> "Prediction":
    return transfers.model(LOAD).samples(CYCLES).predict(_timer(k_per_mille), detected=detected)


@cache
def _untrained() -> "Prediction":
    return transfers.model(LOAD).samples(CYCLES).predict(transfers.eifel(1))


def _agg() -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Returns AGG after each sample: RTO_AGG divided by RTO_E."""
    return _prediction(50).rto_ns / _untrained().rto_ns


def _decay(k_per_mille: int) -> float:
    """Returns AGG's relative decrease in the second cycle. MAXCWND is unknown in the first one."""
    share = _prediction(k_per_mille).rto_ns / _untrained().rto_ns
    cycle = _prediction(k_per_mille).cycle(1)
    return float(1 - share[cycle][-1] / share[cycle][0])


def _scenario() -> dict[str, Any]:
    made = transfers.steady(LOAD, _timer(50))
    made["flow"][0]["sender"] |= {"detect": dict(rfc3522.PLAIN), "respond": "by-retransmissions"}
    return made | {"duration_s": 3 * made["duration_s"]}


def _draw(measured: Measured) -> "Figure":
    names = ["RTO$_{AGG}$(i - 1)"]
    return prediction_figure([_prediction(50)], CYCLES, title=measured.artefact.title, names=names)


FIGURE_5_18 = figure(
    18,
    "A self-trained RTO (model, largest load 26, k = 0.05)",
    {"simulated": _scenario()},
    Claim("k = 0.1 takes roughly 10 percent off AGG in a cycle: 9 to 11", lambda _: 0.09 < _decay(100) < 0.11),
    Claim(
        "it converges on the round trip until a timeout is spurious: RTO_AGG comes below the round trip",
        lambda _: bool(_prediction(50).expired.any()),
    ),
    Claim(
        "each spurious timeout backs it off: AGG rises at each, and at nothing else",
        lambda _: bool(((np.diff(_agg()) > 0) == _prediction(50).expired[1:]).all()),
    ),
    Claim(
        "once trained it costs a spurious timeout in some cycles, not in each: one in 3 to 8 of the last 20",
        lambda _: 20 / 8 <= _prediction(50).expired[_prediction(50).cycle(-20).start :].sum() <= 20 / 3,
    ),
    Claim(
        "in the simulated transfer, too, some timeouts are spurious, and Eifel detects each",
        lambda m: 0 < m.mean("spurious_timeouts", run="simulated") <= m.result().main["detected_spurious"],
    ),
    Claim(
        "what it is good for: some losses are repaired by a timeout before the third duplicate ACK comes",
        lambda m: m.mean("genuine_timeouts", run="simulated") > 0,
    ),
    draw=_draw,
)
