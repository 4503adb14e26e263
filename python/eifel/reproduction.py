"""Measures an artefact: runs what it declares, keeps what came of it, and sets it beside what was published."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eifel import exports, store
from eifel.errors import BadInputError
from eifel.papers.artefact import Artefact, Recorded
from eifel.papers.measured import Measured
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
    """Measures one artefact, given by its id.

    Example: `eifel.reproduce("responding.table1", repetitions=50).claims()`.

    With `out`, what is stored there from an earlier call is taken if it was made from the same definition, engine, seed
    and repetitions (unless `fresh`), and what is measured now is stored. Beside it stand the table as CSV, or the
    figure's `pictures`: any of svg, pdf, png. `traces` are the link traces of an artefact that needs some. A picture of
    recorded runs has one of each, so `repetitions` is not for it. What takes minutes keeps the parts that are done in
    `out`, and goes on with the others when it is asked for again.

    Raises BadInputError for an id that does not exist, and for traces that are missing or cannot be read.
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
        # First the data: an interrupt while the picture is drawn loses nothing that was measured.
        store.write(Path(out), key, measured, runs)
        exports.write(Path(out), measured, pictures)
    return measured


@contextmanager
def _place_for_parts(out: str | Path | None) -> Iterator[Path]:
    """Where a study keeps what is finished: in `out`, so that it can go on; without that, for as long as it takes."""
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
