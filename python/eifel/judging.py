"""Judges detectors against the truth: over simulated runs, whose oracle knows it, or over captures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eifel import scenario as scenarios
from eifel.captures import Analysis, analyze
from eifel.detectors import Detector, name_of, variant
from eifel.errors import BadInputError
from eifel.result import Result
from eifel.runs import Runs, check_count, run_many
from eifel.scenario import Source
from eifel.statistics import Mean, share_interval
from eifel.tables import Frame, html_table, text_table

if TYPE_CHECKING:
    import pyarrow as pa

    from eifel.plots import Figure

Judged = Source | Result | Runs | Analysis | str | Path | Mapping[str, Any]
"""What detectors are judged over."""
LEGEND = "found: spurious episodes called spurious; false: genuine ones called spurious; each with its 95 % interval"


@dataclass(frozen=True)
class Score:
    """The verdicts of one detector. An episode without a verdict counts as called genuine."""

    name: str
    spurious: int
    """The spurious episodes."""
    found: int
    """Those of them that the detector calls spurious."""
    genuine: int
    """The genuine episodes."""
    false: int
    """Those of them that it calls spurious."""
    delay_ms: float | None
    """The median time from the loss signal to the verdict on the found ones; None without any, and over captures."""

    @property
    def found_share(self) -> Mean | None:
        """The true positive rate; None without spurious episodes."""
        return share_interval(self.found, self.spurious) if self.spurious else None

    @property
    def false_share(self) -> Mean | None:
        """The false positive rate; None without genuine episodes."""
        return share_interval(self.false, self.genuine) if self.genuine else None

    def cells(self) -> list[str]:
        """Returns its row of the table, as text."""
        delay = "" if self.delay_ms is None else f"{self.delay_ms:.1f} ms"
        return [
            self.name,
            f"{self.found} of {self.spurious}",
            _percent(self.found_share),
            f"{self.false} of {self.genuine}",
            _percent(self.false_share),
            delay,
        ]


def _percent(share: Mean | None) -> str:
    if share is None:
        return ""
    low, high = share.interval or (share.mean, share.mean)
    return f"{100 * share.mean:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


@dataclass(frozen=True)
class Judgement:
    """The verdicts of detectors on the same episodes: `scores`, `episodes`, `plot()`."""

    scores: Sequence[Score]
    episodes: pa.Table = field(repr=False)
    """A row for each episode and detector: `subject`, `repetition`, `flow`, `end`, `episode`, `cause`, `truth`,
    `detector`, `verdict` (null without one), `reason`, `delay_ms`. Over captures, a row for each retransmission.
    """

    def __getitem__(self, name: str) -> Score:
        for score in self.scores:
            if score.name == name:
                return score
        raise KeyError(f"no detector {name}; there is: {', '.join(score.name for score in self.scores)}")

    def __repr__(self) -> str:
        return f"{text_table(*self._shown())}\n{LEGEND}"

    def _repr_html_(self) -> str:
        return f"{html_table(*self._shown())}<p>{escape(LEGEND)}</p>"

    def _shown(self) -> tuple[list[str], list[list[str]]]:
        return ["detector", "found", "", "false", "", "delay"], [score.cells() for score in self.scores]

    def plot(self, *, columns: int | None = None, title: str = "") -> Figure:
        """Draws each detector's shares of found and of false episodes (ROC), as a matplotlib figure."""
        from eifel.plots import roc

        return roc.figure(self.scores, columns=columns, title=title)


