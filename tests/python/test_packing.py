import base64
import gzip
import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from eifel.report.columns import BYTES, FARTHEST, Packer


def unpack(text: str, column: dict[str, float | int]) -> NDArray[np.float64]:
    content = gzip.decompress(base64.b64decode(text))
    at, count = int(column["at"]), int(column["n"])
    planes = np.frombuffer(content[at : at + BYTES * count], np.uint8).reshape(BYTES, count)
    # The two lowest bytes are zero, and the shift back extends the sign.
    wide = np.vstack([np.zeros((8 - BYTES, count), np.uint8), planes])
    whole = np.ascontiguousarray(wide.T).view("<i8").ravel() >> 8 * (8 - BYTES)
    return np.asarray(np.cumsum(whole) * column["scale"] + column["offset"], dtype=np.float64)


@given(st.lists(st.lists(st.integers(-FARTHEST, FARTHEST), max_size=50), max_size=4))
@example([[1, FARTHEST, -FARTHEST, FARTHEST]])
def test_columns_survive(columns: list[list[int]]) -> None:
    packer = Packer()
    places = [packer.add(np.array(column, np.int64), 0.5, 3.0) for column in columns]
    text = packer.packed()
    for column, place in zip(columns, places, strict=True):
        assert unpack(text, json.loads(json.dumps(place))) == pytest.approx(np.array(column) * 0.5 + 3.0)


def test_packed_values_are_capped_at_the_farthest() -> None:
    values = np.array([0, 2**62, -(2**62), 10**12 + 1])
    packer = Packer()
    place = packer.add(values)
    assert unpack(packer.packed(), place).tolist() == [0, FARTHEST, -FARTHEST, 10**12 + 1]


def test_a_long_run_stays_small() -> None:
    t = np.cumsum(np.random.default_rng(1).integers(3_000, 6_000, 100_000))
    packer = Packer()
    packer.add(t, 1e-6)
    packer.add(np.arange(100_000) * 1000)
    assert len(packer.packed()) < 300_000


def test_the_same_columns_give_the_same_text() -> None:
    texts = set()
    for _ in range(2):
        packer = Packer()
        packer.add(np.arange(10))
        texts.add(packer.packed())
    assert len(texts) == 1
