"""Recorded columns as Arrow tables, and Arrow tables as columns again.

The engine marks "none" with -1, or with the word "-". In Arrow that is a null, so that nobody averages it: the values
stay where the engine put them, and only a bitmap is added.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow.parquet as pq
    from numpy.typing import NDArray
    from pyarrow.csv import CSVWriter

NONE = "-"
"""The word for "none" in a category column."""


def table(columns: Mapping[str, NDArray[Any]], categories: Mapping[str, Sequence[str]]) -> pa.Table:
    """One table from its columns; `categories` gives the words of those columns that are small integer codes.

    Integer columns keep their memory (no copy is made). The table keeps the arrays alive.
    """
    arrays = [_array(values, categories.get(name)) for name, values in columns.items()]
    return pa.Table.from_arrays(arrays, names=list(columns))


@cache
def described() -> dict[str, dict[str, Any]]:
    """What each record table holds: `about`, what a row is, and `columns`, the meaning of each by its name."""
    from eifel import _engine

    return dict(json.loads(_engine.described_tables()))


def recorded(name: str, columns: Mapping[str, NDArray[Any]], categories: Mapping[str, Sequence[str]]) -> pa.Table:
    """The record table `name`: a table whose schema says what a row and each column mean."""
    known = described()[name]
    made = table(columns, categories)
    fields = [field.with_metadata({"meaning": known["columns"][field.name]}) for field in made.schema]
    return pa.Table.from_arrays(made.columns, schema=pa.schema(fields, metadata={"about": known["about"]}))


def _array(values: NDArray[Any], words: Sequence[str] | None) -> pa.Array:
    if values.dtype == np.bool_ or values.dtype.kind == "f":
        return pa.array(values)
    values = np.ascontiguousarray(values)
    if words is None:
        return _integers(values, values >= 0)
    there = values != words.index(NONE) if NONE in words else np.ones(len(values), bool)
    return pa.DictionaryArray.from_arrays(_integers(values, there), pa.array(words, pa.string()))


def _integers(values: NDArray[Any], there: NDArray[np.bool_]) -> pa.Array:
    present = None if there.all() else pa.py_buffer(np.packbits(there, bitorder="little"))
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [present, pa.py_buffer(values)])


def writer(file: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """Writes a recorded table as Parquet, part by part.

    Times and positions differ little from row to row: as differences they take a hundredth of the room.
    """
    import pyarrow.parquet as pq

    words = [field.name for field in schema if pa.types.is_dictionary(field.type)]
    differences = {field.name: "DELTA_BINARY_PACKED" for field in schema if pa.types.is_integer(field.type)}
    return pq.ParquetWriter(file, schema, compression="zstd", use_dictionary=words, column_encoding=differences)


def csv_writer(file: Path, schema: pa.Schema) -> CSVWriter:
    """Writes a recorded table, made plain, as CSV with a line of names, part by part. A cell of none is empty."""
    from pyarrow.csv import CSVWriter

    return CSVWriter(file, plain(schema.empty_table()).schema)


def plain(table: pa.Table) -> pa.Table:
    """Returns the table with words in place of their codes."""
    import pyarrow as pa

    kinds = [field.with_type(pa.string()) if pa.types.is_dictionary(field.type) else field for field in table.schema]
    return table.cast(pa.schema(kinds))


class Frame:
    """A recorded table read as NumPy columns: `frame["t_ns"]`; -1 stands for none, as in the engine.

    Category columns come as arrays of str ("" for none), and `frame.where(kind="retransmission", flow=0)` is the frame
    of the rows that have these values.
    """

    def __init__(self, source: pa.Table | Mapping[str, NDArray[Any]]) -> None:
        self._table = source if isinstance(source, pa.Table) else None
        self._columns: dict[str, NDArray[Any]] = {} if isinstance(source, pa.Table) else dict(source)
        self._names = list(source.column_names) if isinstance(source, pa.Table) else list(source)

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._columns:
            if self._table is None:
                raise KeyError(name)
            self._columns[name] = _numpy(self._table.column(name))
        return self._columns[name]

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return self._table.num_rows if self._table is not None else len(next(iter(self._columns.values()), ()))

    def where(self, **wanted: Any) -> Frame:
        """The rows in which every named column has the value given (or, for a tuple, one of the values)."""
        keep = np.ones(len(self), bool)
        for name, value in wanted.items():
            keep &= np.isin(self[name], value) if isinstance(value, tuple) else self[name] == value
        return self.rows(keep)

    def rows(self, keep: NDArray[Any]) -> Frame:
        """The rows that a mask or a list of row numbers picks."""
        return Frame({name: self[name][keep] for name in self._names})


def _numpy(column: pa.ChunkedArray) -> NDArray[Any]:
    array = column.combine_chunks()
    if pa.types.is_dictionary(array.type):
        words = np.array([*array.dictionary.to_pylist(), ""], dtype=np.str_)
        codes = array.indices.cast(pa.int32())  # codes have no sign of their own, and none is -1
        return np.asarray(words[_plain(codes)])
    return _plain(array)


def _plain(array: pa.Array) -> NDArray[Any]:
    if pa.types.is_integer(array.type) and array.null_count:
        array = array.fill_null(-1)
    return np.asarray(array.to_numpy(zero_copy_only=False))
