"""The file of a captured path, as `eifel analyze --extract-path` writes it."""

from __future__ import annotations

import json

import pytest

from eifel.captured_path import CapturedPath

OPENS = ["the rate: packets never waited for each other, so it is at least this", "which ACKs are lost: about 4 were"]
WHY = "the replayed sender differs from the captured one in retransmissions: 12 captured, 9 replayed"


class Engine:
    """A fake of the engine's extracted path."""

    def __init__(self, refused: str | None) -> None:
        self._refused = refused

    def json(self) -> str:
        return json.dumps({"sender": "10.0.0.1:5001", "receiver": "10.0.0.2:80"})

    def scenario(self) -> str:
        return json.dumps({"duration_s": 3, "flow": [{"name": "main"}]})

    def refused(self) -> str | None:
        return self._refused

    def open_quantities(self) -> list[str]:
        return OPENS


@pytest.mark.parametrize(
    ("refused", "said"), [(None, "its events agree with the capture's."), (WHY, f"not trustworthy, for {WHY}.")]
)
def test_the_file_of_a_path_begins_with_what_its_capture_leaves_open(refused: str | None, said: str) -> None:
    text = CapturedPath(Engine(refused)).toml()  # type: ignore[arg-type]
    assert text.splitlines() == [
        "# The path that 10.0.0.1:5001 had to 10.0.0.2:80, as a capture of it shows.",
        f"# `eifel run` runs the replayed sender over it: {said}",
        *(f"# Open: {one}." for one in OPENS),
        "duration_s = 3",
        "",
        "[[flow]]",
        'name = "main"',
    ]
