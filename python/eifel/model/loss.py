"""The cost of halving a load needlessly (Ludwig, chapter 5, section 5.2.3, figure 5-7).

A transfer alone on its bottleneck goes through cycles. In each, its load grows from W/2 to W
segments, by one per round trip. A retransmission at the end of a cycle, just after the load was
halved, is spurious. A fast retransmit halves the load again, to W/4. A timeout sets it to one
segment; it grows by slow start to W/4, and then by one per round trip. The loss compares what
undisturbed cycles would have sent until the load is W again with what is sent. It is the
difference, as a share of what is sent. `ratio` is W divided by the pipe's capacity, both in
segments. It is at least 1 if the path's queue ends a cycle. Smaller values count as 1, since the
pipe then limits nothing.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Retransmission = Literal["fast retransmit", "timeout"]
"""The kind of spurious retransmission."""


def by_squares(ratio: ArrayLike, spurious: Retransmission) -> NDArray[np.float64]:
    """Returns the loss as the thesis counts it, in closed form. All round trips are equally long, also in slow start.

    A round trip with a load below the pipe's capacity sends the load; any other sends the capacity.
    After a timeout, the load grows from nothing by one per round trip. Loads are in units of W, and
    time is in W round trips.
    """
    pipe = _pipe(ratio)

    def area(start: float, end: float) -> NDArray[np.float64]:
        """Returns the amount sent while the load grows from `start` to `end`."""
        below = np.minimum([start, end], pipe[..., None])
        sent = below**2 / 2 + pipe[..., None] * (np.array([start, end]) - below)
        return np.asarray(sent[..., 1] - sent[..., 0])

    if spurious == "fast retransmit":
        did, could = area(0.25, 1), area(0.5, 1) + area(0.5, 0.75)
    else:
        did, could = area(0, 1), 2 * area(0.5, 1)
    return np.asarray((could - did) / did)


def in_rounds(window: int, capacity: float, spurious: Retransmission) -> float:
    """Returns the loss, computed by round trips, for a largest load of `window` segments and a pipe of `capacity`.

    A round trip sends its load. It takes as long as the bottleneck takes for the load, but at least
    the empty pipe's round trip. Thus round trips grow with the load, and slow start doubles the
    load in each. Raises ValueError for a window that cannot be halved twice, or a capacity that is
    not positive.
    """
    if window < 8 or window % 4 or capacity <= 0:
        raise ValueError(
            f"window {window}, capacity {capacity}: a multiple of 4 from 8 on, and more than 0, are needed"
        )
    loads = np.arange(window // 4, window, dtype=float)
    if spurious == "timeout":
        doublings = int(np.ceil(np.log2(window // 4)))
        loads = np.concatenate([2.0 ** np.arange(doublings), loads])
    did, lasted = loads.sum(), np.maximum(loads, capacity).sum()
    could = sent_by_cycles(float(lasted), window, capacity)
    return float((could - did) / did)


def sent_by_cycles(time: float, window: int, capacity: float) -> float:
    """Returns the segments sent by undisturbed cycles in `time`, in segment times of the bottleneck."""
    loads = np.arange(window // 2, window, dtype=float)
    ends = np.cumsum(np.maximum(loads, capacity))
    cycles, rest = divmod(time, float(ends[-1]))
    sent = np.concatenate([[0.0], np.cumsum(loads)])
    within = np.interp(rest, np.concatenate([[0.0], ends]), sent)
    return float(cycles * sent[-1] + within)


def _pipe(ratio: ArrayLike) -> NDArray[np.float64]:
    """Returns the pipe's capacity in units of W."""
    ratios = np.asarray(ratio, float)
    if not (ratios > 0).all():
        raise ValueError("a ratio of load to capacity is more than 0")
    return np.asarray(np.minimum(1 / ratios, 1.0))
