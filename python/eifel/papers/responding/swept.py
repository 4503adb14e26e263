"""A sweep over what tables 1-4 leave open. No setting meets all of them; the front shows the trade-offs.

The first stage runs a coarse random sample of all settings with few repetitions. The next stages
run the neighbours of its front by one value, and the front with more repetitions. The fit uses
tables 1 and 2 and one seed. Tables 3 and 4, and other seeds, judge it.
"""

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.papers.responding import distances, settings
from eifel.papers.responding.distances import MEASURED, ROWS, best, means, ranked
from eifel.papers.responding.left_open import EARLIER, Open
from eifel.papers.study import Effort, Progress, Study

AXES: Mapping[str, Sequence[Any]] = {
    "hold": ("behind", "before", "before-data"),
    "one_way_delay_ms": (150, 180, 185, 190, 195, 200, 205),
    "sender_share": (0.0, 0.25, 0.5, 0.75, 1.0),
    "queue_packets": (75, 76),
    "payload_bytes": (988, 1000),
    "first_spike_s": (4.5, 5.0, 6.0, 7.0, 8.0),
    "cbr_packet_bytes": (64, 210, 300, 400),
    "ack_delay_ms": (100, 200),
    "back_off_ends": ("new-data", "sample"),
    "follows": ("source", "ns-2"),
}
"""The values tried for what the paper leaves open."""
SAMPLE, SAMPLE_SEED = 400, 1
"""The number of random settings in the coarse screen, and their seed."""
SCREEN, AGAIN, FULL = 8, 20, 100
"""The repetitions of the screen, of its front, and of the judgement."""
STEPS, FINALISTS, JUDGED = 100, 16, 3
"""The most settings of each later stage."""
JUDGES = 2
"""The number of judging seeds, starting after the fit's."""
CHUNK = 10
"""The settings of one stored part."""


def sample() -> list[Open]:
    """Returns the coarse screen: the earlier fit, and random settings."""
    drawn = random.Random(SAMPLE_SEED)
    picks = (
        Open(cbr_jitter=0.5, **{axis: drawn.choice(values) for axis, values in AXES.items()}) for _ in itertools.count()
    )
    return list(dict.fromkeys([EARLIER, *itertools.islice(picks, SAMPLE)]))


def neighbours(front: Sequence[Open], known: Sequence[Open]) -> list[Open]:
    """Returns the settings that differ from one on the front by the next value of one axis."""
    found: dict[Open, None] = {}
    for one, (axis, values) in itertools.product(front, AXES.items()):
        at = list(values).index(getattr(one, axis))
        for value in values[max(0, at - 1) : at + 2]:
            found[replace(one, **{axis: value})] = None
    return [one for one in found if one not in set(known)][:STEPS]


def find(effort: Effort) -> Mapping[str, NDArray[Any]]:
    """Runs all stages. Returns a row for each setting, seed and row of the tables."""
    screen = _stage(effort, "screen", sample(), SCREEN, [effort.seed])
    known = [one for one, _ in screen]
    front = [known[number] for number in best(screen)]
    steps = _stage(effort, "steps", neighbours(front, known), SCREEN, [effort.seed])
    screened = [*screen, *steps]
    nearest = [screened[number][0] for number in ranked(screened)]
    finalists = [*dict.fromkeys([settings.EARLIER, *(screened[n][0] for n in best(screened)), *nearest])][:FINALISTS]
    again = _stage(effort, "again", finalists, AGAIN, [effort.seed])
    judged = [*dict.fromkeys([settings.EARLIER, *(again[number][0] for number in ranked(again))])][:JUDGED]
    seeds = [effort.seed + number for number in range(1 + JUDGES)]
    final = _stage(effort, "judged", judged, FULL, seeds)
    stages = {"screen": screen, "steps": steps, "again": again, "judged": final}
    return _columns(stages, seeds)


def _stage(
    effort: Effort, stage: str, asked: Sequence[Open], repetitions: int, seeds: Sequence[int]
) -> list[tuple[Open, NDArray[np.float64]]]:
    """Runs settings with each seed, several in one part."""
    cases = list(itertools.product(asked, seeds))
    chunks = [cases[at : at + CHUNK] for at in range(0, len(cases), CHUNK)]

    def part(number: int, progress: Progress) -> Mapping[str, Any]:
        found = []
        for done, (one, seed) in enumerate(chunks[number], 1):
            found.append(means(one, repetitions, seed, effort.threads))
            progress(done)
        return {name: np.concatenate(found)[:, column] for column, name in enumerate(MEASURED)}

    definition = {"cases": [[asdict(one), seed] for one, seed in cases], "runs": repetitions}
    found = effort.parts(f"responding.swept.{stage}", definition, [len(chunk) for chunk in chunks], part)
    values = np.stack([found[name] for name in MEASURED], axis=1)
    return [(one, values[len(ROWS) * n : len(ROWS) * (n + 1)]) for n, (one, _) in enumerate(cases)]


def _columns(stages: Mapping[str, list[tuple[Open, NDArray[np.float64]]]], seeds: Sequence[int]) -> dict[str, Any]:
    found: dict[str, list[Any]] = {name: [] for name in ("stage", "seed", "row", *AXES, *MEASURED)}
    for stage, results in stages.items():
        for number, (one, values) in enumerate(results):
            seed = seeds[number % len(seeds)] if stage == "judged" else seeds[0]
            for row, measured in enumerate(values):
                named = {"stage": stage, "seed": seed, "row": row, **{axis: getattr(one, axis) for axis in AXES}}
                for name, value in {**named, **dict(zip(MEASURED, measured, strict=True))}.items():
                    found[name].append(value)
    return {name: np.array(values) for name, values in found.items()}


STUDY = Study(
    find,
    {
        "axes": {axis: list(values) for axis, values in AXES.items()},
        "sample": [SAMPLE, SAMPLE_SEED],
        "repetitions": [SCREEN, AGAIN, FULL],
        "settings": [STEPS, FINALISTS, JUDGED],
        "judges": JUDGES,
    },
    (distances, sample, neighbours, find),
)


def stored() -> Mapping[str, NDArray[Any]]:
    """Returns the stored sweep in `out`, and runs its missing parts."""
    from pathlib import Path

    from eifel import store
    from eifel.papers.study import Effort

    return find(Effort(settings.SEED, 1, None, Path("out") / store.PARTS, False, STUDY.source))
