import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from eifel.statistics import mean_interval, share_interval, t_quantile


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 10, 29, 99, 999, 100_000])
@pytest.mark.parametrize("probability", [0.001, 0.05, 0.5, 0.9, 0.975, 0.995, 0.9999])
def test_t_quantile_is_scipys(freedom: int, probability: float) -> None:
    assert t_quantile(probability, freedom) == pytest.approx(stats.t.ppf(probability, freedom), rel=1e-9, abs=1e-12)


def test_t_quantile_refuses_probabilities_0_and_1_and_no_freedom() -> None:
    for probability, freedom in ((0.0, 5), (1.0, 5), (0.5, 0)):
        with pytest.raises(ValueError, match="t quantile"):
            t_quantile(probability, freedom)


def test_mean_interval_by_hand() -> None:
    # Mean 3, variance 2.5, standard error sqrt(0.5); t(0.975, 4) = 2.7764451052.
    found = mean_interval([1, 2, 3, 4, 5])
    assert found.mean == 3.0
    assert found.half_width == pytest.approx(2.7764451052 * math.sqrt(0.5), rel=1e-9)
    assert found.interval == pytest.approx((3 - 1.963243, 3 + 1.963243), abs=1e-6)


def test_one_value_has_no_interval_and_none_has_no_mean() -> None:
    assert mean_interval([7.0]).mean == 7.0
    assert mean_interval([7.0]).interval is None
    with pytest.raises(ValueError, match="no values"):
        mean_interval([])


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50))
def test_mean_interval_is_scipys(values: list[float]) -> None:
    found = mean_interval(values)
    expected = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
    assert found.mean == pytest.approx(np.mean(values), abs=1e-6)
    assert found.half_width == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(st.integers(1, 10_000), st.floats(0, 1))
def test_share_interval_is_scipys(count: int, share: float) -> None:
    hits = round(share * count)
    found = share_interval(hits, count)
    expected = stats.binomtest(hits, count).proportion_ci(method="wilson")
    assert found.mean == hits / count
    assert found.interval == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert 0 <= found.interval[0] <= found.mean <= found.interval[1] <= 1


def test_a_share_of_no_trials_is_refused() -> None:
    for hits, count in ((0, 0), (2, 1), (-1, 5)):
        with pytest.raises(ValueError, match="the share of"):
            share_interval(hits, count)


def test_a_mean_is_printed_with_its_confidence_interval() -> None:
    assert mean_interval([1, 2, 3, 4, 5]).spread(2) == "± 1.96"
    assert mean_interval([1.0]).spread(2) == ""
    assert share_interval(0, 100).spread(3) == "(0.000 to 0.037)"
