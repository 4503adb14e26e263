"""Sweeps: many scenarios that differ in chosen keys, each with many runs.

```python
import eifel

eifel.sweep("sweep.toml", out="results")   # resumes where an earlier call stopped
runs = eifel.load_sweep("results")          # one Arrow table, a row per flow of a run
```
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from eifel.sweeps.design import Design, load
from eifel.sweeps.executor import Executor, Local, Shard, SweepError
from eifel.sweeps.folder import Folder, load_sweep
from eifel.sweeps.work import shard

__all__ = ["Design", "Executor", "Folder", "Local", "SweepError", "load", "load_sweep", "sweep"]


def sweep(
    design: str | Path | Mapping[str, Any] | Design,
    *,
    out: str | Path,
    executor: Executor | None = None,
    fresh: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Folder:
    """Runs the missing parts of a sweep, given as a file or as an equivalent dict.

    Example: `eifel.sweep("examples/sweep.toml", out="results").table()`.

    Every cell is checked before any run. `executor` does the work; `None` uses all cores of this
    machine. Each finished shard is stored at once, and `progress(done, total)` counts runs. The
    files in `out` are byte for byte equal for all executors, and for any number of calls.

    Raises BadInputError for a refused sweep, or if the folder holds another sweep. Raises
    SweepError if the cluster is lost.
    """
    plan = design if isinstance(design, Design) else load(design)
    plan.check()
    folder = Folder(out)
    folder.claim(plan, fresh=fresh)
    missing = folder.missing(plan)
    waiting = sum(min((number + 1) * plan.shard_runs, plan.runs) - number * plan.shard_runs for number in missing)
    shards = (shard(plan, number) for number in missing)
    store(folder, shards, executor, done=plan.runs - waiting, total=plan.runs, progress=progress)
    return folder


def store(
    folder: Folder,
    shards: Iterable[Shard],
    executor: Executor | None,
    *,
    done: int,
    total: int,
    progress: Callable[[int, int], object] | None,
) -> None:
    """Does shards, and stores each at once. `done` runs of `total` are stored already."""

    def advance(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(done, total)

    advance(0)
    for number, content in (executor or Local()).done(shards, advance):
        folder.store(number, content)
    folder.settle()
