"""Common parts of the figures of sections 5.3 and 5.4: a run in steady state, drawn alone or beside the model."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from eifel.model import Prediction
from eifel.papers.artefact import Artefact, Claim, Column, Draw, Measured, Recorded, Row, Setting, counts
from eifel.papers.thesis import timing, transfers
from eifel.plots.prediction import prediction_figure
from eifel.plots.timed import timed_figure

Model = tuple[int, Mapping[str, Any]]
"""The largest load and the timer of a prediction."""
COLUMNS = (
    *counts(
        "segments_sent", "retransmissions", "timeouts", "spurious_timeouts", "genuine_timeouts", "fast_retransmits"
    ),
    Column("goodput_bps", "Goodput, bit/s", digits=0),
)


@cache
def _predicted(max_load: int, timer: tuple[tuple[str, Any], ...], sampling: str) -> Prediction:
    return transfers.model(max_load, sampling=sampling).samples(6).predict(dict(timer))


def prediction(max_load: int, timer: Mapping[str, Any], sampling: str = "every") -> Prediction:
    """Returns the model's prediction of a timer over six load cycles. Cached, since every claim of a figure uses it."""
    return _predicted(max_load, tuple(timer.items()), sampling)


def timed(measured: Measured, run: str = "simulated") -> timing.Timed:
    """Returns the samples of a row's run."""
    return timing.timed(measured.result(run=run))


def of(question: Callable[[timing.Timed], bool], run: str = "simulated") -> Callable[[Measured], bool]:
    """Turns a predicate on a run's samples into a claim's check."""
    return lambda measured: question(timed(measured, run))


def draw_model(max_load: int, timers: Mapping[str, Mapping[str, Any]], *, zoom: bool = False) -> Draw:
    """Draws the model's prediction of each timer, by its name in the legend, over three load cycles."""
    return lambda measured: prediction_figure(
        [prediction(max_load, timer) for timer in timers.values()],
        title=measured.artefact.title,
        names=list(timers),
        zoom=zoom,
    )


def draw_run(name: str, run: str = "simulated", model: Model | None = None, **how: Any) -> Draw:
    """Draws a run with the name of its RTO, and beside the `model` if there is one. `how` is passed to the drawing."""
    return lambda measured: timed_figure(
        timed(measured, run),
        name,
        title=measured.artefact.title,
        beside=agreement(model, measured) if model else None,
        **how,
    )


def agreement(model: Model, measured: Measured) -> timing.Agreement:
    """Compares the first run with the model's prediction."""
    return timing.agreement(prediction(*model), timed(measured))


def agrees(model: Model) -> tuple[Claim, Claim]:
    """Claims that the first run is as predicted."""
    return (
        Claim(
            "measured RTO / RTT is the model's within 5 % in the mean",
            lambda m: abs(agreement(model, m).mean_ratio - 1) < 0.05,
        ),
        Claim(
            "and nowhere in the load cycle more than 10 % away from it",
            lambda m: agreement(model, m).largest_deviation < 0.10,
        ),
    )


def figure(
    number: int,
    title: str,
    runs: Mapping[str, Mapping[str, Any]],
    *claims: Claim,
    draw: Draw,
    chosen: tuple[Setting, ...] = transfers.LEFT_OPEN,
) -> Artefact:
    return Artefact(
        id=f"thesis.figure5_{number}",
        title=title,
        source=f"{transfers.SOURCE}, figure 5-{number}",
        columns=COLUMNS,
        rows=tuple(Row({"run": name}, scenario) for name, scenario in runs.items()),
        claims=claims,
        fitted=chosen,
        method=Recorded(draw, chart=False),
    )
