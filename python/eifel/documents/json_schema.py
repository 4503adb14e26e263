"""Parts of JSON Schemas."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

Schema = dict[str, Any]
ANY: Schema = {}
BOOL: Schema = {"type": "boolean"}
INT: Schema = {"type": "integer"}
NUM: Schema = {"type": "number"}
STR: Schema = {"type": "string"}
NULL: Schema = {"type": "null"}


def either(*forms: Schema) -> Schema:
    return {"anyOf": [*forms]}


def maybe(form: Schema) -> Schema:
    """Allows null too: the value does not exist, or is no finite number."""
    return {"type": [form["type"], "null"]} if set(form) == {"type"} else either(form, NULL)


def word(*words: str) -> Schema:
    return {"enum": [*words]}


def array(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def pair(of: Schema) -> Schema:
    return {"type": "array", "items": of, "minItems": 2, "maxItems": 2}


def named(of: Schema) -> Schema:
    """Returns the schema of an object with any keys."""
    return {"type": "object", "additionalProperties": of}


def record(keys: Mapping[str, Schema], others: Mapping[str, Schema] | None = None, about: str = "") -> Schema:
    """Returns the schema of an object with all of `keys`, and perhaps some of `others`."""
    described = {"description": about} if about else {}
    return {"type": "object", **described, "properties": {**keys, **(others or {})}, "required": [*keys]}


def counts(kind: type) -> dict[str, Schema]:
    """Returns an integer for each field of a dataclass of counts."""
    return {field.name: INT for field in fields(kind)}
