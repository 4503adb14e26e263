"""The places of measured values: rows of the atlas, and settings on a page of the sweep."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import golden
from eifel.documents import calibration as page
from eifel.papers.responding import distances, settings, swept
from eifel.papers.responding.calibration import JUDGES, NAMES
from eifel.papers.responding.left_open import EARLIER
from eifel.papers.responding.swept import _columns
from eifel.runs import Runs
from eifel.studies import atlas


def test_each_run_of_the_atlas_counts_in_its_place_for_its_sender() -> None:
    rows, senders, times = atlas.ARTEFACT.rows, list(atlas.SENDERS), 3
    # In the sweep's order: senders vary slowest, then places, then repetitions.
    of = list(itertools.product(range(len(senders)), range(len(rows)), range(times)))
    found = Runs(
        {
            "cell": np.array([sender * len(rows) + place for sender, place, _ in of]),
            "repetition": np.array([time for _, _, time in of]),
            "goodput_bps": np.array([1e6 * sender + 1000.0 * place + 100 * time for sender, place, time in of]),
        },
        [],
    )
    means = atlas.measure(atlas.ARTEFACT, found)
    assert len(means) == len(rows)
    for place in (0, 1, len(rows) // 2, len(rows) - 1):
        assert list(means[place]) == senders
        for sender, name in enumerate(senders):
            assert means[place][name].mean == pytest.approx(1000 * sender + place + 0.1)
            assert means[place][name].count == times


def stored() -> dict[str, np.ndarray]:
    """Returns some settings of each stage with values near print, each with a different error."""
    screen = [one for one, _ in zip(swept.sample(), range(6), strict=False)]
    steps = swept.neighbours(screen[:1], screen)[:3]
    judged = [EARLIER, *[one for one in screen if one != EARLIER][:2]]
    seeds = [1, 2, 3]

    def values(number: int) -> np.ndarray:
        rows = np.arange(len(distances.ROWS))[:, None]
        # The first, the fourth and so on are near in time and far in retransmissions; the others
        # differ.
        off = np.array([[0.02 * (number % 3), 0.3 / (1 + number % 3), 0.1 * (number % 2), 0.05 * number]])
        return distances.PRINTED * (1 + off * (1 + rows % 3) / 2)

    stages = {
        "screen": [(one, values(n)) for n, one in enumerate(screen)],
        "steps": [(one, values(n + 6)) for n, one in enumerate(steps)],
        "again": [(one, values(n + 1)) for n, one in enumerate(screen[:2])],
        "judged": [(one, values(n)) for n, one in enumerate(one for one in judged for _ in seeds)],
    }
    return _columns(stages, seeds)


def test_the_blocks_of_the_calibration_match_their_golden() -> None:
    columns = stored()
    golden.check("printed/calibration", {mark: block.splitlines() for mark, block in page.blocks(columns).items()})
    assert len(NAMES) == 3 and len(JUDGES) == 4 and settings.SEED == 1


@pytest.mark.parametrize(
    ("point", "bettered"),
    [
        ((1.0, 1.0, 1.0), False),
        ((2.0, 2.0, 2.0), True),
        # Better in one, equal in the others.
        ((1.0, 1.0, 1.5), True),
        # Better in one and worse in another does not count as better.
        ((0.5, 9.0, 9.0), False),
        ((9.0, 9.0, 0.9), False),
    ],
)
def test_a_setting_is_bettered_by_one_that_is_nowhere_worse(point: tuple[float, ...], bettered: bool) -> None:
    others = np.array([(1.0, 1.0, 1.0), (3.0, 0.5, 1.0), point])
    assert page._bettered(others, np.array(point)) is bettered
