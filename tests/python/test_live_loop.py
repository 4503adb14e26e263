"""The claims of `live.loop`: all hold for one table, and each fails with another value."""

import pytest

from eifel.papers.artefact import Measured, MeasuredRow
from eifel.papers.live.loop import ARTEFACT, CHANGES, LOSSES, QUEUE, REORDERING, SPIKE, STAGES
from eifel.statistics import Mean

PATH, SHOWN, LOOPED, AGAIN = STAGES
HELD, LOST, OVERTAKEN = {SPIKE: 2.5}, {QUEUE: 41.0, LOSSES: 7.0}, {REORDERING: 8.0}
RATE_AND_ROUND_TRIP, HOLDS, FATES, ONCE_MORE, GOODPUT, RETRANSMISSIONS, REFUSED = range(7)


def _values(path: str, stage: str) -> dict[str, float]:
    """Returns the values of an emulated path and a recorder without any error."""
    if path == CHANGES and stage != PATH:
        return {}
    fates = {"lost": LOST.get(path, 0.0), "overtaken": OVERTAKEN.get(path, 0.0)}
    shown = {"rate_bps": 2.0, "base_rtt_ms": 100.0, "held_s": HELD.get(path, 0.0), **fates}
    sent = {"retransmissions": max(1.0, LOST.get(path, 1.0)), "goodput_bps": 1.4}
    return shown if stage in (SHOWN, AGAIN) else {**shown, **sent}


def _failing(path: str, stage: str, column: str, value: float) -> list[int]:
    """Returns the claims that fail with one value changed."""
    rows = []
    for row in ARTEFACT.rows:
        values = _values(str(row.keys["path"]), str(row.keys["stage"]))
        if (row.keys["path"], row.keys["stage"]) == (path, stage):
            values[column] = value
        rows.append(MeasuredRow(row, {name: Mean(mean, None, 1) for name, mean in values.items()}))
    measured = Measured(ARTEFACT, rows, [], 1, 1, 0.0)
    return [number for number, claim in enumerate(ARTEFACT.claims) if not claim.check(measured)]


def test_a_loop_without_errors_holds_all_claims() -> None:
    assert _failing(SPIKE, PATH, "held_s", 2.5) == []
    assert len(ARTEFACT.claims) == 7


@pytest.mark.parametrize(
    ("path", "stage", "column", "value", "failing"),
    [
        (SPIKE, SHOWN, "rate_bps", 2.019, []),
        (SPIKE, SHOWN, "rate_bps", 2.021, [RATE_AND_ROUND_TRIP]),
        (REORDERING, SHOWN, "base_rtt_ms", 98.9, [RATE_AND_ROUND_TRIP]),
        (QUEUE, AGAIN, "rate_bps", 1.97, [ONCE_MORE]),
        (QUEUE, AGAIN, "base_rtt_ms", 0.0, [ONCE_MORE]),
        (SPIKE, SHOWN, "held_s", 2.59, []),
        (SPIKE, SHOWN, "held_s", 2.61, [HOLDS]),
        (LOSSES, AGAIN, "held_s", 0.128, [HOLDS]),
        (QUEUE, SHOWN, "lost", 40.0, [FATES]),
        (LOSSES, AGAIN, "lost", 8.0, [FATES]),
        (REORDERING, SHOWN, "overtaken", 7.0, [FATES]),
        (SPIKE, LOOPED, "goodput_bps", 1.34, []),
        (SPIKE, LOOPED, "goodput_bps", 1.32, [GOODPUT]),
        (REORDERING, LOOPED, "retransmissions", 2.0, []),
        (REORDERING, LOOPED, "retransmissions", 3.0, [RETRANSMISSIONS]),
        (QUEUE, LOOPED, "retransmissions", 37.0, []),
        (QUEUE, LOOPED, "retransmissions", 36.0, [RETRANSMISSIONS]),
        (CHANGES, SHOWN, "rate_bps", 2.0, [REFUSED]),
        (CHANGES, LOOPED, "goodput_bps", 0.8, [REFUSED]),
    ],
)
def test_one_other_value_fails_the_claim_about_it(
    path: str, stage: str, column: str, value: float, failing: list[int]
) -> None:
    assert _failing(path, stage, column, value) == failing
