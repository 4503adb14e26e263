"""Compares scenarios: one flow in each of them, run by run with the same seed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from eifel import scenario as scenarios
from eifel.errors import BadInputError
from eifel.runs import run_many
from eifel.statistics import Mean, mean_interval


@dataclass(frozen=True)
class Difference:
    """One number of a flow in all scenarios."""

    name: str
    means: Sequence[Mean]
    """The mean in each scenario."""
    differences: Sequence[Mean]
    """The difference of each scenario but the first from the first, by repetition, so that common
    chance cancels out.
    """


@dataclass(frozen=True)
class Comparison:
    """One flow in several scenarios."""

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
    """Runs scenarios with one seed, and compares one flow, by default the first.

    A repetition meets the same random spikes and losses in every scenario, so differences are taken
    by repetition.

    Example: `eifel.compare(["a.toml", "b.toml"], repetitions=50)["time_s"].differences[0].interval`.

    Raises BadInputError for scenarios with different seeds, or for a flow that one of them lacks.
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
            # A flow without requests has no times of requests.
            if not any(np.isnan(of[number]).any() for of in rows)
        ],
    )
