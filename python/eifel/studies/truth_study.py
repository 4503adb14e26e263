"""What `detectors.truth` finds: every episode of the mix, and of recorded links that somebody gives."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from eifel.papers.study import Effort, Study
from eifel.scenario import load
from eifel.studies import detector_runs, judged, mix, recorded, situations, watchers
from eifel.studies.situations import SITUATIONS

TITLE = "detectors.truth"


def find(effort: Effort, traces: Sequence[Path] = ()) -> Mapping[str, Any]:
    """All episodes with all verdicts; those of recorded links, kept apart, behind those of the mix."""
    links = recorded.situations(traces)
    for link in links:
        # What is no recording is refused at once, not minutes later.
        load(link.scenario(effort.seed, 0, {}))
    mixed = detector_runs.episodes(effort, TITLE, SITUATIONS)
    if not links:
        return mixed
    asked = {"recordings": [hashlib.sha256(trace.read_bytes()).hexdigest() for trace in traces]}
    there = detector_runs.episodes(effort, f"{TITLE}.recorded", links, asked)
    there["situation"] += len(SITUATIONS)
    return {name: np.concatenate([mixed[name], there[name]]) for name in mixed}


def study(traces: Sequence[Path] = ()) -> Study:
    """The study of the mix, and of recorded links where there are any."""
    sources = (find, detector_runs, judged, mix, recorded, situations, watchers)
    return Study(partial(find, traces=traces), detector_runs.design(SITUATIONS), sources)
