"""Packs columns of whole numbers for the page: deltas, bytes of equal significance together, gzip, base64.

Neighbouring values differ little, so most high bytes of the deltas are zero. A hundred thousand
segments take about 100 kB. The page unpacks them with the browser's DecompressionStream.
"""

import base64
import gzip
from typing import Any

import numpy as np
from numpy.typing import NDArray

BYTES = 6
"""The bytes of a delta, enough for microseconds of four years, or bytes of a hundred terabytes."""
FARTHEST = 2**46 - 1
"""Larger magnitudes are clipped to this, as an "arbitrarily high" threshold."""


class Packer:
    """Collects columns. The dict returned by `add` refers to a column."""

    def __init__(self) -> None:
        self._planes: list[bytes] = []
        self._count = 0

    def add(self, values: NDArray[Any], scale: float = 1.0, offset: float = 0.0) -> dict[str, float | int]:
        """Adds whole numbers that stand for `value * scale + offset`."""
        whole = np.clip(np.asarray(values).astype(np.int64), -FARTHEST, FARTHEST)
        deltas = np.diff(whole, prepend=0).astype("<i8")
        self._planes.append(deltas.view(np.uint8).reshape(-1, 8).T[:BYTES].tobytes())
        column = {"at": self._count, "n": len(whole), "scale": scale, "offset": offset}
        self._count += BYTES * len(whole)
        return column

    def packed(self) -> str:
        return base64.b64encode(gzip.compress(b"".join(self._planes), 9, mtime=0)).decode("ascii")
