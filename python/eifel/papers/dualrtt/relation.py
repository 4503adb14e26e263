"""Common parts of figures 7 to 9: the best tau over one of B, D and M, for four values of the other two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eifel.papers.artefact import Artefact, Claim, Column, Row, Studied
from eifel.papers.dualrtt import chosen, fit, grid, settings, table5
from eifel.statistics import Mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from eifel.papers.measured import Measured
    from eifel.runs import Runs

UNITS = {"rate_bps": "B, kbit/s", "delay_ms": "D, ms", "mtu_bytes": "M, bytes"}


def _measure(artefact: Artefact, found: Runs) -> list[dict[str, Mean]]:
    best = fit.best(found)
    model = fit.fitted(best, intercept=True)
    rows = []
    for row in artefact.rows:
        path = grid.Path(int(row.keys["rate_bps"]), int(row.keys["delay_ms"]), int(row.keys["mtu_bytes"]))
        values = {"model": Mean(model.tau(path), None, 1)}
        rows.append(values | ({"best": Mean(best[path], None, 1)} if path in best else {}))
    return rows


def curves(measured: Measured, over: str, column: str = "best") -> dict[tuple[tuple[str, Any], ...], list[float]]:
    """Returns the values of each curve along its axis, by its fixed keys. Missing values are left out."""
    found: dict[tuple[tuple[str, Any], ...], list[float]] = {}
    for row in measured.rows:
        held = tuple((name, value) for name, value in row.row.keys.items() if name != over)
        found.setdefault(held, [])
        if column in row.means:
            found[held].append(row.means[column].mean)
    return found


def falls(over: str) -> Callable[[Measured], bool]:
    """Returns a claim's check: whether every curve falls, possibly with level parts."""
    return lambda m: all(taus == sorted(taus, reverse=True) and taus[0] > taus[-1] for taus in curves(m, over).values())


def rises(over: str) -> Callable[[Measured], bool]:
    """Returns a claim's check: whether every curve rises, possibly with level parts."""
    return lambda m: all(taus == sorted(taus) and taus[0] < taus[-1] for taus in curves(m, over).values())


ROUNDED = 1e-24
"""A relative residual that rounding may leave, which differs between processors."""


def residual(m: Measured, over: str, scale: Callable[[Any], Any]) -> float:
    """Returns the residual sum of squares of a straight line through each curve, over the scaled axis.

    Raises LookupError if a curve has no value.
    """
    values = {"rate_bps": grid.RATES_BPS, "delay_ms": grid.DELAYS_MS, "mtu_bytes": grid.MTUS_BYTES}[over]
    left = 0.0
    for held, taus in curves(m, over).items():
        if not taus:
            raise LookupError(f"no best tau with {dict(held)}")
        # Curves lack points at their slow end only: the first by rate and delay, the last by MTU.
        at = values[-len(taus) :] if over != "mtu_bytes" else values[: len(taus)]
        x = scale(np.array(at, np.float64))
        squares = float(np.sum((np.polyval(np.polyfit(x, taus, 1), x) - taus) ** 2))
        left += squares if squares > ROUNDED * float(np.sum(np.square(taus))) else 0.0
    return left


def _draw(over: str) -> Callable[[Measured], Figure]:
    def draw(measured: Measured) -> Figure:
        from eifel.plots import style

        figure, axes = style.new_figure(4, (5.6, 7.2))
        scale = 1000 if over == "rate_bps" else 1
        for place, held in zip(axes, curves(measured, over), strict=True):
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


def figure(
    number: int, letter: str, over: str, held: Sequence[dict[str, int]], *claims: Claim, known: tuple[str, ...] = ()
) -> Artefact:
    """Returns figure `number`: tau over one of the three. `held` gives the other two for each curve."""
    values = {"rate_bps": grid.RATES_BPS, "delay_ms": grid.DELAYS_MS, "mtu_bytes": grid.MTUS_BYTES}[over]
    return Artefact(
        id=f"dualrtt.figure{number}",
        title=f"Relationship between {letter} and tau",
        source=f"{settings.SOURCE}, figure {number}",
        columns=(Column("best", "Best tau", digits=3), Column("model", "Log-linear model", digits=3)),
        rows=tuple(Row({**others, over: value}) for others in held for value in values),
        method=Studied(table5.STUDY, measure=_measure, repetitions=grid.SPIKES, long=True, draw=_draw(over)),
        fitted=chosen.GRID,
        claims=claims,
        known=known,
    )
