"""The algorithms in the engine's registry."""

import json
from typing import Any


def algorithms(seam: str | None = None) -> list[dict[str, Any]]:
    """Returns every algorithm, or those of one seam: "detect", "respond", "rto", "recover", "congest", ...

    Example: `[entry["name"] for entry in eifel.algorithms("detect")]`.

    Each is a dict of `seam`, `name`, `summary`, `source` (RFC or paper, section), `association`
    (whether only SCTP can use it) and `parameters`. A parameter is a dict of `name`, `kind`,
    `default`, `minimum`, `maximum`, `allowed`.
    """
    from eifel import _engine

    entries: list[dict[str, Any]] = json.loads(_engine.registry())
    return [entry for entry in entries if seam is None or entry["seam"] == seam]


def seams() -> list[str]:
    """Returns the seams that have algorithms, in the engine's order."""
    return list(dict.fromkeys(entry["seam"] for entry in algorithms()))
