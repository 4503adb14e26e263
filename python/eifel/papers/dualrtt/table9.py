"""Table IX: the payload's share of a segment, with and without timestamps. Exact arithmetic without runs."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.papers import published
from eifel.papers.artefact import Artefact, Claim, Column, Measured, Setting, Studied
from eifel.papers.dualrtt import settings
from eifel.papers.study import Effort, Study
from eifel.runs import Runs
from eifel.statistics import Mean

HEADERS = {"eifel": 32, "dualrtt": 20}
"""The bytes of TCP's header, with and without timestamps. IP's are not counted."""
_ROWS = published.rows("dualrtt", "table9", lambda _keys: {})
_WEIGHTED = float(published.table("dualrtt", "table9")["weighted_increase"])
_BYTES = [int(row.keys["payload_bytes"]) for row in _ROWS]


def efficiency(payload_bytes: float, header_bytes: float) -> float:
    """Returns TLE, the payload's share of a segment (equation 7)."""
    return payload_bytes / (payload_bytes + header_bytes)


def _find(_effort: Effort) -> Mapping[str, NDArray[Any]]:
    tle = {name: np.array([efficiency(size, header) for size in _BYTES]) for name, header in HEADERS.items()}
    return tle | {"increase": 100 * (tle["dualrtt"] / tle["eifel"] - 1)}


def _measure(_artefact: Artefact, found: Runs) -> list[dict[str, Mean]]:
    return [
        {name: Mean(float(found[name][number]), None, 1) for name in ("eifel", "dualrtt", "increase")}
        for number in range(len(_BYTES))
    ]


def weighted_increase(m: Measured) -> float:
    """Returns the mean increase in percent, weighted by the traffic's percentages, which add up to 99.99."""
    return sum(float(row.row.keys["traffic_percent"]) / 100 * row.means["increase"].mean for row in m.rows)


ARTEFACT = Artefact(
    id="dualrtt.table9",
    title=published.caption("dualrtt", "table9"),
    source=f"{settings.SOURCE}, table IX and section VII.E",
    columns=(
        Column("eifel", "TLE of Eifel", digits=3, absolute=0.0005),
        Column("dualrtt", "TLE of DualRTT", digits=3, absolute=0.0005),
        Column("increase", "Increase, %", digits=1, absolute=0.05),
    ),
    rows=_ROWS,
    method=Studied(
        Study(_find, {"header_bytes": HEADERS, "payload_bytes": _BYTES}, (_find, efficiency)), measure=_measure
    ),
    fitted=(Setting("IP's header", "not counted", "as in the paper's own numbers, though a link carries it"),),
    claims=(
        Claim(
            f"over the traffic that was measured the increase is {_WEIGHTED} %",
            lambda m: abs(weighted_increase(m) - _WEIGHTED) < 0.005,
        ),
    ),
)
