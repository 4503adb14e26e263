"""Packs a run as the data of an interactive chart: the table columns that layers.js draws."""

import json
from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.report.columns import Packer
from eifel.result import Result

BLOCKS = tuple(f"sack{block}_{end}" for block in (1, 2, 3) for end in ("start", "end"))
COLUMNS = {
    "transmissions": ("t_ns", "tx", "start", "len", "segment", "kind", "needed", "path"),
    "acks": ("t_ns", "cumulative", *BLOCKS),
    "arrivals": ("t_ns", "start", "len", "new_bytes", "in_order"),
    "drops": ("t_ns", "tx"),
    "window": ("t_ns", "cwnd", "ssthresh", "flight", "path"),
    "timer": ("t_ns", "event", "rtt_ns", "srtt_ns", "rto_ns", "path"),
    "episodes": ("opened_ns", "closed_ns", "cause"),
    "spikes": ("start_ns", "end_ns"),
}
"""The drawn columns of each table. `path` exists if an association has several paths. Arrivals are
drawn for runs recorded at the receiver, which do not know the transmissions.
"""


def chart(result: Result, flow: int, label: str) -> str:
    """Returns the element that the page's script turns into a chart, with the data inside."""
    packer = Packer()
    tables: dict[str, Any] = {}
    words: dict[str, list[str]] = {}
    for name, columns in COLUMNS.items():
        if name not in result.tables:
            continue
        # A spike holds a link and belongs to no flow.
        rows = result.frame(name) if name == "spikes" else result.of(name, flow)
        if name == "arrivals" and ("transmissions" not in result.tables or len(result.of("transmissions", flow))):
            continue
        tables[name] = {}
        for column in columns:
            if column not in rows:
                continue
            values = rows[column]
            if values.dtype.kind == "U":
                values, words[f"{name}.{column}"] = coded(values)
            # Charts show whole microseconds, which are shorter.
            tables[name][column] = packer.add(values // 1000, 1000) if column.endswith("_ns") else packer.add(values)
    return figure("chart", {"tables": tables, "words": words}, packer, label)


def coded(values: NDArray[Any]) -> tuple[NDArray[Any], list[str]]:
    """Encodes words as whole numbers. Returns the numbers, and the word of each number."""
    words = sorted(set(values.tolist()))
    return np.searchsorted(np.array(words, dtype=np.str_), values), words


def figure(kind: str, described: Mapping[str, Any], packer: Packer, label: str) -> str:
    """Returns the element that the page's script turns into a picture of this kind, with its data."""
    data = json.dumps(described, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<figure class="{kind}" aria-label="{escape(label)}">'
        f'<script type="application/json">{data}</script>'
        f'<script type="application/octet-stream">{packer.packed()}</script></figure>'
    )
