"""Packs columns of whole numbers for the page: deltas, bytes of a kind together, gzip, base64.

Neighbouring values differ little, so most high bytes of the deltas are zero; a hundred thousand segments take about
100 kB. The page opens it with the browser's own DecompressionStream.
"""

from __future__ import annotations

import base64
import gzip
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Packer:
    """Collects columns; each is referred to by the dict that `add` gives."""

    def __init__(self) -> None:
        self._planes: list[bytes] = []
        self._count = 0

    def add(self, values: NDArray[Any], scale: float = 1.0, offset: float = 0.0) -> dict[str, float | int]:
        """Adds whole numbers that stand for `value * scale + offset`.

        Where a step between neighbours does not fit 32 bits, all are kept to a tenth of the resolution, or less.
        """
        whole = np.asarray(values, dtype=np.int64)
        while len(whole) and (np.abs(np.diff(whole, prepend=0)) > 2**31 - 1).any():
            whole = np.rint(whole / 10).astype(np.int64)
            scale *= 10
        deltas = np.diff(whole, prepend=0).astype("<i4")
        self._planes.append(deltas.view(np.uint8).reshape(-1, 4).T.tobytes())
        column = {"at": self._count, "n": len(whole), "scale": scale, "offset": offset}
        self._count += 4 * len(whole)
        return column

    def packed(self) -> str:
        """Everything added, as text."""
        return base64.b64encode(gzip.compress(b"".join(self._planes), 9, mtime=0)).decode("ascii")


def unpack(text: str, column: dict[str, float | int]) -> NDArray[np.float64]:
    """A column again, as the page makes it."""
    content = gzip.decompress(base64.b64decode(text))
    at, count = int(column["at"]), int(column["n"])
    planes = np.frombuffer(content[at : at + 4 * count], np.uint8).reshape(4, count)
    deltas = np.ascontiguousarray(planes.T).view("<i4").ravel().astype(np.int64)
    return np.asarray(np.cumsum(deltas) * column["scale"] + column["offset"], dtype=np.float64)
