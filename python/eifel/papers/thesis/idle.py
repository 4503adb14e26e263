"""Idle times at the receiver."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eifel.papers.thesis.hiccup import PACKET_S

if TYPE_CHECKING:
    from eifel.result import Result


def idle_share(result: Result, start_s: float, end_s: float) -> float:
    """Returns the share of an interval without arriving data, beyond a packet time for each arrival."""
    arrivals = result.of("arrivals")["t_ns"] / 1e9
    here = arrivals[(arrivals >= start_s) & (arrivals <= end_s)]
    gaps = np.diff(np.concatenate([[start_s], np.sort(here), [end_s]]))
    return float(np.maximum(gaps - PACKET_S * 1.01, 0).sum() / (end_s - start_s))
