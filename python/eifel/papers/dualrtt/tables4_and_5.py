"""Tables IV and V: Eifel's verdicts on 300 spikes, by rate, and DualRTT's on the same spikes, by tau.

Table V has all 168 settings, of which the paper prints six.

The captions of tables IV and V say M = 1500 bytes. Equation (5), which takes its first six values
of tau from table V, says 576. With 576 bytes, all printed counts but one agree. With 1500 bytes,
every best tau differs. The exception (7 instead of 1 with tau 0.08 at 31.2 kbit/s) is chance: a
timer that expires within tau MinRTT of the first ACK. The paper's own counts in that row do not
rise with tau, though it says that the spikes are equal.
"""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from eifel.papers import published
from eifel.papers.artefact import Artefact, Claim, Column, Measured, Row, Studied
from eifel.papers.dualrtt import fit, grid, left_open, settings
from eifel.papers.study import Effort, Study, described
from eifel.runs import Runs
from eifel.statistics import Mean

_ASKED = (None, *grid.TAUS)
_PRINTED_4 = published.table("dualrtt", "table4")
PATHS_4 = tuple(grid.Path(rate, 200, 576) for rate in grid.RATES_BPS)
DESIGN_4 = grid.design("dualrtt.table4", [(path, None) for path in PATHS_4])
_PRINTED = published.table("dualrtt", "table5")
DESIGN = grid.design("dualrtt.grid", [(path, tau) for path in grid.PATHS for tau in _ASKED])


def _find(effort: Effort) -> Mapping[str, NDArray[Any]]:
    return grid.named(grid.PATHS, _ASKED) | grid.counts(effort, DESIGN, len(grid.TAUS))


STUDY = Study(_find, described(DESIGN), (_find, grid))
"""Figures 7 to 9 and the model use the same spikes."""


def _measure(_artefact: Artefact, found: Runs) -> list[dict[str, Mean]]:
    best = fit.best(found)
    rows = []
    for path in grid.PATHS:
        found_here = fit.of(found, path)
        row = dict(zip(_COUNTS, (Mean(float(count), None, 1) for count in found_here["detected"]), strict=True))
        row["untrue"] = Mean(float(found_here["untrue"].sum()), None, 1)
        rows.append(row | ({"best": Mean(best[path], None, 1)} if path in best else {}))
    return rows


def _row(path: grid.Path) -> Row:
    keys = {"mtu_bytes": path.mtu_bytes, "delay_ms": path.delay_ms, "rate_kbps": path.rate_bps / 1000}
    if (path.mtu_bytes, path.delay_ms) != (576, 200):
        return Row(keys)
    number = grid.RATES_BPS.index(path.rate_bps)
    printed = dict(zip(_COUNTS[1:], map(float, _PRINTED["counts"][number]), strict=True))
    eifel = float(_PRINTED_4["counts"][number])
    return Row(keys, published={"eifel": eifel, **printed, "best": _PRINTED["optimal"][number]})


def _spurious(m: Measured) -> float:
    return sum(row.means["eifel"].mean for row in m.rows)


def _at(m: Measured, tau: float) -> list[float]:
    return [row.means[f"tau_{tau}"].mean for row in m.rows]


_COUNTS = ("eifel", *(f"tau_{tau}" for tau in grid.TAUS))


def _find_4(effort: Effort) -> Mapping[str, NDArray[Any]]:
    return grid.counts(effort, DESIGN_4, 0)


def _measure_4(artefact: Artefact, found: Runs) -> list[dict[str, Mean]]:
    return [{"count": Mean(float(count), None, 1)} for count in found["detected"]]


TABLE_4 = Artefact(
    id="dualrtt.table4",
    title=published.caption("dualrtt", "table4"),
    source=f"{settings.SOURCE}, table IV",
    columns=(Column("count", f"Detected, of {grid.SPIKES} spikes", digits=0, absolute=5),),
    rows=tuple(
        Row({"rate_kbps": rate}, published={"count": count})
        for rate, count in zip(_PRINTED_4["rates_kbps"], _PRINTED_4["counts"], strict=True)
    ),
    method=Studied(Study(_find_4, described(DESIGN_4), (_find_4, grid)), measure=_measure_4, repetitions=grid.SPIKES),
    fitted=left_open.GRID,
    claims=(
        Claim(
            "at 31.2 kbit/s a window fills the link for as long as most spikes last: 40 to 60 % cause no timeout",
            lambda m: 0.4 < m.mean("count", rate_kbps=31.2) / m.repetitions < 0.6,
        ),
        Claim(
            "at every higher rate each spike causes a spurious timeout",
            lambda m: all(row.means["count"].mean == m.repetitions for row in m.rows[1:]),
        ),
    ),
)
TABLE_5 = Artefact(
    id="dualrtt.table5",
    title=f"{_PRINTED['caption']}, and by Eifel",
    source=f"{settings.SOURCE}, tables IV and V",
    columns=(
        Column("eifel", "Eifel", digits=0, absolute=5),
        *(Column(f"tau_{tau}", f"tau {tau}", digits=0, absolute=5) for tau in grid.TAUS),
        Column("untrue", "Not spurious", digits=0),
        Column("best", "Best tau", digits=3, absolute=0),
    ),
    rows=tuple(map(_row, grid.PATHS)),
    method=Studied(STUDY, measure=_measure, repetitions=grid.SPIKES, long=True),
    fitted=left_open.GRID,
    claims=(
        Claim(
            "of 50 400 spikes 37 500 cause a spurious timeout, by Eifel's count (within 1 %)",
            lambda m: (
                abs(_spurious(m) / published.table("dualrtt", "model")["spurious"] * grid.SPIKES / m.repetitions - 1)
                < 0.01
            ),
        ),
        Claim(
            "the larger tau, the more is detected as spurious",
            lambda m: all(sum(_at(m, a)) < sum(_at(m, b)) for a, b in zip(grid.TAUS, grid.TAUS[1:], strict=False)),
        ),
        Claim(
            "nothing was detected as spurious that was not, by what happened in the very same run",
            lambda m: all(row.means["untrue"].mean == 0 for row in m.rows),
        ),
        Claim(
            "each of the printed best values of tau is the best",
            lambda m: all(row.means["best"].mean == row.row.published["best"] for row in m.rows if row.row.published),
        ),
    ),
)
