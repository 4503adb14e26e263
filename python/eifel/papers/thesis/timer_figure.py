"""Common parts of the figures of sections 5.3 and 5.4: a run in steady state, drawn alone or beside the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from eifel.papers.artefact import Artefact, Claim, Column, Recorded, Row, Setting
from eifel.papers.measured import Measured
from eifel.papers.thesis import timing, transfers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from eifel.model import Prediction

COLUMNS = (
    Column("segments_sent", "Segments sent", digits=0),
    Column("retransmissions", "Retransmissions", digits=0),
    Column("timeouts", "Timeouts", digits=0),
    Column("spurious_timeouts", "Spurious timeouts", digits=0),
    Column("genuine_timeouts", "Genuine timeouts", digits=0),
    Column("fast_retransmits", "Fast retransmits", digits=0),
    Column("goodput_bps", "Goodput, bit/s", digits=0),
)


@cache
def predicted(max_load: int, timer: tuple[tuple[str, Any], ...], sampling: str = "every") -> Prediction:
    """Returns the model's prediction. Cached, since every claim of a figure uses it."""
    return transfers.model(max_load, sampling=sampling).samples(6).predict(dict(timer))


def prediction(max_load: int, timer: Mapping[str, Any], sampling: str = "every") -> Prediction:
    """Returns the model's prediction of a timer over six load cycles."""
    return predicted(max_load, tuple(timer.items()), sampling)


def timed(measured: Measured, run: str = "simulated") -> timing.Timed:
    """Returns the samples of a row's run."""
    return timing.timed(measured.result(run=run))


def of(question: Callable[[timing.Timed], bool], run: str = "simulated") -> Callable[[Measured], bool]:
    """Turns a predicate on a run's samples into a claim's check."""
    return lambda measured: question(timed(measured, run))


def figure(
    number: int,
    title: str,
    runs: Mapping[str, Mapping[str, Any]],
    *claims: Claim,
    draw: Callable[[Measured], Figure],
    chosen: tuple[Setting, ...] = transfers.CHOSEN,
    known: tuple[str, ...] = (),
) -> Artefact:
    """Returns figure 5-`number` with the simulated `runs`."""
    return Artefact(
        id=f"thesis.figure5_{number}",
        title=title,
        source=f"{transfers.SOURCE}, figure 5-{number}",
        columns=COLUMNS,
        rows=tuple(Row({"run": name}, scenario) for name, scenario in runs.items()),
        claims=claims,
        fitted=chosen,
        known=known,
        method=Recorded(draw, chart=False),
    )
