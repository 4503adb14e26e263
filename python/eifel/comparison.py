"""Scenarios side by side: the same flow in each, and what differs between runs of the same seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from eifel import scenario as scenarios
from eifel.errors import BadInputError
from eifel.runs import run_many
from eifel.statistics import Mean, mean_interval


@dataclass(frozen=True)
class Difference:
    """One number of a flow."""

    name: str
    means: Sequence[Mean]
    """In each scenario."""
    differences: Sequence[Mean]
    """Of each scenario but the first from the first, repetition by repetition: what chance does to both cancels out."""


@dataclass(frozen=True)
class Comparison:
    """A flow in several scenarios."""

    flow: str
    numbers: Sequence[Difference]

    def __getitem__(self, name: str) -> Difference:
        return next(one for one in self.numbers if one.name == name)


def compare(
    many: Sequence[scenarios.ScenarioLike | scenarios.Source],
    *,
    repetitions: int = 20,
    flow: str | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Comparison:
    """Runs scenarios that have the same seed, and compares one flow, the first unless it is named.

    Repetitions meet the same random spikes and losses in every scenario, so differences are taken one by one.
    Example: `eifel.compare(["a.toml", "b.toml"], repetitions=50)["time_s"].differences[0].interval`.

    Raises BadInputError for scenarios of different seeds, or a flow that one of them does not have.
    """
    sources = [scenarios.load(scenario) for scenario in many]
    if len({source.seed for source in sources}) > 1:
        raise BadInputError("compare: scenarios of different seeds meet different chance; expected one seed")
    name = sources[0].flows[0].name if flow is None else flow
    places = []
    for source in sources:
        names = [one.name for one in source.flows]
        if name not in names:
            raise BadInputError(f"{source.origin}: no flow {name}; there is: {', '.join(names)}")
        places.append(names.index(name))
    runs = run_many(sources, repetitions=repetitions, threads=threads, progress=progress)
    rows = [runs.where(scenario=number, flow=place) for number, place in enumerate(places)]
    return Comparison(
        name,
        [
            Difference(
                number,
                [mean_interval(of[number]) for of in rows],
                [mean_interval(of[number].astype(float) - rows[0][number]) for of in rows[1:]],
            )
            for number in runs.numbers
            # A flow that sends no requests has no times of them.
            if not any(np.isnan(of[number]).any() for of in rows)
        ],
    )
