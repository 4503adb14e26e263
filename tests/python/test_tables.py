import gc

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from eifel.tables import Frame, table


def test_integers_are_not_copied() -> None:
    values = np.arange(1000)
    some_none = np.where(values % 7 == 0, -1, values)
    made = table({"a": values, "b": some_none}, {})
    for name, source in (("a", values), ("b", some_none)):
        assert made.column(name).chunk(0).buffers()[1].address == source.ctypes.data
    assert made.column("a").null_count == 0
    assert made.column("b").null_count == 143


def test_the_table_keeps_its_memory() -> None:
    made = table({"a": np.arange(100_000)}, {})
    gc.collect()
    np.full(100_000, 7)
    assert made.column("a").to_numpy().sum() == 100_000 * 99_999 // 2


def test_categories_are_dictionaries_and_dashes_are_null() -> None:
    made = table({"kind": np.array([1, 0, 2], np.uint8)}, {"kind": ["-", "new", "probe"]})
    assert pa.types.is_dictionary(made.schema.field("kind").type)
    assert made.column("kind").to_pylist() == ["new", None, "probe"]
    assert made.column("kind").chunk(0).validate(full=True) is None


def test_switches_and_floats() -> None:
    made = table({"yes": np.array([True, False]), "x": np.array([0.5, -1.0])}, {})
    assert made.to_pydict() == {"yes": [True, False], "x": [0.5, -1.0]}


@given(hnp.arrays(np.int64, st.integers(0, 40), elements=st.integers(-1, 100)))
def test_a_frame_returns_the_engines_values(values: np.ndarray) -> None:
    words = ["-", "a", "b"]
    codes = (np.abs(values) % 3).astype(np.uint8)
    frame = Frame(table({"n": values, "c": codes}, {"c": words}))
    assert np.array_equal(frame["n"], values)
    assert frame["c"].tolist() == [("", "a", "b")[code] for code in codes]
    assert len(frame) == len(values)


def test_a_frame_picks_rows() -> None:
    frame = Frame({"flow": np.array([0, 1, 0]), "kind": np.array(["new", "new", "probe"])})
    assert frame.where(flow=0, kind="new")["flow"].tolist() == [0]
    assert frame.where(kind=("new", "probe"))["flow"].tolist() == [0, 1, 0]
    assert frame.rows(np.array([2]))["kind"].tolist() == ["probe"]
    assert ("flow" in frame, "x" in frame, list(frame)) == (True, False, ["flow", "kind"])


def test_a_frame_reads_columns_of_no_chunk_and_of_several() -> None:
    kinds = pa.dictionary(pa.int32(), pa.string())
    of_kinds = [pa.array(["new", None], kinds), pa.array(["probe", "new"], kinds)]
    several = {"n": pa.chunked_array([[1, None], [3, 4]]), "kind": pa.chunked_array(of_kinds)}
    frame = Frame(pa.table(several))
    assert frame["n"].tolist() == [1, -1, 3, 4]
    assert frame["kind"].tolist() == ["new", "", "probe", "new"]
    none = Frame(pa.table({"n": pa.chunked_array([], pa.int64()), "kind": pa.chunked_array([], kinds)}))
    assert (len(none), none["n"].tolist(), none["kind"].tolist()) == (0, [], [])
