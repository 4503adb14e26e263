"""Senders in whose runs detectors are judged: those that watch side by side, and those that act."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

BY_TIMESTAMPS = ("eifel-timestamps", "eifel-or-f-rto")
"""What a connection without timestamps refuses."""


@dataclass(frozen=True)
class Runs:
    """Runs in which some detectors are judged: the sender's algorithms, and the detectors by the names to be shown."""

    sender: Mapping[str, Any]
    detectors: Mapping[str, str]

    def there(self, scenario: Mapping[str, Any]) -> Runs:
        """The runs without the detectors that need timestamps, where the scenario has none."""
        if scenario["flow"][0]["tcp"].get("timestamps", True):
            return self
        names = {shown: name for shown, name in self.detectors.items() if name not in BY_TIMESTAMPS}
        watchers = self.sender.get("observers", ())
        left = [one for one in watchers if (one if isinstance(one, str) else one["name"]) not in BY_TIMESTAMPS]
        return Runs({**self.sender, **({"observers": left} if watchers else {})}, names)


def watching(detectors: Mapping[str, Any]) -> Runs:
    """Runs in which nobody acts and these watch; each name in the registry at most once."""
    names = {shown: entry if isinstance(entry, str) else entry["name"] for shown, entry in detectors.items()}
    return Runs({"detect": "none", "observers": list(detectors.values())}, names)


def acting(name: str) -> Runs:
    """Runs in which one acts and so gets its probes; nothing is restored, but no more is sent again once it says so."""
    return Runs({"detect": name}, {name: name})
