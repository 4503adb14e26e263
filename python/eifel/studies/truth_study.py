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
from eifel.studies import crossed_situations, detector_runs, judged, mix, recorded, situations, watchers
from eifel.studies.crossed_situations import CROSSED
from eifel.studies.situations import SITUATIONS

TITLE = "detectors.truth"


def find(effort: Effort, traces: Sequence[Path] = ()) -> Mapping[str, Any]:
    """All episodes with all verdicts: of the mix, then of troubles that meet, then, kept apart, of recorded links."""
    links = recorded.situations(traces)
    for link in links:
        # What is no recording is refused at once, not minutes later.
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
    """The study of the mix and of troubles that meet, and of recorded links where there are any."""
    sources = (find, crossed_situations, detector_runs, judged, mix, recorded, situations, watchers)
    return Study(partial(find, traces=traces), detector_runs.design((*SITUATIONS, *CROSSED)), sources)
