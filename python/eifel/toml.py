"""Writes TOML: what `tomllib` reads. Only what a scenario holds: tables, lists, strings, numbers, booleans.

NumPy's numbers and arrays count as what they hold: a notebook that sweeps with `np.linspace` has nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def dumps(document: Mapping[str, Any]) -> str:
    """The document as TOML text. Raises TypeError at a value that TOML has no form for, naming its key."""
    lines: list[str] = []
    _table(held(document), (), lines)
    return "\n".join(lines).strip() + "\n"


def value(plain: Any) -> str:
    """One value as TOML text. Raises TypeError at what TOML has no form for."""
    return _value(held(plain), ("value",))


def held(value: Any) -> Any:
    """The same with what NumPy's numbers and arrays hold in their place, in tables and lists too."""
    if hasattr(value, "tolist"):
        # A float of NumPy's is a float, but does not print as one.
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: held(inner) for key, inner in value.items()}
    return [held(inner) for inner in value] if isinstance(value, list | tuple) else value


def _table(table: Mapping[str, Any], path: tuple[str, ...], lines: list[str]) -> None:
    deferred: list[tuple[str, Any]] = []
    for key, value in table.items():
        if isinstance(value, Mapping) or _is_table_list(value):
            deferred.append((key, value))
        else:
            lines.append(f"{_key(key, path)} = {_value(value, (*path, key))}")
    for key, value in deferred:
        inner = (*path, key)
        name = ".".join(_key(part, path) for part in inner)
        for item in [value] if isinstance(value, Mapping) else value:
            header = f"[{name}]" if isinstance(value, Mapping) else f"[[{name}]]"
            lines.extend(["", header])
            _table(item, inner, lines)


def _is_table_list(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(isinstance(item, Mapping) for item in value)


def _key(key: object, path: tuple[str, ...]) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{'.'.join(path) or 'scenario'}: a key has to be a string, not {key!r}")
    return key if _BARE.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    # JSON's escapes are TOML's, but for characters beyond 16 bits (so none are escaped) and DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any, path: tuple[str, ...]) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k, path)} = {_value(v, (*path, k))}" for k, v in value.items()) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(_value(item, path) for item in value) + "]"
    raise TypeError(f"{'.'.join(path)}: a scenario cannot hold {type(value).__name__}")
