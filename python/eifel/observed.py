"""What only recorded runs show: each detector's verdict on each episode, and queueing delays."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.batches import each
from eifel.model.spurious_timeout import LEAST_WINDOW, SpuriousTimeout
from eifel.result import Result
from eifel.runs import run
from eifel.scenario import Source
from eifel.statistics import Mean, mean_interval

TABLES = ("episodes", "verdicts", "transmissions", "acks")
"""The recorded tables that observations are made of."""
QUEUED = 1.1
"""From this ratio of SRTT to the shortest round trip on, the bottleneck counts as full."""


@dataclass(frozen=True)
class Detector:
    """One detector's verdicts on a flow's episodes, judged by the oracle. Undecided episodes count too."""

    flow: str
    name: str
    right: int
    """Spurious episodes called spurious, and genuine ones called genuine."""
    wrong: int
    """Spurious episodes called genuine, and genuine ones called spurious."""
    missed: int
    """Spurious episodes without a verdict."""
    silent: int
    """Genuine episodes without a verdict."""
    delay_ms: float | None
    """The median time from the loss signal to the verdict "spurious" on spurious episodes; None without any."""


@dataclass(frozen=True)
class Observed:
    """Observations over all repetitions."""

    detectors: Sequence[Detector]
    queueing_ms: Sequence[Mapping[str, Mean] | None]
    """By flow: `mean`, `p95` and `p99` of packet delay beyond the fastest packet's. None without packets."""
    timeouts: Sequence[SpuriousTimeout | None] = ()
    """By flow: the path and window that its spurious timeouts met, in the mean. None without any."""
    flows: Mapping[int, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """By repetition: the summary of each flow."""


def observe(
    source: Source,
    *,
    repetitions: range,
    known: Sequence[Result] = (),
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Observed:
    """Runs these repetitions of a scenario, but for those whose results are `known`, and returns the observations.

    Known results have the tables of `TABLES`.
    """
    seen = {result.repetition: _seen_in(result) for result in known}
    missing = [repetition for repetition in repetitions if repetition not in seen]

    def advance(done: int) -> None:
        if progress is not None:
            progress(len(repetitions) - len(missing) + done, len(repetitions))

    seen.update(zip(missing, each(_seen, source, missing, threads=threads, progress=advance), strict=True))
    every = [seen[repetition] for repetition in repetitions]
    said: dict[tuple[str, str], list[_Said]] = {}
    for of_detector in (said_here for one in every for said_here in one.said):
        said.setdefault((of_detector.flow, of_detector.name), []).append(of_detector)
    return Observed(
        [_all(of) for of in said.values()],
        [_means(flow) for flow in zip(*(one.queueing_ms for one in every), strict=True)],
        [_model([one for part in flow for one in part]) for flow in zip(*(one.timeouts for one in every), strict=True)],
        {repetition: one.flows for repetition, one in zip(repetitions, every, strict=True)},
    )


@dataclass(frozen=True)
class _Seen:
    """The observations of one run. All but `said` are by flow."""

    flows: Sequence[Mapping[str, Any]]
    said: "Sequence[_Said]"
    queueing_ms: Sequence[dict[str, float] | None]
    timeouts: "Sequence[Sequence[_Timeout]]"


def _seen(source: Source, repetition: int) -> _Seen:
    return _seen_in(run(source, repetition=repetition, record=TABLES))


def _seen_in(result: Result) -> _Seen:
    flows = range(len(result.flows))
    return _Seen(
        result.flows,
        [one for flow in flows for one in _said(result, flow)],
        [_queueing_ms(result, flow) for flow in flows],
        [_timeouts(result, flow) for flow in flows],
    )


@dataclass(frozen=True)
class _Timeout:
    """A spurious timeout: the flight in segments, SRTT, and the shortest round trip of the run."""

    window: float
    srtt_ms: float
    shortest_ms: float


def _timeouts(result: Result, flow: int) -> list[_Timeout]:
    episodes, sent = result.of("episodes", flow), result.of("transmissions", flow).where(kind="new")
    if "path" in episodes or not len(sent):
        # An association counts chunks, and has several paths.
        return []
    of = episodes.where(cause="timeout", truth="spurious")
    echoed = result.of("acks", flow)["srtt_ns"]
    shortest = echoed[echoed > 0]
    segments = (of["recovery_point"] - of["start"]) / sent["len"].max()
    found = zip(segments.tolist(), of["saved_srtt_ns"].tolist(), strict=True)
    return [_Timeout(window, ns / 1e6, float(shortest.min()) / 1e6) for window, ns in found if ns > 0]


def _model(timeouts: Sequence[_Timeout]) -> SpuriousTimeout | None:
    """Returns the mean of these timeouts, as the model takes it. Queueing shows that the bottleneck was full."""
    window = round(sum(one.window for one in timeouts) / len(timeouts)) if timeouts else 0
    if window < LEAST_WINDOW:
        return None
    srtt_ms = sum(one.srtt_ms for one in timeouts) / len(timeouts)
    shortest_ms = min(one.shortest_ms for one in timeouts)
    segment_ms = srtt_ms / window if srtt_ms > QUEUED * shortest_ms else 0.0
    return SpuriousTimeout(shortest_ms, window, segment_ms=segment_ms)


@dataclass(frozen=True)
class _Said:
    """A detector's verdicts in one run, with a value per episode."""

    flow: str
    name: str
    truth: NDArray[Any]
    verdict: NDArray[Any]
    delay_ns: NDArray[Any]


def _said(result: Result, flow: int) -> list[_Said]:
    episodes, verdicts = result.of("episodes", flow), result.of("verdicts", flow)
    known = episodes["truth"] != ""
    number, opened, truth = (episodes[name][known] for name in ("episode", "opened_ns", "truth"))
    found = []
    for name in _detectors(result, flow):
        of = verdicts.where(detector=name)
        spoke, first = np.unique(of["episode"], return_index=True)
        there = np.isin(spoke, number)
        place = np.searchsorted(number, spoke[there])
        verdict, delay = np.full(len(number), "", "U10"), np.zeros(len(number), np.int64)
        verdict[place] = of["verdict"][first[there]]
        delay[place] = of["t_ns"][first[there]] - opened[place]
        found.append(_Said(str(result.flows[flow]["flow"]), name, truth, verdict, delay))
    return found


def _detectors(result: Result, flow: int) -> list[str]:
    """Returns the detectors of a flow's sender: the acting one, and the observers."""
    entries = result.source.settings["flow"]
    repeated = [entry for entry in entries for _ in range(int(entry.get("repeat", 1)))]
    common = result.source.settings.get("sender", {})
    sender = {**common, **repeated[flow].get("sender", {})}
    names = [
        one if isinstance(one, str) else one["name"]
        for one in (sender.get("detect", "none"), *sender.get("observers", ()))
    ]
    return [name for name in dict.fromkeys(names) if name != "none"]


def _all(runs: Sequence[_Said]) -> Detector:
    truth, verdict, delay = (
        np.concatenate([getattr(one, name) for one in runs]) for name in ("truth", "verdict", "delay_ns")
    )
    spurious, spoke = truth == "spurious", verdict != ""
    found = spurious & (verdict == "spurious")
    return Detector(
        runs[0].flow,
        runs[0].name,
        right=int((spoke & (verdict == truth)).sum()),
        wrong=int((spoke & (verdict != truth)).sum()),
        missed=int((spurious & ~spoke).sum()),
        silent=int((~spurious & ~spoke).sum()),
        delay_ms=float(np.median(delay[found])) / 1e6 if found.any() else None,
    )


def _queueing_ms(result: Result, flow: int) -> dict[str, float] | None:
    sent = result.of("transmissions", flow).where(fate="delivered")
    if not len(sent):
        return None
    # Packets of another size take another time on the link. Only the largest packets show the
    # waiting time.
    full = sent.rows(sent["len"] == sent["len"].max())
    took = (full["arrived_ns"] - full["t_ns"]) / 1e6
    waited = took - took.min()
    return {
        "mean": float(waited.mean()),
        "p95": float(np.quantile(waited, 0.95)),
        "p99": float(np.quantile(waited, 0.99)),
    }


def _means(runs: Sequence[dict[str, float] | None]) -> dict[str, Mean] | None:
    there = [run for run in runs if run is not None]
    return {name: mean_interval([run[name] for run in there]) for name in there[0]} if there else None