def judge(
    over: Judged | Sequence[Judged],
    *detectors: type[Detector] | Detector | str,
    repetitions: int = 20,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Judgement:
    """Judges detectors against the truth, while each of them only watches.

    Example: `eifel.judge("examples/spike.toml", Early(within_ms=5), Early(within_ms=50), "eifel-timestamps")`.

    `over` is one subject, or several: scenarios (each is run `repetitions` times), recorded results and
    many runs (which are run again, and give the same bytes), or captures. A detector is a class, an object
    of one with the parameters that it was made with, or the name of an algorithm of the registry.

    Over captures, the truth is the analyser's verdict on each retransmission, where it has one. The shares
    are then of retransmissions.

    Raises BadInputError if there is no detector, or captures are mixed with runs.
    """
    check_count("repetitions", repetitions, 1)
    if not detectors:
        raise BadInputError("judge: no detector; expected one or more")
    named = {_name(one): _title(one) for one in detectors}
    many = list(over) if isinstance(over, Sequence) and not isinstance(over, str) else [over]
    captures = [_is_capture(one) for one in many]
    if any(captures) and not all(captures):
        raise BadInputError("judge: captures and runs are judged by different truths; expected one kind of them")
    rows = _of_captures(many, named) if all(captures) else _of_runs(many, named, repetitions, threads, progress)
    return Judgement(_scores(rows, list(named.values())), rows)


def _name(detector: type[Detector] | Detector | str) -> str:
    if isinstance(detector, str):
        return detector
    return name_of(variant(detector) if isinstance(detector, Detector) else detector)


def _title(detector: type[Detector] | Detector | str) -> str:
    name = _name(detector)
    return name if isinstance(detector, str) else name.rpartition(":")[2].rpartition("<locals>.")[2]


def _is_capture(one: Judged) -> bool:
    if isinstance(one, Analysis):
        return True
    if isinstance(one, str) and scenarios.is_text(one):
        return False
    return isinstance(one, str | Path) and Path(one).suffix not in (".toml", ".json")


def _runs_of(many: Sequence[Any], repetitions: int) -> Iterator[tuple[Source, range]]:
    """Returns the scenario of each subject, with its repetitions."""
    for one in many:
        if isinstance(one, Result):
            yield one.source, range(one.repetition, one.repetition + 1)
        elif isinstance(one, Runs):
            for number, source in enumerate(one.scenarios):
                yield source, range(int(one.where(scenario=number)["repetition"].max()) + 1)
        else:
            yield scenarios.load(one), range(repetitions)


def _of_runs(
    many: Sequence[Any],
    named: Mapping[str, str],
    repetitions: int,
    threads: int | None,
    progress: Callable[[int, int], object] | None,
) -> pa.Table:
    import pyarrow as pa

    parts = []
    subjects = list(_runs_of(many, repetitions))
    total, before = sum(len(wanted) for _, wanted in subjects), 0
    for number, (source, wanted) in enumerate(subjects):

        def tell(done: int, _all: int, before: int = before) -> None:
            if progress is not None:
                progress(before + done, total)

        watched = scenarios.override(source, _watched(source, list(named)))
        tables = ("episodes", "verdicts")
        runs = run_many([watched], repetitions=wanted.stop, record=tables, threads=threads, progress=tell)
        parts.append(_rows(runs, number, wanted.start, named))
        before += len(wanted)
    return pa.concat_tables(parts)


def _watched(source: Source, names: Sequence[str]) -> dict[str, Any]:
    """Returns the settings by which these detectors watch each flow of a scenario."""
    settings: dict[str, Any] = {}
    common = source.settings.get("sender", {}).get("observers", [])
    settings["sender.observers"] = [*common, *(name for name in names if name not in common)]
    for number, flow in enumerate(source.settings["flow"]):
        own = flow.get("sender", {}).get("observers")
        if own is not None:
            settings[f"flow.{number}.sender.observers"] = [*own, *(name for name in names if name not in own)]
    return settings


def _rows(runs: Runs, subject: int, first: int, named: Mapping[str, str]) -> pa.Table:
    import pyarrow as pa

    episodes, verdicts = Frame(runs.tables["episodes"]), Frame(runs.tables["verdicts"])
    keys = ("repetition", "flow", "end", *(("path",) if "path" in episodes else ()), "episode")
    known = episodes.rows((episodes["truth"] != "") & (episodes["repetition"] >= first))
    place = {key: row for row, key in enumerate(zip(*(known[name].tolist() for name in keys), strict=True))}
    of: dict[str, NDArray[Any]] = {name: np.full(len(known), -1) for name in named}
    for row, (name, *key) in enumerate(
        zip(verdicts["detector"].tolist(), *(verdicts[name].tolist() for name in keys), strict=True)
    ):
        found = place.get(tuple(key))
        if name in of and found is not None and of[name][found] < 0:
            of[name][found] = row
    parts = []
    for name, title in named.items():
        rows, spoke = of[name], of[name] >= 0
        delay = np.full(len(known), np.nan)
        delay[spoke] = (verdicts["t_ns"][rows[spoke]] - known["opened_ns"][spoke]) / 1e6
        parts.append(
            pa.table(
                {
                    "subject": np.full(len(known), subject),
                    **{key: known[key] for key in ("repetition", "flow", "end", "episode", "cause", "truth")},
                    "detector": pa.array([title] * len(known), pa.string()),
                    "verdict": _said(verdicts, "verdict", rows),
                    "reason": _said(verdicts, "reason", rows),
                    "delay_ms": pa.array(delay, pa.float64(), from_pandas=True),
                }
            )
        )
    return pa.concat_tables(parts)


def _said(verdicts: Frame, column: str, rows: NDArray[Any]) -> pa.Array:
    import pyarrow as pa

    words = verdicts[column].tolist()
    return pa.array([words[row] if row >= 0 else None for row in rows.tolist()], pa.string())


def _of_captures(many: Sequence[Any], named: Mapping[str, str]) -> pa.Table:
    import pyarrow as pa

    from eifel import _engine

    _engine.watch_captures([name for name in named if ":" in name])
    try:
        analyses = [analyze(*one.files) if isinstance(one, Analysis) else analyze(one) for one in many]
    finally:
        _engine.watch_captures([])
    truths = {"spurious": "spurious", "needed": "genuine"}
    rows = []
    for number, analysis in enumerate(analyses):
        for one in analysis.report["retransmissions"]:
            if one["verdict"] not in truths:
                continue
            told = {said["detector"]: said for said in one.get("first_told", ())}
            rows += [
                {
                    "subject": number,
                    "connection": one["connection"],
                    "frame": one["frame"],
                    "cause": one["cause"],
                    "truth": truths[one["verdict"]],
                    "detector": title,
                    "verdict": _word(told.get(name)),
                    "reason": told[name]["reason"] if name in told else None,
                }
                for name, title in named.items()
            ]
    words = ("cause", "truth", "detector", "verdict", "reason")
    kinds = {"subject": pa.int64(), "connection": pa.int64(), "frame": pa.int64(), **dict.fromkeys(words, pa.string())}
    return pa.Table.from_pylist(rows, schema=pa.schema(list(kinds.items())))


def _word(said: Mapping[str, Any] | None) -> str | None:
    if said is None:
        return None
    return "spurious" if said["spurious"] else "genuine"


def _scores(rows: pa.Table, titles: Sequence[str]) -> list[Score]:
    frame = Frame(rows)
    found = []
    for title in titles:
        of = frame.where(detector=title)
        spurious = of["truth"] == "spurious"
        called = np.array([verdict == "spurious" for verdict in of["verdict"].tolist()], bool)
        delays = of["delay_ms"][spurious & called] if "delay_ms" in of else np.array([])
        delay_ms = float(np.median(delays)) if len(delays) else None
        hits, false = int((spurious & called).sum()), int((~spurious & called).sum())
        found.append(Score(title, int(spurious.sum()), hits, int((~spurious).sum()), false, delay_ms))
    return found
