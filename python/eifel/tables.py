"""Converts recorded columns to Arrow tables, and Arrow tables to NumPy columns.

The engine marks missing values with -1, or with the word "-". Arrow has null for them, which
averages skip. The values stay in the engine's memory, and only a bitmap is added.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow.parquet as pq
    from numpy.typing import NDArray
    from pyarrow.csv import CSVWriter

NONE = "-"
"""The word for a missing value in a category column."""


def table(columns: Mapping[str, NDArray[Any]], categories: Mapping[str, Sequence[str]]) -> pa.Table:
    """Makes a table from columns. `categories` has the words of the columns that hold integer codes.

    Integer columns are not copied. The table keeps the arrays alive.
    """
    arrays = [_array(values, categories.get(name)) for name, values in columns.items()]
    return pa.Table.from_arrays(arrays, names=list(columns))


@cache
def described() -> dict[str, dict[str, Any]]:
    """Returns the contents of each record table: `about`, the meaning of a row, and `columns`, the meaning by name."""
    from eifel import _engine

    return dict(json.loads(_engine.described_tables()))


def recorded(name: str, columns: Mapping[str, NDArray[Any]], categories: Mapping[str, Sequence[str]]) -> pa.Table:
    """Makes the record table `name`. Its schema holds the meaning of rows and columns."""
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

    Times and positions change little from row to row. Delta encoding takes a hundredth of the
    space.
    """
    import pyarrow.parquet as pq

    words = [field.name for field in schema if pa.types.is_dictionary(field.type)]
    differences = {field.name: "DELTA_BINARY_PACKED" for field in schema if pa.types.is_integer(field.type)}
    return pq.ParquetWriter(file, schema, compression="zstd", use_dictionary=words, column_encoding=differences)


def csv_writer(file: Path, schema: pa.Schema) -> CSVWriter:
    """Returns a writer of a recorded table as CSV, with a header line. An empty cell is a missing value."""
    from pyarrow.csv import CSVWriter

    return CSVWriter(file, plain(schema.empty_table()).schema)


def plain(table: pa.Table) -> pa.Table:
    """Returns the table with words instead of codes."""
    import pyarrow as pa

    kinds = [field.with_type(pa.string()) if pa.types.is_dictionary(field.type) else field for field in table.schema]
    return table.cast(pa.schema(kinds))


class Frame:
    """A recorded table as NumPy columns: `frame["t_ns"]`. -1 is a missing value, as in the engine.

    Category columns are arrays of str ("" if missing). `frame.where(kind="retransmission", flow=0)`
    is a frame of the rows with these values.
    """

    def __init__(self, source: pa.Table | Mapping[str, NDArray[Any]]) -> None:
        self._source = source
        self._names = list(source.column_names) if isinstance(source, pa.Table) else list(source)
        self._columns: dict[str, NDArray[Any]] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._columns:
            column = self._source[name]
            self._columns[name] = _numpy(column) if isinstance(self._source, pa.Table) else column
        return self._columns[name]

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        if isinstance(self._source, pa.Table):
            return int(self._source.num_rows)
        return len(self[self._names[0]]) if self._names else 0

    def where(self, **wanted: Any) -> Frame:
        """Returns the rows in which every named column has the given value (or one of a tuple of values)."""
        keep = np.ones(len(self), bool)
        for name, value in wanted.items():
            keep &= np.isin(self[name], value) if isinstance(value, tuple) else self[name] == value
        return self.rows(keep)

    def rows(self, keep: NDArray[Any]) -> Frame:
        """Returns the rows selected by a mask or by row numbers."""
        return Frame(_Rows(self, keep))


class _Rows(Mapping[str, "NDArray[Any]"]):
    """Some rows of a frame. Most columns of a selection are never read, so each is made when it is."""

    def __init__(self, frame: Frame, keep: NDArray[Any]) -> None:
        self.frame, self.keep = frame, keep

    def __getitem__(self, name: str) -> NDArray[Any]:
        return np.asarray(self.frame[name][self.keep])

    def __iter__(self) -> Iterator[str]:
        return iter(self.frame)

    def __len__(self) -> int:
        return sum(1 for _ in self.frame)


def _numpy(column: pa.ChunkedArray) -> NDArray[Any]:
    array = column.combine_chunks()
    if pa.types.is_dictionary(array.type):
        words = np.array([*array.dictionary.to_pylist(), ""], dtype=np.str_)
        codes = array.indices.cast(pa.int32())  # codes are unsigned, and a missing one is -1
        return np.asarray(words[_plain(codes)])
    return _plain(array)


def _plain(array: pa.Array) -> NDArray[Any]:
    if pa.types.is_integer(array.type) and array.null_count:
        array = array.fill_null(-1)
    return np.asarray(array.to_numpy(zero_copy_only=False))


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns cells as text, in columns that are as wide as their widest cell."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *rows))
    return "\n".join(line.rstrip() for line in lines)


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns cells as a table of HTML."""
    titles = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"
