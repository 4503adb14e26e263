"""Compares scenarios: one flow in each of them, run by run with the same seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from eifel import scenario as scenarios
from eifel.errors import BadInputError
from eifel.recommendation import Recommendation, recommended
from eifel.runs import run_many
from eifel.statistics import Mean, mean_interval
from eifel.tables import html_table, text_table

if TYPE_CHECKING:
    from eifel.plots import Figure
    from eifel.result import Result

LEGEND = "mean ± half of its 95 % interval (difference from the first by repetition; * if 0 is outside of its interval)"


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
    values: Sequence[NDArray[np.float64]] = ()
    """The values of all repetitions in each scenario."""

    def cells(self) -> list[str]:
        """Returns the means, and behind each but the first its difference, with a star if the interval excludes 0."""
        shown = [f"{mean} ({_starred(by)})" for mean, by in zip(self.means[1:], self.differences, strict=True)]
        return [str(self.means[0]), *shown]


def _starred(difference: Mean) -> str:
    ends = difference.interval
    clear = ends is not None and not ends[0] <= 0 <= ends[1]
    return f"{'' if difference.mean < 0 else '+'}{difference}{' *' if clear else ''}"


@dataclass(frozen=True)
class Comparison:
    """One flow in several scenarios."""

    flow: str
    numbers: Sequence[Difference]
    names: Sequence[str] = ()
    """The names of the scenarios."""

    def __repr__(self) -> str:
        return f"{text_table(*self._shown())}\n{LEGEND}"

    def _repr_html_(self) -> str:
        """Returns a notebook's view: a row for each number that is not always zero."""
        return f"{html_table(*self._shown())}<p>{escape(LEGEND)}</p>"

    def _shown(self) -> tuple[list[str], list[list[str]]]:
        shown = [one for one in self.numbers if any(mean.mean for mean in one.means)]
        return [f"flow {self.flow}", *self.names], [[one.name, *one.cells()] for one in shown]

    def __getitem__(self, name: str) -> Difference:
        return next(one for one in self.numbers if one.name == name)

    def number(self, name: str | None = None) -> Difference:
        """Returns a number by its name, by default the time of the transfer.

        If all times are equal, as without an end, the default is the goodput. Raises BadInputError for an unknown name.
        """
        if name is None:
            times = self["time_s"]
            return times if len({float(one) for values in times.values for one in values}) > 1 else self["goodput_bps"]
        names = [one.name for one in self.numbers]
        if name not in names:
            raise BadInputError(f"no number {name}; there is: {', '.join(names)}")
        return self[name]

    def recommendation(self) -> Recommendation:
        """Returns the scenario whose flow delivers most (goodput), and how much less it delivers in each other.

        Raises BadInputError for scenarios of one name, for a single repetition, or if nothing is delivered.
        """
        if len({*self.names}) < len(self.names):
            raise BadInputError("a recommendation names the scenarios: expected names of their own, as a mapping has")
        return recommended(dict(zip(self.names, [one.tolist() for one in self["goodput_bps"].values], strict=True)))

    def plot(
        self,
        panels: Sequence[str] = ("cdf", "box", "differences"),
        *,
        number: str | None = None,
        runs: Mapping[str, Result] | None = None,
        columns: int | None = None,
        title: str = "",
    ) -> Figure:
        """Draws panels above each other, as a matplotlib figure (`eifel.plots.compared.figure`)."""
        from eifel.plots import compared

        return compared.figure(self, panels, number=number, runs=runs, columns=columns, title=title)

    def median_repetition(self, number: Difference) -> int:
        """Returns the first repetition whose value in the first scenario is nearest to the median."""
        values = number.values[0]
        return int(np.argmin(np.abs(values - np.median(values))))


def compare(
    many: Sequence[scenarios.ScenarioLike | scenarios.Source] | Mapping[str, scenarios.ScenarioLike | scenarios.Source],
    *,
    repetitions: int = 20,
    flow: str | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Comparison:
    """Runs scenarios with one seed, and compares one flow, by default the first.

    A repetition meets the same random spikes and losses in every scenario, so differences are taken
    by repetition.

    Example: `eifel.compare({"none": "a.toml", "eifel": "b.toml"}, repetitions=50)["time_s"].differences[0].interval`.

    `many` may map names, under which results are shown, to the scenarios.

    Raises BadInputError for scenarios with different seeds, or for a flow that one of them lacks.
    """
    sources = [scenarios.load(scenario) for scenario in (many.values() if isinstance(many, Mapping) else many)]
    titles = list(many) if isinstance(many, Mapping) else [source.origin for source in sources]
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
                [of[number].astype(float) for of in rows],
            )
            for number in runs.numbers
            # A flow without requests has no times of requests.
            if not any(np.isnan(of[number]).any() for of in rows)
        ],
        titles,
    )
