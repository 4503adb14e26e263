"""The distance of a setting of tables 1-4's open values from the printed values, by row."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eifel.papers.responding import settings
from eifel.papers.responding.left_open import Open
from eifel.runs import run_many

TABLES = ("table1", "table2", "table3", "table4")
FITTED_TO = ("table1", "table2")
MEASURED = ("time_s", "retransmissions", "spurious_rtos", "genuine_rtos")
NUMBERS = {"spurious_rtos": "spurious_timeouts", "genuine_rtos": "genuine_timeouts"}

ROWS = tuple((table, row) for table in TABLES for row in settings.rows(table))
IN_FIT = np.array([table in FITTED_TO for table, _ in ROWS])


def means(fit: Open, repetitions: int, seed: int, threads: int | None = None) -> NDArray[np.float64]:
    """Returns the means of a setting: a row for each row of tables 1-4, and a column for each of `MEASURED`."""
    scenarios = [{**settings.row(row.keys, congested=table != "table1", fit=fit), "seed": seed} for table, row in ROWS]
    # Rows of different tables may share a scenario.
    distinct = [scenarios.index(scenario) for scenario in scenarios]
    first = sorted(set(distinct))
    runs = run_many([scenarios[number] for number in first], repetitions=repetitions, threads=threads)
    found = []
    for number in distinct:
        flow = runs.where(scenario=first.index(number), flow=0)
        found.append([float(flow[NUMBERS.get(name, name)].mean()) for name in MEASURED])
    return np.array(found)


PRINTED = np.array([[row.published[name] for name in MEASURED] for _, row in ROWS])


def distances(found: NDArray[np.float64], rows: NDArray[np.bool_]) -> tuple[float, float, float]:
    """Returns mean distances of some rows: |log| of time, |log| of retransmissions, timeouts in tolerances."""
    here, there = found[rows], PRINTED[rows]
    logs = np.abs(np.log((here[:, :2] + [0, 1]) / (there[:, :2] + [0, 1])))
    counts = np.minimum(np.abs(here[:, 2:] - there[:, 2:]) / np.maximum(0.15 * there[:, 2:], 0.3), 5)
    return float(logs[:, 0].mean()), float(logs[:, 1].mean()), float(counts.mean())


def within(found: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Returns whether each value is within the tolerance of its column, by row."""
    columns = {column.name: column for column in settings.COLUMNS}
    return np.array(
        [
            [bool(columns[name].agrees(there, here)) for name, here, there in zip(MEASURED, one, other, strict=True)]
            for one, other in zip(found, PRINTED, strict=True)
        ]
    )


def best(settings_found: Sequence[tuple[Open, NDArray[np.float64]]]) -> list[int]:
    """Returns the settings on the Pareto front: no other is better in one distance and no worse in the others.

    Only the rows of the fit count.
    """
    points = np.array([distances(found, IN_FIT) for _, found in settings_found])
    beaten = [bool(((points <= point).all(axis=1) & (points < point).any(axis=1)).any()) for point in points]
    return [number for number, lost in enumerate(beaten) if not lost]


def ranked(settings_found: Sequence[tuple[Open, NDArray[np.float64]]]) -> list[int]:
    """Returns the settings ordered by values within tolerance on the rows of the fit, and then by distance."""
    scores = [(-int(within(found)[IN_FIT].sum()), sum(distances(found, IN_FIT))) for _, found in settings_found]
    return sorted(range(len(scores)), key=scores.__getitem__)
