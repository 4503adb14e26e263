"""The senders of the runs that judge detectors: observers side by side, or an acting detector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

BY_TIMESTAMPS = ("eifel-timestamps", "eifel-or-f-rto")
"""The detectors that a connection without timestamps refuses."""


@dataclass(frozen=True)
class Runs:
    """Runs that judge detectors: the sender's algorithms, and the registry names of the detectors by displayed name."""

    sender: Mapping[str, Any]
    detectors: Mapping[str, str]

    def there(self, scenario: Mapping[str, Any]) -> Runs:
        """Returns the runs without the detectors that need timestamps, if the scenario has none."""
        if scenario["flow"][0]["tcp"].get("timestamps", True):
            return self
        names = {shown: name for shown, name in self.detectors.items() if name not in BY_TIMESTAMPS}
        watchers = self.sender.get("observers", ())
        left = [one for one in watchers if (one if isinstance(one, str) else one["name"]) not in BY_TIMESTAMPS]
        return Runs({**self.sender, **({"observers": left} if watchers else {})}, names)


def watching(detectors: Mapping[str, Any]) -> Runs:
    """Returns runs in which these detectors observe and none acts. Each registry name occurs at most once."""
    names = {shown: entry if isinstance(entry, str) else entry["name"] for shown, entry in detectors.items()}
    return Runs({"detect": "none", "observers": list(detectors.values())}, names)


def acting(name: str) -> Runs:
    """Returns runs in which one detector acts and gets its probes. Its verdict only ends retransmissions."""
    return Runs({"detect": name}, {name: name})
