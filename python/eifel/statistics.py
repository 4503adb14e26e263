"""Means of repeated runs with confidence intervals.

SciPy has these functions too, but takes seconds to import; the tests compare with it.
"""

import math
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, repr=False)
class Mean:
    """A mean of `count` values with the half-width of its confidence interval (None for a single value)."""

    mean: float
    half_width: float | None
    count: int
    ends: tuple[float, float] | None = None
    """The ends of an interval that is not symmetric about the mean; None for a symmetric one."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ends of the interval. None for a single value."""
        if self.ends is not None or self.half_width is None:
            return self.ends
        return self.mean - self.half_width, self.mean + self.half_width

    def spread(self, digits: int) -> str:
        """Formats the interval for display after the mean: `± 0.3`, `(0.1 to 0.4)`, or nothing if unknown."""
        if self.ends is not None:
            return f"({self.ends[0]:.{digits}f} to {self.ends[1]:.{digits}f})"
        return "" if self.half_width is None else f"± {self.half_width:.{digits}f}"

    def __repr__(self) -> str:
        return f"Mean({self})"

    def __str__(self) -> str:
        """Returns the mean with its interval, to two digits of the interval's half-width: `13.64 ± 0.14`."""
        half = self.half_width if self.ends is None else (self.ends[1] - self.ends[0]) / 2
        if not half or not math.isfinite(half):
            return f"{self.mean:.6g}"
        digits = max(0, 1 - math.floor(math.log10(half)))
        return f"{self.mean:.{digits}f} {self.spread(digits)}"


def mean_interval(values: ArrayLike, confidence: float = 0.95) -> Mean:
    """Returns the mean with Student's t interval. The values must be independent repetitions.

    Raises ValueError without values, since the mean of nothing is not zero.
    """
    sample = np.asarray(values, dtype=np.float64)
    if sample.size == 0:
        raise ValueError("the mean of no values")
    if sample.size == 1:
        return Mean(float(sample[0]), None, 1)
    spread = float(sample.std(ddof=1)) / math.sqrt(sample.size)
    return Mean(float(sample.mean()), t_quantile(0.5 + confidence / 2, sample.size - 1) * spread, sample.size)


def share_interval(hits: int, count: int, confidence: float = 0.95) -> Mean:
    """Returns the share of hits with Wilson's score interval, which is also valid for shares of 0 and 1.

    Raises ValueError if `count` is 0.
    """
    if not 0 <= hits <= count or count == 0:
        raise ValueError(f"the share of {hits} in {count}")
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share, shrink = hits / count, 1 + z * z / count
    middle = (share + z * z / (2 * count)) / shrink
    half = z / shrink * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    # Prevents rounding from moving the interval outside 0 to 1, or away from the share.
    return Mean(share, None, count, (min(max(middle - half, 0.0), share), max(min(middle + half, 1.0), share)))


def percent_interval(hits: int, count: int) -> Mean:
    """Returns the share of hits in percent, with its 95 % interval. Raises ValueError if `count` is 0."""
    share = share_interval(hits, count)
    low, high = share.interval or (share.mean, share.mean)
    return Mean(100 * share.mean, None, count, (100 * low, 100 * high))


@cache
def t_quantile(probability: float, freedom: int) -> float:
    """Returns the quantile of Student's t with `freedom` degrees of freedom, to about 12 digits.

    `probability` is between 0 and 1, exclusive.
    """
    from eifel import _engine

    if not 0 < probability < 1 or freedom < 1:
        raise ValueError(f"t quantile: probability {probability}, {freedom} degrees of freedom")
    if probability < 0.5:
        return -t_quantile(1 - probability, freedom)
    return _engine.t_quantile(probability, freedom)
