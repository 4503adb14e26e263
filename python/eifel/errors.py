"""Errors in the input, as opposed to faults of this package."""


class BadInputError(ValueError):
    """Something in the input does not exist or cannot be read. The message is one line for the user."""


def __getattr__(name: str) -> type[Exception]:
    # The engine raises its own classes. Importing them needs the engine, which `eifel --help` does
    # without.
    if name in ("CaptureError", "PathError", "RunError", "ScenarioError"):
        from eifel import _engine

        raised: type[Exception] = getattr(_engine, name)
        return raised
    raise AttributeError(f"module 'eifel.errors' has no attribute {name!r}")
