"""The loss analysis: its closed forms against sums over small steps, and against each other."""

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from eifel.model.loss import Retransmission, _pipe, by_squares, in_rounds, sent_by_cycles

RATIOS = np.array([0.5, 1.0, 1.1, 1.25, 4 / 3, 1.5, 2.0, 2.7, 3.9, 4.0, 4.1, 9.0, 100.0])


@pytest.mark.parametrize(
    ("spurious", "ratio", "squares"),
    # Pipe W/2: six squares were possible and 5.5 were sent, or eight and six. Pipe W: 8.5 squares
    # and 7.5, or 12 and 8.
    [
        ("fast retransmit", 2, (6, 5.5)),
        ("timeout", 2, (8, 6)),
        ("fast retransmit", 1, (8.5, 7.5)),
        ("timeout", 1, (12, 8)),
    ],
)
def test_squares_are_counted(spurious: Retransmission, ratio: float, squares: tuple[float, float]) -> None:
    could, did = squares
    assert by_squares(ratio, spurious) == pytest.approx((could - did) / did)


@pytest.mark.parametrize("spurious", ["fast retransmit", "timeout"])
def test_the_closed_form_equals_the_sum_of_small_steps(spurious: Retransmission) -> None:
    start = 0.25 if spurious == "fast retransmit" else 0.0
    steps = np.arange(200_000) / 200_000
    load = start + steps * (1 - start)
    regular = 0.5 + (steps * (1 - start)) % 0.5
    for ratio in RATIOS:
        pipe = min(1 / ratio, 1.0)
        did, could = np.minimum(load, pipe).sum(), np.minimum(regular, pipe).sum()
        assert float(by_squares(ratio, spurious)) == pytest.approx((could - did) / did, abs=1e-4)


def in_the_limit(ratio: ArrayLike) -> NDArray[np.float64]:
    """Returns the limit of `in_rounds` for ever larger windows, in closed form.

    It is equal for timeouts and fast retransmits: slow start takes log2(W/4) round trips, and the
    rest of the way to W takes 3 W / 4.
    """
    pipe = _pipe(ratio)

    def lasts(load: ArrayLike) -> NDArray[np.float64]:
        """Returns the time in which the load grows from nothing to `load`."""
        below = np.minimum(load, pipe)
        return np.asarray(pipe * below + (np.square(load) - below**2) / 2)

    cycle, time = lasts(1.0) - lasts(0.5), lasts(1.0) - lasts(0.25)
    cycles = np.floor(time / cycle)
    until = lasts(0.5) + time - cycles * cycle
    # The load reached in the last cycle: the inverse of `lasts`.
    load = np.where(until <= pipe**2, until / pipe, np.sqrt(np.maximum(2 * until - pipe**2, 0)))
    did, could = (1 - 0.25**2) / 2, cycles * 0.375 + (load**2 - 0.25) / 2
    return np.asarray((could - did) / did)


@pytest.mark.parametrize("spurious", ["fast retransmit", "timeout"])
def test_rounds_come_to_the_limit(spurious: Retransmission) -> None:
    found = [in_rounds(400_000, 400_000 / max(ratio, 1), spurious) for ratio in RATIOS]
    assert found == pytest.approx(in_the_limit(RATIOS).tolist(), abs=2e-4)


def test_rounds_worked_out_by_hand() -> None:
    # W 8, pipe 4: rounds of 4, 5, 6, 7 are a cycle of 22 segments in 22 times. After a fast
    # retransmit, rounds of 2 and 3 precede it, 4 times each: 27 segments in 30. After a timeout,
    # one more round of 1: 28 in 34.
    assert in_rounds(8, 4, "fast retransmit") == pytest.approx(3 / 27)
    assert in_rounds(8, 4, "timeout") == pytest.approx(6 / 28)
    # Pipe 8: rounds of 8 times each. 27 segments take 48, and cycles of 22 in 32 would send 22 + 4
    # + 5.
    assert in_rounds(8, 8, "fast retransmit") == pytest.approx((22 + 9 - 27) / 27)
    assert sent_by_cycles(36, 8, 8) == pytest.approx(22 + 2)


def test_nothing_is_lost_where_a_quarter_of_the_load_fills_the_pipe() -> None:
    assert in_rounds(40, 10, "fast retransmit") == 0
    assert in_the_limit([4, 50]) == pytest.approx([0, 0], abs=1e-12)
    assert by_squares([4, 50], "fast retransmit") == pytest.approx([0, 0], abs=1e-12)
    assert in_rounds(40, 10, "timeout") > 0, "slow start does not fill it"


@pytest.mark.parametrize(("window", "capacity"), [(6, 4), (4, 4), (42, 10), (40, 0), (40, -1)])
def test_a_window_that_cannot_be_halved_twice_is_refused(window: int, capacity: float) -> None:
    with pytest.raises(ValueError, match=f"window {window}, capacity {capacity}: a multiple of 4"):
        in_rounds(window, capacity, "timeout")


def test_a_ratio_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 0"):
        by_squares([1, 0], "timeout")
