"""The best tau of each setting (equation 2), and the log-linear model fitted to them (equations 3 to 6)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.papers.dualrtt import grid
from eifel.runs import Runs

PHI = (0.2, 0.8)
"""The weights of equation (2): for missing a spurious timeout (SMT), and for calling a genuine one spurious (TMS)."""


@dataclass(frozen=True)
class Model:
    """Equation (3): tau = alpha log(B) + lambda log(D) + omega M + intercept; B in bit/s, D in s, M in bytes.

    Logarithms are natural: the paper does not say, and the detector uses natural ones.
    """

    alpha: float
    lambda_: float
    omega: float
    intercept: float = 0.0

    def tau(self, path: grid.Path) -> float:
        """Returns the threshold for a path, limited to the range of the tried values."""
        logs = self.alpha * np.log(path.rate_bps) + self.lambda_ * np.log(path.delay_ms / 1000)
        tau = float(logs + self.omega * path.mtu_bytes + self.intercept)
        return min(max(tau, grid.TAUS[0]), grid.TAUS[-1])


PUBLISHED = Model(8.022e-3, -5.803e-2, 1.463e-6)
"""Equation (6)."""


def best(found: Runs) -> dict[grid.Path, float]:
    """Returns the tau that minimises equation (2) in each setting, the smallest if tied: bold in table V.

    Settings without spurious timeouts have no entry, since every tau is equally good there.
    """
    best = {}
    for path in grid.PATHS:
        rows = of(found, path)
        if rows["detected"][0] == 0:
            continue
        error = PHI[0] * rows["missed"][1:] + PHI[1] * rows["wrong"][1:]
        best[path] = float(rows["tau"][1:][int(np.argmin(error))])
    return best


def of(found: Runs, path: grid.Path) -> dict[str, NDArray[Any]]:
    """Returns the results on one path: a row per threshold, Eifel's first."""
    columns = found.columns
    here = (
        (columns["rate_bps"] == path.rate_bps)
        & (columns["delay_ms"] == path.delay_ms)
        & (columns["mtu_bytes"] == path.mtu_bytes)
    )
    return {name: values[here] for name, values in columns.items()}


def fitted(taus: dict[grid.Path, float], *, intercept: bool) -> Model:
    """Returns the least-squares fit of equation (6) over these settings, as in the paper or with an intercept."""
    paths: Sequence[grid.Path] = tuple(taus)
    rows = [[np.log(p.rate_bps), np.log(p.delay_ms / 1000), p.mtu_bytes, *([1.0] if intercept else [])] for p in paths]
    solution = np.linalg.lstsq(np.array(rows, np.float64), np.array([taus[path] for path in paths]), rcond=None)[0]
    return Model(*(float(value) for value in solution))
