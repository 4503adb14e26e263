"""Shares of counts, in percent."""

from __future__ import annotations

from eifel.statistics import Mean, share_interval


def percent(hits: int, count: int) -> Mean:
    """Returns the share of hits in percent, with its 95 % interval."""
    share = share_interval(hits, count)
    low, high = share.interval or (share.mean, share.mean)
    return Mean(100 * share.mean, None, count, (100 * low, 100 * high))
