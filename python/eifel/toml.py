"""Writes TOML for the types that a scenario holds: tables, lists, strings, numbers, booleans.

Also accepts NumPy's numbers and arrays, as from a sweep with `np.linspace` in a notebook.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def dumps(document: Mapping[str, Any]) -> str:
    """Returns the document as TOML text. Raises TypeError for an unsupported value, with its key."""
    lines: list[str] = []
    _table(held(document), (), lines)
    return "\n".join(lines).strip() + "\n"


def value(plain: Any) -> str:
    """Returns one value as TOML text. Raises TypeError for an unsupported value."""
    return _value(held(plain), ("value",))


def held(value: Any) -> Any:
    """Replaces NumPy's numbers and arrays, and detectors of Python, by what stands for them, also inside tables."""
    if hasattr(value, "__eifel__"):
        return value.__eifel__()
    if hasattr(value, "tolist"):
        # A NumPy float is a float, but its repr is not a number.
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
    # JSON's escapes are TOML's, except DEL and characters beyond 16 bits; the latter stay
    # unescaped.
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
