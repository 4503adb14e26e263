"""Figures 7 to 9: the best tau over one of B, D and M, for four values of the other two.

The faster the link, the closer together the ACKs; the longer the path, the larger MinRTT: both
allow a smaller tau. The larger the segments, the further apart the ACKs, so tau has to be larger. It
should then be a line through zero, but the result looks like a curve: there are only seven values of
tau, on a nearly logarithmic scale, and four of M, three of them close together.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Row, Studied
from eifel.papers.dualrtt import fit, grid, left_open, settings, tables4_and_5
from eifel.plots import Figure, style
from eifel.runs import Runs
from eifel.statistics import Mean

UNITS = {"rate_bps": "B, kbit/s", "delay_ms": "D, ms", "mtu_bytes": "M, bytes"}
VALUES = {"rate_bps": grid.RATES_BPS, "delay_ms": grid.DELAYS_MS, "mtu_bytes": grid.MTUS_BYTES}
Scale = Callable[[Any], Any]
"""The logarithm, or `np.array` for none."""


def _measure(artefact: Artefact, found: Runs) -> list[dict[str, Mean]]:
    best = fit.best(found)
    model = fit.fitted(best, intercept=True)
    rows = []
    for row in artefact.rows:
        path = grid.Path(int(row.keys["rate_bps"]), int(row.keys["delay_ms"]), int(row.keys["mtu_bytes"]))
        values = {"model": Mean(model.tau(path), None, 1)}
        rows.append(values | ({"best": Mean(best[path], None, 1)} if path in best else {}))
    return rows


def _curves(measured: Measured, over: str) -> dict[tuple[tuple[str, Any], ...], list[float]]:
    """Returns the values of each curve along its axis, by its fixed keys. Missing values are left out."""
    found: dict[tuple[tuple[str, Any], ...], list[float]] = {}
    for row in measured.rows:
        held = tuple((name, value) for name, value in row.row.keys.items() if name != over)
        found.setdefault(held, [])
        if "best" in row.means:
            found[held].append(row.means["best"].mean)
    return found


ROUNDED = 1e-24
"""A relative residual that rounding may leave, which differs between processors."""


def _residual(m: Measured, over: str, scale: Scale) -> float:
    """Returns the residual sum of squares of a straight line through each curve, over the scaled axis.

    Raises LookupError if a curve has no value.
    """
    left = 0.0
    for held, taus in _curves(m, over).items():
        if not taus:
            raise LookupError(f"no best tau with {dict(held)}")
        # Curves lack points at their slow end only: the first by rate and delay, the last by MTU.
        at = VALUES[over][-len(taus) :] if over != "mtu_bytes" else VALUES[over][: len(taus)]
        x = scale(np.array(at, np.float64))
        squares = float(np.sum((np.polyval(np.polyfit(x, taus, 1), x) - taus) ** 2))
        left += squares if squares > ROUNDED * float(np.sum(np.square(taus))) else 0.0
    return left


def _draw(over: str) -> Callable[[Measured], Figure]:
    def draw(measured: Measured) -> Figure:
        figure, axes = style.new_figure(4, (5.6, 7.2))
        scale = 1000 if over == "rate_bps" else 1
        for place, held in zip(axes, _curves(measured, over), strict=True):
            rows = [row for row in measured.rows if set(held) <= set(row.row.keys.items())]
            for column, line in (("best", "o-"), ("model", "--")):
                shown = [row for row in rows if column in row.means]
                at = np.array([float(row.row.keys[over]) for row in shown]) / scale
                colour = style.SENT if column == "best" else style.LIMIT
                label = "best tau" if column == "best" else "log-linear model"
                place.plot(at, [row.means[column].mean for row in shown], line, color=colour, label=label)
            name = {"rate_bps": "B {:g} bit/s", "delay_ms": "D {:g} ms", "mtu_bytes": "M {:g} bytes"}
            place.set_title(", ".join(name[key].format(value) for key, value in held), fontsize=8)
            place.set_ylabel("tau")
            place.set_ylim(bottom=0)
        return style.finish(figure, axes, measured.artefact.title, UNITS[over])

    return draw


def _figure(number: int, over: str, held: Sequence[dict[str, int]], scale: Scale, *, rises: bool) -> Artefact:
    """Returns figure `number`: tau over one of the three, which it follows on this scale.

    `held` gives the other two for each curve.
    """
    letter, other = UNITS[over][0], np.array if scale is np.log else np.log
    words = {np.log: f"the logarithm of {letter}", np.array: letter}

    def goes_one_way(m: Measured) -> bool:
        """Returns whether every curve rises, or every curve falls, possibly with level parts."""
        each = [taus if rises else taus[::-1] for taus in _curves(m, over).values()]
        return all(taus == sorted(taus) and taus[0] < taus[-1] for taus in each)

    return Artefact(
        id=f"dualrtt.figure{number}",
        title=f"Relationship between {letter} and tau",
        source=f"{settings.SOURCE}, figure {number}",
        columns=(Column("best", "Best tau", digits=3), Column("model", "Log-linear model", digits=3)),
        rows=tuple(Row({**others, over: value}) for others in held for value in VALUES[over]),
        method=Studied(tables4_and_5.STUDY, measure=_measure, repetitions=grid.SPIKES, long=True, draw=_draw(over)),
        fitted=left_open.GRID,
        claims=(
            Claim(f"tau rises with {letter}" if rises else f"tau falls as {letter} rises", goes_one_way),
            Claim(
                f"it follows {words[scale]} more closely than {words[other]}",
                lambda m: _residual(m, over, scale) < _residual(m, over, other),
            ),
        ),
    )


FIGURE_7 = _figure(
    7,
    "rate_bps",
    [{"delay_ms": delay, "mtu_bytes": mtu} for delay in (200, 800) for mtu in (576, 1500)],
    np.log,
    rises=False,
)
FIGURE_8 = _figure(
    8,
    "delay_ms",
    [{"rate_bps": rate, "mtu_bytes": mtu} for rate in (62_400, 130_000) for mtu in (576, 1500)],
    np.log,
    rises=False,
)
FIGURE_9 = _figure(
    9,
    "mtu_bytes",
    [{"rate_bps": rate, "delay_ms": delay} for rate in (130_000, 360_000) for delay in (200, 800)],
    np.array,
    rises=True,
)
