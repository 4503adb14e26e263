"""Writes tables.md: every table that a run records, with the type, the meaning and the words of each column."""

import pyarrow as pa

from eifel.documents import REFERENCE, ROOT
from eifel.result import TABLES
from eifel.runs import run
from eifel.tables import described

PAGE = REFERENCE / "tables.md"
NAMES_OF_A_RUN = ("link", "detector", "reason")
"""Columns whose words come from the run, such as the names of its links."""


def _kind(field: pa.Field, column: pa.ChunkedArray) -> str:
    """Returns the type of a column, or its words if they are constant."""
    if not pa.types.is_dictionary(field.type):
        return str(field.type)
    if field.name in NAMES_OF_A_RUN:
        return "text"
    words = column.chunk(0).dictionary.to_pylist() if column.num_chunks else []
    return ", ".join(f"`{word}`" for word in words if word != "-")


def page() -> str:
    tables = run(ROOT / "examples" / "spike.toml").tables
    parts = [
        "# Record tables",
        "`eifel run --record FOLDER` and `eifel.run` keep these tables. `make docs` writes this page.",
        "Times are nanoseconds since the run began, lengths are bytes. Positions count the sender's stream: the\n"
        "SYN is position 0, the first byte is 1. `end` is `from` for the end that opens the flow, and `to` for the\n"
        "other. Only ends that send application data are recorded. A value that does not exist is null. Parquet\n"
        "files hold these meanings too, in the metadata of their schema.",
        "In a run with associations, `transmissions`, `window`, `timer`, `episodes` and `verdicts` also have the\n"
        "column `path`: the index of the path in the flow, 0 for the primary one. An association's positions are\n"
        "TSNs, from 0.",
    ]
    for name in TABLES:
        about = described()[name]
        rows = [
            f"| `{field.name}` | {_kind(field, tables[name][field.name])} | {about['columns'][field.name]} |"
            for field in tables[name].schema
        ]
        head = ["| column | type or words | meaning |", "|---|---|---|"]
        parts += [f"## `{name}`", about["about"], "\n".join([*head, *rows])]
    return "\n\n".join(parts) + "\n"
