"""The path that a capture shows, and predictions of other senders over it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eifel import toml

if TYPE_CHECKING:
    from eifel import _engine

HEADER = """\
# The path that {sender} had to {receiver}, as a capture of it shows.
# `eifel run` runs the replayed sender over it: {agreement}.
{opens}"""


class CapturedPath:
    """The path of one connection, and the captured sender replayed over it."""

    def __init__(self, found: _engine.CapturedPath) -> None:
        self._found = found
        self.found: Mapping[str, Any] = json.loads(found.json())
        """`path`, `events` of the capture, and `replay`: the sender that comes nearest, and how near it comes."""

    @property
    def refused(self) -> str | None:
        """Why no prediction is made: the differences between the replay and the captured sender. None if they agree."""
        return self._found.refused()

    @property
    def scenario(self) -> dict[str, Any]:
        """The path with the replayed sender, in the form for `eifel.run`. Losses hit the captured segments."""
        return dict(json.loads(self._found.scenario()))

    def open_quantities(self) -> list[str]:
        """Returns what the capture leaves open, which predictions draw at random."""
        return self._found.open_quantities()

    def toml(self) -> str:
        """Returns the scenario as a file for `eifel run`. Comments list what the capture leaves open."""
        opens = "".join(f"# Open: {one}.\n" for one in self.open_quantities())
        agreement = f"not trustworthy, for {self.refused}" if self.refused else "its events agree with the capture's"
        words = {"sender": self.found["sender"], "receiver": self.found["receiver"]}
        return HEADER.format(**words, agreement=agreement, opens=opens) + toml.dumps(self.scenario)

    def summary(self) -> str:
        return self._found.summary()

    def check(self, changes: Mapping[str, Any]) -> None:
        """Raises PathError for keys and values that no sender has. Keys of the path are not checked here."""
        self._found.check(json.dumps(changes))

    def whatif(
        self,
        senders: Mapping[str, Mapping[str, Any]],
        *,
        draws: int = 100,
        seed: int = 1,
        progress: Callable[[int, int], object] | None = None,
    ) -> Mapping[str, Any]:
        """Runs each of `senders`, given as changed keys of the scenario, over `draws` possible paths.

        Keys begin with `sender.` or `tcp.`, or belong to the whole scenario. The captured sender
        comes first. Raises PathError (a ValueError) for a refused change. Does not check `refused`;
        the caller should do so first.
        """
        asked = json.dumps([*senders.items()])
        found: Mapping[str, Any] = json.loads(self._found.whatif(asked, draws, seed, progress))
        return found


def extract_path(
    file: Path | str, *, connection: int | None = None, progress: Callable[[int, int], object] | None = None
) -> CapturedPath:
    """Extracts the path of a connection from a capture at the data's sender.

    `connection` is its number; None selects the one with most data.

    Example: `eifel.run(eifel.extract_path("capture.pcapng").scenario)`.

    Raises CaptureError if the file is no capture or was not made at the sender, and PathError if it
    shows no path. Both are ValueErrors with a message of one line.
    """
    from eifel import _engine

    return CapturedPath(_engine.extract_path(file, connection, progress))
