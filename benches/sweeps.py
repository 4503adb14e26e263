"""Measures what a run of a sweep costs besides the run itself, and its memory: part of `make bench`.

The same runs go through `eifel sweep` and through the engine alone, on one thread. Two numbers of runs are
subtracted, so the start of the processes does not count. The rest is set-up, rows, Parquet and checksums.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from run import ROOT, ROUNDS, Cost, cost_of, without

FEW, MANY = 50, 400
"""The numbers of runs."""
DURATION_S = 18
"""Simulated time that takes about 10 ms."""
MOST_PERCENT = 5
"""The wanted bound on the cost besides a run, as a share of the run's."""
MOST_GROWTH_MIB = 8
"""The wanted bound on the memory that the additional runs take."""
ENGINE = (
    "import sys; from eifel import _engine; text = open(sys.argv[1]).read();"
    "_engine.run_many([(text, sys.argv[1])], [(0, 0, int(sys.argv[2]))], 1, None, keep_going=True)"
)


def costs(folder: Path, runs: int) -> tuple[Cost, Cost]:
    """Returns the costs of a sweep and of the engine alone. `folder` holds the scenario, and takes the results."""
    scenario, sweep = folder / "short.toml", folder / f"sweep{runs}.toml"
    sweep.write_text(f'scenario = "{scenario.name}"\nrepetitions = {runs}\n', encoding="utf-8")
    eifel = Path(sys.executable).with_name("eifel")
    with tempfile.TemporaryDirectory(dir=folder) as out:
        swept = cost_of([eifel, "sweep", sweep, "--out", out, "--jobs", "1"])
    return swept, cost_of([sys.executable, "-c", ENGINE, scenario, str(runs)])


def judged(rounds: Sequence[tuple[tuple[Cost, Cost], tuple[Cost, Cost]]]) -> bool:
    """Prints cost and memory, by rounds of few and many runs. Returns whether both are as wanted."""
    more = [
        tuple(without(one, all_).cpu_s / (MANY - FEW) for one, all_ in zip(few, many, strict=True))
        for few, many in rounds
    ]
    percent = statistics.median(100 * (swept / engine - 1) for swept, engine in more)
    run_ms = 1000 * statistics.median(engine for _, engine in more)
    grown = max(many[0].peak_mib for _, many in rounds) - max(few[0].peak_mib for few, _ in rounds)
    print(f"a sweep costs {percent:.1f} % besides runs of {run_ms:.1f} ms (wanted: at most {MOST_PERCENT} %)")
    print(f"  {MANY} runs take {grown:.1f} MiB more than {FEW} (wanted: at most {MOST_GROWTH_MIB})")
    return percent <= MOST_PERCENT and grown <= MOST_GROWTH_MIB


def main() -> int:
    """Measures. Returns 1 if cost or memory is larger than wanted."""
    text = (ROOT / "benches" / "scenarios" / "one_flow.toml").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        short = text.replace("duration_s = 600", f"duration_s = {DURATION_S}")
        (folder / "short.toml").write_text(short, encoding="utf-8")
        rounds = [(costs(folder, FEW), costs(folder, MANY)) for _ in range(ROUNDS)]
    return 0 if judged(rounds) else 1


if __name__ == "__main__":
    sys.exit(main())
