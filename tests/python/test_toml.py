import tomllib

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
def test_what_is_written_is_read_back(document: dict) -> None:
    assert tomllib.loads(toml.dumps(document)) == document


def test_tables_come_after_plain_values() -> None:
    text = toml.dumps({"flow": [{"name": "a", "tcp": {"sack": True}}], "seed": 1})
    assert text == 'seed = 1\n\n[[flow]]\nname = "a"\n\n[flow.tcp]\nsack = true\n'


def test_a_value_without_a_form_is_named() -> None:
    with pytest.raises(TypeError, match=r"flow\.start_s: a scenario cannot hold NoneType"):
        toml.dumps({"flow": {"start_s": None}})
