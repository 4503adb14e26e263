"""This kernel's undos beside those of the model, over drawn paths."""

import pytest

from eifel import live
from test_wire import LONGEST, measure

pytestmark = [
    pytest.mark.idle,
    pytest.mark.skipif(bool(live.missing()), reason=live.missing() or "none"),
]


def test_the_kernels_decisions_are_compared_with_the_models(monkeypatch: pytest.MonkeyPatch) -> None:
    measure(LONGEST, monkeypatch)
