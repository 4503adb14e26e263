"""The benchmarks' own arithmetic and judgement; what they measure is no test."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benches"))

import run as bench


def test_a_cost_that_grows_with_n_log_n_is_within_the_bound() -> None:
    assert bench.growth(lambda _, segments: round(segments * math.log(segments)))


@pytest.mark.parametrize("order", bench.ORDERS)
def test_one_order_that_grows_faster_is_noticed(order: str, capsys: pytest.CaptureFixture[str]) -> None:
    def cost(of: str, segments: int) -> int:
        return round(segments**1.2) if of == order else segments

    assert not bench.growth(cost)
    assert capsys.readouterr().out.count("2.30 times") == 1


def test_a_count_of_instructions_is_read() -> None:
    assert bench.counted("==7== I   refs:      1,234,567\n") == 1_234_567
    assert bench.counted("==7== I refs:        89\n") == 89
    with pytest.raises(RuntimeError, match="did not tell its count"):
        bench.counted("valgrind: failed to start")
