"""Table IV: the timeouts among 300 spikes that Eifel calls spurious, by rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eifel.papers import published
from eifel.papers.artefact import Artefact, Claim, Column, Row, Studied
from eifel.papers.dualrtt import chosen, grid, settings
from eifel.papers.study import Study, described
from eifel.statistics import Mean

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from numpy.typing import NDArray

    from eifel.papers.study import Effort
    from eifel.runs import Runs

PATHS = tuple(grid.Path(rate, 200, 576) for rate in grid.RATES_BPS)
DESIGN = grid.design("dualrtt.table4", [(path, None) for path in PATHS])


def _find(effort: Effort) -> Mapping[str, NDArray[Any]]:
    return grid.counts(effort, DESIGN, 0)


def _measure(artefact: Artefact, found: Runs) -> list[dict[str, Mean]]:
    return [{"count": Mean(float(count), None, 1)} for count in found["detected"]]


ARTEFACT = Artefact(
    id="dualrtt.table4",
    title=published.caption("dualrtt", "table4"),
    source=f"{settings.SOURCE}, table IV",
    columns=(Column("count", f"Detected, of {grid.SPIKES} spikes", digits=0, absolute=5),),
    rows=tuple(
        Row({"rate_kbps": rate}, published={"count": count})
        for rate, count in zip(
            published.table("dualrtt", "table4")["rates_kbps"],
            published.table("dualrtt", "table4")["counts"],
            strict=True,
        )
    ),
    method=Studied(Study(_find, described(DESIGN), (_find, grid)), measure=_measure, repetitions=grid.SPIKES),
    fitted=chosen.GRID,
    claims=(
        Claim(
            "at 31.2 kbit/s a window fills the link for as long as most spikes last: about half cause no timeout",
            lambda m: 0.4 < m.mean("count", rate_kbps=31.2) / m.repetitions < 0.6,
        ),
        Claim(
            "at every higher rate each spike causes a spurious timeout",
            lambda m: all(row.means["count"].mean == m.repetitions for row in m.rows[1:]),
        ),
    ),
)
