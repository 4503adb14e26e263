"""`docs/internals/measured.json`: the results of the artefacts with numbers in the documents."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eifel.documents import INTERNALS

STORE = INTERNALS / "measured.json"
Stored = Mapping[str, Any]


def read(store: Path = STORE) -> Stored:
    """Returns the latest measurement."""
    found: Stored = json.loads(store.read_text(encoding="utf-8"))
    return found


def row_of(store: Stored, artefact: str, keys: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the only row of an artefact with these keys."""
    rows = [row for row in store[artefact]["rows"] if keys.items() <= row["keys"].items()]
    if len(rows) != 1:
        raise LookupError(f"{artefact}: {len(rows)} rows with {dict(keys)}, not one")
    found: Mapping[str, Any] = rows[0]
    return found


def mean(store: Stored, artefact: str, column: str, **keys: Any) -> float:
    return float(row_of(store, artefact, keys)["measured"][column])


def half_width(store: Stored, artefact: str, column: str, **keys: Any) -> float:
    """Returns half of its 95 % interval."""
    low, high = row_of(store, artefact, keys)["interval95"][column]
    return float(high - low) / 2


def with_half(store: Stored, artefact: str, column: str, **keys: Any) -> str:
    """Returns a mean with half of its 95 % interval."""
    return f"{mean(store, artefact, column, **keys):.2f} ± {half_width(store, artefact, column, **keys):.2f}"


def written(store: Stored) -> str:
    parts = []
    for name, one in store.items():
        rows = ",\n".join(json.dumps(row) for row in one["rows"])
        head = json.dumps({key: value for key, value in one.items() if key != "rows"})
        parts.append(f'{json.dumps(name)}: {head[:-1]}, "rows": [\n{rows}\n]}}')
    return "{\n" + ",\n".join(parts) + "\n}\n"
