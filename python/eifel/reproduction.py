"""Measures an artefact: runs what it declares, keeps what came of it, and sets it beside what was published."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from eifel import exports, store
from eifel.errors import BadInputError
from eifel.papers.artefact import Artefact
from eifel.papers.measured import Measured
from eifel.runs import run, run_many

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
    """Measures one artefact, given by its id: `eifel.reproduce("responding.table1")`.

    With `out`, what is stored there from an earlier call is taken if it was made from the same definition, engine, seed
    and repetitions (unless `fresh`), and what is measured now is stored. Beside it stand the table as CSV, or the
    figure's `pictures`: any of svg, pdf, png. `traces` are the link traces of an artefact that needs some. A figure is
    one recorded run, so `repetitions` is not for it.

    Raises BadInputError for an id that does not exist, and for traces that are missing or cannot be read.
    """
    chosen = _chosen(artefact, traces)
    times = 1 if chosen.is_figure else chosen.repetitions if repetitions is None else repetitions
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
    if chosen.is_figure:
        results = []
        for number, scenario in enumerate(scenarios):
            results.append(run(scenario))
            if progress is not None:
                progress(number + 1, len(scenarios))
        measured = store.measured_figure(chosen, results, root, time.monotonic() - begun)
        runs = None
    else:
        runs = run_many(scenarios, repetitions=times, threads=threads, progress=progress)
        measured = store.measured_table(chosen, runs, root, times, time.monotonic() - begun)
    if out is not None:
        # First the data: an interrupt while the picture is drawn loses nothing that was measured.
        store.write(Path(out), key, measured, runs)
        exports.write(Path(out), measured, pictures)
    return measured


def _chosen(artefact: str | Artefact, traces: Sequence[str | Path]) -> Artefact:
    from eifel.papers import artefacts

    if isinstance(artefact, str):
        known = artefacts()
        if artefact not in known:
            raise BadInputError(f"{artefact}: no such artefact; there is: {', '.join(known)}")
        artefact = known[artefact]
    if traces:
        try:
            artefact = artefact.with_traces([Path(trace) for trace in traces])
        except OSError as error:
            raise BadInputError(f"{error.filename}: {error.strerror}") from None
    if artefact.needs_traces:
        raise BadInputError(f"{artefact.id} needs link traces: --trace FILE…")
    return artefact
