"""Runs scenarios: one with everything recorded, or many repetitions on all cores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eifel import detectors
from eifel import scenario as scenarios
from eifel.batches import SUMMARY, done, planned
from eifel.errors import BadInputError
from eifel.result import TABLES, Result
from eifel.statistics import Mean, mean_interval
from eifel.tables import Frame, html_table, text_table

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

SHOWN = ("time_s", "goodput_bps", "retransmissions", "spurious_retransmissions", "timeouts", "spurious_timeouts")
"""The numbers that `repr` of many runs shows."""
LEGEND = "mean ± half of its 95 % interval"


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

    def __init__(
        self,
        columns: Mapping[str, NDArray[Any]],
        scenarios_run: Sequence[scenarios.Source],
        *,
        names: Sequence[str] = (),
        tables: Mapping[str, pa.Table] | None = None,
    ) -> None:
        self.columns = dict(columns)
        self.scenarios = list(scenarios_run)
        self.names = list(names)
        """The names of the scenarios; empty if they were given without."""
        self.tables = dict(tables or {})
        """The recorded tables, with the columns `scenario` and `repetition` in front."""

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    @property
    def numbers(self) -> list[str]:
        """The names of the result columns."""
        return [name for name in self.columns if name not in ("scenario", "repetition", "flow")]

    def where(self, scenario: int | str | None = None, flow: int | None = None) -> Frame:
        """Returns the rows of one scenario (by number, or by name), one flow (by number), or both."""
        if isinstance(scenario, str):
            if scenario not in self.names:
                raise BadInputError(f"no scenario {scenario}; there is: {', '.join(self.names) or 'none with a name'}")
            scenario = self.names.index(scenario)
        wanted = {"scenario": scenario, "flow": flow}
        return Frame(self.columns).where(**{name: value for name, value in wanted.items() if value is not None})

    def __repr__(self) -> str:
        scenarios = "1 scenario" if len(self.scenarios) == 1 else f"{len(self.scenarios)} scenarios"
        many = f"Runs of {scenarios}, {len(self)} rows, {len(self.numbers)} numbers"
        return f"{many}; of some: {LEGEND}\n{text_table(*self._shown())}"

    def _repr_html_(self) -> str:
        """Returns a notebook's view: the mean of each number that is not always zero, with a row per flow."""
        there = [name for name in self.numbers if np.nan_to_num(self.columns[name]).any()]
        return f"{html_table(*self._shown(there))}<p>{LEGEND}</p>"

    def _shown(self, names: Sequence[str] = SHOWN) -> tuple[list[str], list[list[str]]]:
        names = [name for name in names if name in self.columns]
        rows = []
        for number, flow in sorted(set(zip(self["scenario"].tolist(), self["flow"].tolist(), strict=True))):
            of = self.where(scenario=number, flow=flow)
            title = self.names[number] if self.names else str(number)
            means = (str(mean_interval(of[name])) if _is_number(of[name]) else "" for name in names)
            rows.append([title, str(flow), *means])
        return ["scenario", "flow", *names], rows

    def table(self) -> pa.Table:
        """Returns all columns, with the names of the scenarios in front if there are any."""
        import pyarrow as pa

        named = {"name": np.array(self.names)[self["scenario"]]} if self.names else {}
        return pa.table({**named, **self.columns})

    def to_pandas(self) -> pd.DataFrame:
        found: pd.DataFrame = self.table().to_pandas()
        return found

    def to_polars(self) -> pl.DataFrame:
        import polars as pl

        found = pl.from_arrow(self.table())
        assert isinstance(found, pl.DataFrame)
        return found


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
    many: Sequence[scenarios.ScenarioLike | scenarios.Source] | Mapping[str, scenarios.ScenarioLike | scenarios.Source],
    *,
    repetitions: int = 1,
    settings: Mapping[str, Any] | None = None,
    record: Sequence[str] = (),
    out: str | Path | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Runs:
    """Runs every repetition of every scenario on `threads` threads (all cores if None).

    Example: `eifel.run_many({"a": "a.toml", "b": "b.toml"}, repetitions=50, record=["episodes"]).tables["episodes"]`.

    `many` may map names, under which results are shown, to the scenarios. `settings` are keys changed in all
    of them, as in `run`. `record` names tables to keep of each run. With a folder `out`, finished runs are
    stored there, and the same call goes on after them. The result does not depend on the number of threads.
    Scenarios with a detector of Python run in processes, where the system has fork. `progress(done, total)` is
    called a few times per second.

    Raises RunError for the first run that fails, and BadInputError for a folder that holds anything else.
    """
    from eifel import _engine

    check_count("repetitions", repetitions, 1)
    if threads is not None:
        check_count("threads", threads, 1)
    names = list(many) if isinstance(many, Mapping) else []
    loaded = map(scenarios.load, many.values() if isinstance(many, Mapping) else many)
    sources = [scenarios.override(source, settings or {}) for source in loaded]
    if record or out is not None or any(detectors.names_in(source.text) for source in sources):
        batches = planned(len(sources), repetitions, record)
        kept = done(batches, sources, out=None if out is None else Path(out), threads=threads, progress=progress)
        summary = Frame(kept.pop(SUMMARY))
        return Runs({name: summary[name] for name in summary}, sources, names=names, tables=kept)
    pairs = [(source.text, source.origin) for source in sources]
    ranges = [(number, 0, repetitions) for number in range(len(sources))]
    columns, failures = _engine.run_many(pairs, ranges, threads, progress)
    for number, repetition, why in failures:
        raise _engine.RunError(f"{sources[number].origin}: repetition {repetition}: {why}")
    return Runs({name: np.asarray(values) for name, values in columns.items()}, sources, names=names)


def check_count(name: str, count: int, least: int) -> None:
    """Raises BadInputError for a count outside the engine's range."""
    if not least <= count < 2**32:
        raise BadInputError(f"{name}: {count} is not allowed; allowed: a whole number, {least} to {2**32 - 1}")


def with_seed(settings: Mapping[str, Any] | None, seed: int | None) -> dict[str, Any]:
    """Adds the seed to the settings, unless it is None."""
    return {**(settings or {}), **({} if seed is None else {"seed": seed})}
