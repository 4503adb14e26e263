"""Figure 5-19: RTO_E scales with the flow's load (measured), beside figure 5-14's model."""

from typing import TYPE_CHECKING

import numpy as np

from eifel.papers.artefact import Claim
from eifel.papers.measured import Measured
from eifel.papers.thesis import figure5_14, flight, timing, transfers
from eifel.papers.thesis.timer_figure import figure, of, prediction, timed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _agreement(measured: Measured) -> timing.Agreement:
    return timing.agreement(prediction(figure5_14.LOAD, figure5_14.EIFEL), timed(measured))


def _draw(measured: Measured) -> "Figure":
    from eifel.plots.timed import timed_figure

    title, beside = measured.artefact.title, _agreement(measured)
    return timed_figure(timed(measured), "RTO$_E$", title=title, dots=True, beside=beside)


def _gaps(run: timing.Timed) -> bool:
    """Returns whether no sample comes for half a round trip between cycles, and such gaps never occur within one."""
    between = [run.t_s[b.start] - run.t_s[a.stop - 2] for a, b in zip(run.cycles[:-1], run.cycles[1:], strict=True)]
    within = max(float(np.diff(run.t_s[cycle]).max()) for cycle in run.cycles)
    longest = float(run.rtt_s[run.steady].max())
    return bool(min(between) > 0.5 * longest and within < 0.1 * min(between))


ARTEFACT = figure(
    19,
    "RTO_E scales with the flow's load (measured)",
    {"simulated": figure5_14.MEASURED},
    Claim(
        "measured RTO / RTT is the model's within 5 % in the mean", lambda m: abs(_agreement(m).mean_ratio - 1) < 0.05
    ),
    Claim(
        "and nowhere in the load cycle more than 10 % away from it",
        lambda m: _agreement(m).largest_deviation < 0.10,
    ),
    Claim("after each cycle there is a gap: duplicate ACKs give no samples", of(_gaps)),
    Claim(
        "with the actual load in FLIGHT_E there would be many spikes of RTO_E: rises of a fifth from sample to sample",
        lambda m: flight.largest_rise(m.result(), figure5_14.EIFEL, transfers.model(figure5_14.LOAD).mss_bytes) > 0.2,
    ),
    Claim("no timeout is needed, and none comes", lambda m: m.mean("timeouts", run="simulated") == 0),
    draw=_draw,
    known=(
        "In a steady load cycle the actual load is as smooth as half of it: no RTO_E rises by more than 3 % from one "
        "sample to the next. What the thesis calls noise must come from loads that vary otherwise.",
    ),
)
