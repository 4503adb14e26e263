"""Measures an artefact: runs its declared scenarios, stores the results, and compares them with published values."""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eifel import exports, store
from eifel.errors import BadInputError
from eifel.papers.artefact import Artefact, Measured, Recorded
from eifel.papers.study import Effort
from eifel.runs import Runs, run, run_many

Progress = Callable[[int, int], object]


def reproduce(
    artefact: str | Artefact,
    *,
    repetitions: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    traces: Sequence[str | Path] = (),
    out: str | Path | None = None,
    fresh: bool = False,
    pictures: Sequence[str] = ("svg",),
    progress: Progress | None = None,
) -> Measured:
    """Measures the artefact with this id.

    Example: `eifel.reproduce("responding.table1", repetitions=50).claims()`.

    `out` is the folder for stored results. A stored result is reused if definition, engine, seed
    and repetitions match, unless `fresh`. A new result is stored there, with the table as CSV, or
    with the figure's `pictures`: any of svg, pdf, png. `traces` are the link traces for artefacts
    that need them. A picture of recorded runs has one run each, and ignores `repetitions`. Long
    measurements store finished parts in `out`, and resume from them.

    Raises BadInputError for an unknown id, and for traces that are missing or cannot be read.
    """
    chosen = _chosen(artefact, traces)
    times = 1 if chosen.is_recorded else chosen.repetitions if repetitions is None else repetitions
    if times < 1:
        raise BadInputError(f"{times} repetitions: at least 1 is needed")
    root = chosen.seed if seed is None else seed
    key = store.key_of(chosen, root, times)
    if out is not None and not fresh:
        found = store.read(Path(out), chosen, key)
        if found is not None:
            exports.write(Path(out), found, pictures)
            return found

    scenarios: list[dict[str, Any]] = [{**row.scenario, "seed": root} for row in chosen.rows]
    begun = time.monotonic()
    runs: Runs | None = None
    if chosen.study is not None:
        with _place_for_parts(out) as parts:
            effort = Effort(root, times, threads, parts, fresh, chosen.study.source, progress)
            runs = Runs(chosen.study.find(effort), [])
        measured = store.measured_table(chosen, runs, root, times, time.monotonic() - begun)
    elif chosen.is_recorded:
        results = []
        if isinstance(chosen.method, Recorded) and chosen.method.wire is not None:
            results = chosen.method.wire(chosen.rows)
            scenarios = []
        for number, scenario in enumerate(scenarios):
            results.append(run(scenario))
            if progress is not None:
                progress(number + 1, len(scenarios))
        measured = store.measured_figure(chosen, results, root, time.monotonic() - begun)
    else:
        runs = run_many(scenarios, repetitions=times, threads=threads, progress=progress)
        measured = store.measured_table(chosen, runs, root, times, time.monotonic() - begun)
    if out is not None:
        # Writes the data first: an interrupt during the drawing loses no measurement.
        store.write(Path(out), key, measured, runs)
        exports.write(Path(out), measured, pictures)
    return measured


@contextmanager
def _place_for_parts(out: str | Path | None) -> Iterator[Path]:
    """Yields the folder for a study's finished parts: in `out` to allow resuming, or else temporary."""
    if out is not None:
        yield Path(out) / store.PARTS
        return
    with tempfile.TemporaryDirectory(prefix="eifel-") as folder:
        yield Path(folder)


def _chosen(artefact: str | Artefact, traces: Sequence[str | Path]) -> Artefact:
    from eifel.papers import artefacts

    if isinstance(artefact, str):
        known = artefacts()
        if artefact not in known:
            raise BadInputError(f"{artefact}: no such artefact; there is: {', '.join(known)}")
        artefact = known[artefact]
    if traces:
        for trace in map(Path, traces):
            if trace.exists() and not trace.is_file():
                raise BadInputError(f"{trace}: expected a file with a link trace")
        try:
            artefact = artefact.with_traces([Path(trace) for trace in traces])
        except OSError as error:
            raise BadInputError(f"{error.filename}: {error.strerror}") from None
    if artefact.needs_traces:
        raise BadInputError(f"{artefact.id} needs link traces: --trace FILE…")
    return artefact
