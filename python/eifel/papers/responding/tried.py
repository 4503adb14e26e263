"""The values that the sweep tries for what tables 1-4 leave open, and the sizes of its stages."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from eifel.papers.responding.left_open import EARLIER, Open

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
