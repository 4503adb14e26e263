"""The study of `detectors.truth`: every episode of the mix, and of recorded links that the user provides."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from eifel.papers.study import Effort, Study
from eifel.scenario import load
from eifel.studies import crossed_situations, detector_runs, judged, mix, recorded, situations, watchers
from eifel.studies.crossed_situations import CROSSED
from eifel.studies.situations import SITUATIONS

TITLE = "detectors.truth"


def find(effort: Effort, traces: Sequence[Path] = ()) -> Mapping[str, Any]:
    """Returns all episodes with all verdicts: the mix, combined troubles, and recorded links at the end."""
    links = recorded.situations(traces)
    for link in links:
        # Refuses an invalid recording at once, and not after minutes.
        load(link.scenario(effort.seed, 0, {}))
    there = (*SITUATIONS, *CROSSED)
    drawn = detector_runs.episodes(effort, TITLE, there)
    if not links:
        return drawn
    asked = {"recordings": [hashlib.sha256(trace.read_bytes()).hexdigest() for trace in traces]}
    linked = detector_runs.episodes(effort, f"{TITLE}.recorded", links, asked)
    linked["situation"] += len(there)
    return {name: np.concatenate([drawn[name], linked[name]]) for name in drawn}


def study(traces: Sequence[Path] = ()) -> Study:
    """Returns the study of the mix and of combined troubles, and of recorded links if there are any."""
    sources = (find, crossed_situations, detector_runs, judged, mix, recorded, situations, watchers)
    return Study(partial(find, traces=traces), detector_runs.design((*SITUATIONS, *CROSSED)), sources)
