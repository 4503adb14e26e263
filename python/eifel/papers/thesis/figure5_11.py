"""Figure 5-11: the "REXMT-restart bug" (measured)."""

import numpy as np

from eifel.papers.artefact import Claim
from eifel.papers.measured import Measured
from eifel.papers.thesis import transfers
from eifel.papers.thesis.timer_figure import draw_run, figure, timed

LOAD = 40


def _offset(measured: Measured, run: str) -> float:
    """Returns the mean of REXMT minus RTO, as a share of the round trip."""
    found = timed(measured, run)
    part = slice(found.steady.start, found.steady.stop - 1)
    after = slice(part.start + 1, part.stop + 1)
    # RTO(i) is in force for sample i + 1.
    return float(np.mean((found.rexmt_s[part] - found.rto_s[after]) / found.rtt_s[part]))


FIGURE_5_11 = figure(
    11,
    "The REXMT-restart bug (measured)",
    {
        restart: transfers.steady(LOAD, transfers.lite(500, clock="heartbeat", restart=restart))
        for restart in ("full", "age")
    },
    Claim(
        "the offset of REXMT_L over RTO_L is about a round trip: 0.85 to 1.05 of it, in the mean",
        lambda m: 0.85 < _offset(m, "full") < 1.05,
    ),
    Claim(
        "it is what keeps the collapsed RTO_L of figure 5-12 from expiring: nothing times out",
        lambda m: m.mean("timeouts", run="full") == 0,
    ),
    Claim(
        "restarted with the age of the oldest segment, the same timer expires many times, always spuriously",
        lambda m: m.mean("spurious_timeouts", run="age") > 50 and m.mean("genuine_timeouts", run="age") == 0,
    ),
    draw=draw_run("RTO$_L$", "full", cycles=2, rexmt=True),
)
