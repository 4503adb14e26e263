"""Common parts of all figures of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eifel.papers.artefact import Artefact, Claim, Column, Recorded, Row, Setting
from eifel.papers.measured import Measured
from eifel.papers.responding import chosen, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.figure import Figure

COLUMNS = (
    Column("time_s", "Time, s"),
    Column("segments_sent", "Segments sent", digits=0),
    Column("retransmissions", "Retransmissions", digits=0),
    Column("spurious_retransmissions", "Spurious retransmissions", digits=0),
    Column("timeouts", "Timeouts", digits=0),
    Column("spurious_timeouts", "Spurious timeouts", digits=0),
    Column("genuine_timeouts", "Genuine timeouts", digits=0),
    Column("fast_retransmits", "Fast retransmits", digits=0),
)


def time_sequence(measured: Measured) -> Figure:
    """Draws the first run like the paper: segments, retransmissions and ACKs over time."""
    from eifel.plots import time_sequence_figure

    return time_sequence_figure(measured.result(), title=measured.artefact.title)


def timer(measured: Measured) -> Figure:
    """Draws the first run's RTO and its samples of the round trip."""
    from eifel.plots import timer_figure

    return timer_figure(measured.result(), title=measured.artefact.title)


def overview(measured: Measured) -> Figure:
    """Draws the first run's segments, window and timer above each other."""
    from eifel.plots import overview as draw

    return draw(measured.result(), title=measured.artefact.title)


def figure(
    name: str,
    title: str,
    scenario: Mapping[str, Any],
    *claims: Claim,
    draw: Callable[[Measured], Figure] = time_sequence,
    beside: Mapping[str, Mapping[str, Any]] | None = None,
    seed: int = settings.SEED,
    known: tuple[str, ...] = (),
) -> Artefact:
    """Returns a figure of one run. `beside` names the scenarios of further runs for a claim's comparison."""
    runs = {"drawn": scenario, **(beside or {})}
    return Artefact(
        id=f"responding.figure{name}",
        title=title,
        source=f"{settings.SOURCE}, figure {name[0]}" + (f" ({name[1:]})" if name[1:] else ""),
        columns=COLUMNS,
        rows=tuple(Row({"run": run}, made) for run, made in runs.items()),
        seed=seed,
        claims=claims,
        known=known,
        fitted=_open_settings(scenario, seed),
        method=Recorded(draw),
    )


def _open_settings(scenario: Mapping[str, Any], seed: int) -> tuple[Setting, ...]:
    if "dumbbell" not in scenario:
        return chosen.of(scenario)
    # One of the tables' own transfers, with their fitted settings. The paper does not say which one
    # it drew.
    drawn = Setting("transfer", f"the first of seed {seed}", "the paper does not say which transfer it drew", "chosen")
    return (drawn, *settings.FITTED)
