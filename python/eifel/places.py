"""Joins captures of the same connections at several places of a path: the truth about each retransmission."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eifel.errors import BadInputError
from eifel.files import put
from eifel.truth import TRUTH, stem_of

if TYPE_CHECKING:
    import pyarrow as pa

    from eifel import _engine


class Places:
    def __init__(self, joined: _engine.Joined) -> None:
        self._joined = joined

    def __str__(self) -> str:
        return self._joined.text()

    def __repr__(self) -> str:
        places = ", ".join(one["place"] for one in self.report["places"])
        return f"Places: {len(self.report['retransmissions'])} retransmissions at {places}"

    def _repr_html_(self) -> str:
        """Returns a notebook's view: the summary as `eifel analyze` prints it."""
        return f"<pre>{escape(str(self))}</pre>"

    @cached_property
    def report(self) -> Mapping[str, Any]:
        """The whole report: `places`, `connections`, `retransmissions`."""
        report: Mapping[str, Any] = json.loads(self._joined.json())
        return report

    @cached_property
    def retransmissions(self) -> pa.Table:
        """A row for each retransmitted segment, with its frame at each place in `frame_PLACE`."""
        import pyarrow as pa

        names = [one["place"] for one in self.report["places"]]
        rows = []
        for row in self.report["retransmissions"]:
            frames = {f"frame_{name}": frame for name, frame in zip(names, row["frames"], strict=True)}
            rows.append(frames | {key: value for key, value in row.items() if key != "frames"})
        return pa.Table.from_pylist(rows)

    def truth(self, place: int = 0) -> str:
        """Returns the truth about the capture of a place, counted from the sender, as CSV.

        The columns are those of `eifel truth record`. `spurious` is empty where the captures do not show it.
        """
        return self._joined.truth(place)

    def write_truth(self, folder: Path | str) -> list[Path]:
        """Writes `NAME.truth.csv` for each capture `NAME.pcapng` into a folder, and returns their names."""
        names = [Path(folder) / f"{stem_of(Path(one['file']))}{TRUTH}" for one in self.report["places"]]
        if len(set(names)) < len(names):
            raise BadInputError("captures of the same name would share a truth file; expected different names")
        for place, name in enumerate(names):
            put(name, self.truth(place).encode())
        return names


def join(
    sender: Path | str,
    receiver: Path | str,
    *,
    between: Sequence[Path | str] = (),
    progress: Callable[[int, int], object] | None = None,
) -> Places:
    """Joins captures at both ends of a path, and in between in the order of the path.

    Example: `eifel.places.join("sender.pcapng", "receiver.pcapng").retransmissions`.

    Raises CaptureError (a ValueError) with a message of one line if a file is no capture or cannot be opened.
    """
    from eifel import _engine

    middle = ["between"] if len(between) == 1 else [f"between-{number}" for number in range(1, len(between) + 1)]
    names = ["sender", *middle, "receiver"]
    return Places(_engine.join(list(zip(names, [sender, *between, receiver], strict=True)), progress))
