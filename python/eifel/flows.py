"""The flows of a scenario, with repeated entries expanded, as the engine counts them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Flow:
    """One flow: its name, and the nodes at its ends."""

    name: str
    sender: str
    """The node that opens the flow."""
    receiver: str
    group: str = ""
    """The name with its `#` if the scenario repeats the flow; empty otherwise."""


def flows_of(settings: Mapping[str, Any]) -> tuple[Flow, ...]:
    """Returns the flows of a scenario in the engine's order. Rows of results count them from 0."""
    flows: list[Flow] = []
    for entry in settings.get("flow", ()):
        group = str(entry["name"]) if "repeat" in entry else ""
        for number in range(1, int(entry.get("repeat", 1)) + 1):
            name, sender, receiver = (str(entry[key]).replace("#", str(number)) for key in ("name", "from", "to"))
            flows.append(Flow(name, sender, receiver, group))
    return tuple(flows)


def main_flow(**settings: Any) -> dict[str, Any]:
    """Returns the flow `main` of a scenario, from the node `sender` to the node `receiver`, with these settings."""
    return {"name": "main", "from": "sender", "to": "receiver", **settings}
