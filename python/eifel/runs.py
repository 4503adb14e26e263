"""Runs scenarios: one with everything recorded, or many repetitions on all cores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from eifel import scenario as scenarios
from eifel.errors import BadInputError
from eifel.result import TABLES, Result
from eifel.statistics import Mean, mean_interval
from eifel.tables import Frame

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray


def run(
    scenario: scenarios.ScenarioLike | scenarios.Source,
    *,
    repetition: int = 0,
    seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
    record: Sequence[str] = TABLES,
) -> Result:
    """Runs one repetition of a scenario: a path to a TOML file, TOML text, or an equivalent dict.

    Example: `eifel.run("examples/spike.toml", settings={"flow.main.sender.detect": "none"}).summary["main"]`.

    `settings` sets other values at keys, like `--set`. `record` names the tables to keep; `()` is
    fastest. Raises ScenarioError (a ValueError) if the scenario is refused. Its message is one line
    with the place and the allowed values.
    """
    from eifel import _engine

    check_count("repetition", repetition, 0)
    source = scenarios.override(scenarios.load(scenario), with_seed(settings, seed))
    return Result.from_engine(source, repetition, _engine.run(source.text, source.origin, repetition, list(record)))


class Runs:
    """The summaries of many runs: `runs["time_s"]` is a NumPy column with a row per flow of a run.

    Example: `eifel.run_many(["examples/spike.toml"], repetitions=100).where(flow=0)["goodput_bps"].mean()`.

    Rows are ordered by `scenario` (its number in the given list), `repetition` and `flow` (its
    number in the scenario), whichever run ended first.
    """

    def __init__(self, columns: Mapping[str, NDArray[Any]], scenarios_run: Sequence[scenarios.Source]) -> None:
        self.columns = dict(columns)
        self.scenarios = list(scenarios_run)

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    @property
    def numbers(self) -> list[str]:
        """The names of the result columns."""
        return [name for name in self.columns if name not in ("scenario", "repetition", "flow")]

    def where(self, scenario: int | None = None, flow: int | None = None) -> Frame:
        """Returns the rows of one scenario, one flow, or both, by number."""
        wanted = {"scenario": scenario, "flow": flow}
        return Frame(self.columns).where(**{name: value for name, value in wanted.items() if value is not None})

    def __repr__(self) -> str:
        return f"Runs of {len(self.scenarios)} scenarios, {len(self)} rows: {', '.join(self.columns)}"

    def _repr_html_(self) -> str:
        """Returns a notebook's view: the mean of each number that is not always zero, with a row per flow."""
        shown = [name for name in self.numbers if np.nan_to_num(self.columns[name]).any()]
        head = "".join(f"<th>{escape(name)}</th>" for name in ("scenario", "flow", *shown))
        rows = []
        for number, flow in sorted(set(zip(self["scenario"].tolist(), self["flow"].tolist(), strict=True))):
            of = self.where(scenario=number, flow=flow)
            cells = [
                str(number),
                str(flow),
                *(f"{np.mean(of[name]):.6g}" if _is_number(of[name]) else "" for name in shown),
            ]
            rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"

    def table(self) -> pa.Table:
        import pyarrow as pa

        return pa.table(self.columns)

    def to_pandas(self) -> pd.DataFrame:
        found: pd.DataFrame = self.table().to_pandas()
        return found

    def to_polars(self) -> pl.DataFrame:
        import polars as pl

        return pl.DataFrame(self.columns)


def means_of_flows(runs: Runs, scenario: int = 0) -> list[dict[str, Mean]]:
    rows = runs.where(scenario=scenario)
    flows = [rows.where(flow=number) for number in range(int(rows["flow"].max()) + 1)]
    return [{name: mean_interval(flow[name]) for name in runs.numbers if _is_there(flow, name)} for flow in flows]


def _is_there(flow: Frame, name: str) -> bool:
    """Returns whether a flow has a number. Without an answered request it has no times and no count of requests."""
    return _is_number(flow[name]) and (name != "requests" or bool(flow[name].any()))


def _is_number(values: NDArray[Any]) -> bool:
    """Returns whether a column has numbers. Flows without requests have none for requests."""
    return not np.isnan(values).any()


def run_many(
    many: Sequence[scenarios.ScenarioLike | scenarios.Source],
    *,
    repetitions: int = 1,
    settings: Mapping[str, Any] | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Runs:
    """Runs every repetition of every scenario on `threads` threads (all cores if None).

    Example: `eifel.run_many(["a.toml", "b.toml"], repetitions=50).to_pandas()`.

    `settings` are keys changed in all of them, as in `run`. The result does not depend on the number of
    threads. `progress(done, total)` is called a few times per second.
    """
    from eifel import _engine

    check_count("repetitions", repetitions, 1)
    if threads is not None:
        check_count("threads", threads, 1)
    sources = [scenarios.override(scenarios.load(scenario), settings or {}) for scenario in many]
    pairs = [(source.text, source.origin) for source in sources]
    ranges = [(number, 0, repetitions) for number in range(len(sources))]
    columns, failures = _engine.run_many(pairs, ranges, threads, progress)
    for number, repetition, why in failures:
        raise _engine.RunError(f"{sources[number].origin}: repetition {repetition}: {why}")
    return Runs({name: np.asarray(values) for name, values in columns.items()}, sources)


def check_count(name: str, count: int, least: int) -> None:
    """Raises BadInputError for a count outside the engine's range."""
    if not least <= count < 2**32:
        raise BadInputError(f"{name}: {count} is not allowed; allowed: a whole number, {least} to {2**32 - 1}")


def with_seed(settings: Mapping[str, Any] | None, seed: int | None) -> dict[str, Any]:
    """Adds the seed to the settings, unless it is None."""
    return {**(settings or {}), **({} if seed is None else {"seed": seed})}
