import tomllib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eifel import toml

plain = st.one_of(
    st.booleans(), st.integers(-(2**62), 2**62), st.floats(allow_nan=False), st.text(st.characters(codec="utf-8"))
)
keys = st.text(st.characters(codec="utf-8"), max_size=8)
documents = st.dictionaries(
    keys,
    st.recursive(plain, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3))),
    max_size=5,
)


@given(documents)
def test_a_written_document_is_read_back_equal(document: dict) -> None:
    assert tomllib.loads(toml.dumps(document)) == document


def test_tables_come_after_plain_values() -> None:
    text = toml.dumps({"flow": [{"name": "a", "tcp": {"sack": True}}], "seed": 1})
    assert text == 'seed = 1\n\n[[flow]]\nname = "a"\n\n[flow.tcp]\nsack = true\n'


def test_a_value_without_a_form_is_named() -> None:
    with pytest.raises(TypeError, match=r"flow\.start_s: a scenario cannot hold NoneType"):
        toml.dumps({"flow": {"start_s": None}})


def test_numpy_s_values_are_those_that_they_hold() -> None:
    document = {
        "rate": np.float64(1.5),
        "count": np.int64(3),
        "sack": np.bool_(True),
        "trace": np.array([0, 4, 4]),
        "spike": {"at_s": [np.float32(0.5)]},
    }
    assert tomllib.loads(toml.dumps(document)) == {
        "rate": 1.5,
        "count": 3,
        "sack": True,
        "trace": [0, 4, 4],
        "spike": {"at_s": [0.5]},
    }


def test_a_key_that_is_no_string_is_named() -> None:
    with pytest.raises(TypeError, match="flow: a key has to be a string, not 1"):
        toml.dumps({"flow": {1: "a"}})
