"""What can go wrong because of what was asked, as opposed to a fault of ours."""

from __future__ import annotations


class BadInputError(ValueError):
    """Something asked for does not exist or cannot be read; the message is one line for the person who asked."""


def __getattr__(name: str) -> type[ValueError]:
    # The engine raises its own class; importing it needs the engine, which `eifel --help` does without.
    if name in ("CaptureError", "PathError", "ScenarioError", "ScriptError"):
        from eifel import _engine

        raised: type[ValueError] = getattr(_engine, name)
        return raised
    raise AttributeError(f"module 'eifel.errors' has no attribute {name!r}")
