"""Figure 5-17: a close-up of figure 5-16: the wait of a loss for its timeout (measured)."""

from typing import TYPE_CHECKING

import numpy as np

from eifel.papers.artefact import Claim
from eifel.papers.measured import Measured
from eifel.papers.thesis import figure5_16
from eifel.papers.thesis.timer_figure import figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from eifel.result import Result

FROM_S, TO_S = 100, 115


def waits_s(result: "Result") -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Returns the waits from the first transmission of each lost segment to its needed timeout, in seconds."""
    sent = result.of("transmissions")
    new = sent.where(kind="new")
    episodes = result.of("episodes").where(cause="timeout", truth="genuine")
    found = np.searchsorted(new["start"], episodes["start"], side="right") - 1
    return np.asarray(episodes["opened_ns"] - new["t_ns"][found], dtype=np.float64) / 1e9


def duplicates_before_timeout(result: "Result") -> int:
    """Returns the most duplicate ACKs that arrived for a segment before its timeout."""
    acks, episodes = result.of("acks").where(duplicate=True), result.of("episodes").where(cause="timeout")
    before = [acks["cumulative"][acks["t_ns"] < opened] for opened in episodes["opened_ns"]]
    return max(int(np.sum(seen == start)) for seen, start in zip(before, episodes["start"], strict=True))


def _draw(measured: Measured) -> "Figure":
    from eifel.plots.progress import progress_figure

    runs = [(name, measured.result(run=run)) for run, name in figure5_16.NAMES.items()]
    return progress_figure(runs, (FROM_S, TO_S), title=measured.artefact.title, acks=True)


ARTEFACT = figure(
    17,
    "Restarting REXMT_E precisely, from near (measured)",
    figure5_16.RUNS,
    Claim(
        "the timeout comes before a third duplicate ACK would",
        lambda m: all(duplicates_before_timeout(m.result(run=run)) < 3 for run in figure5_16.NAMES),
    ),
    Claim(
        "a lost segment waits less: by at least a quarter, in the median",
        lambda m: bool(np.median(waits_s(m.result(run="age"))) < 0.75 * np.median(waits_s(m.result(run="full")))),
    ),
    draw=_draw,
    chosen=figure5_16.CHOSEN,
)
