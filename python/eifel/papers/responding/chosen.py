"""The chosen settings of figures 1-6. The figures' texts and axes are lost, so settings cannot be fitted.

Each value is read from the scenario that is run, so the shown values are the used ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eifel.papers.artefact import Setting
from eifel.papers.responding import settings


def of(scenario: Mapping[str, Any]) -> tuple[Setting, ...]:
    """Returns the settings of a run over the slow link that the paper does not state, each with a reason."""
    link, flow = scenario["point_to_point"], scenario["flow"][0]
    tcp, congest = flow["tcp"], flow["sender"]["congest"]
    made = [
        *_path(link),
        *(_spike(spike["at"][0]) for spike in scenario.get("spike", ())),
        ("data", f"{flow['application']['bytes']} bytes", "enough to see what follows the timeout"),
        *_window(tcp),
        ("initial window", f"{congest['initial_window_segments']} segment", "not stated for the figures"),
        ("window", "as ns-2 keeps it", "as in the tables, whose rows it was fitted to"),
        ("ACKs", "one a segment", "the tables' delayed ACKs are not stated for the figures"),
    ]
    return tuple(Setting(name, value, reason, "chosen") for name, value, reason in made)


def _path(link: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    made = [
        ("one-way delay", f"{link['delay_ms']} ms", "of the size that wireless links of the time had"),
        ("queue", "no limit", "nothing is lost but what is dropped on purpose"),
    ]
    if link["rate_bps"] == settings.SLOW_BPS:
        made.insert(0, ("link rate", f"{settings.SLOW_BPS} bit/s", "stated for figure 1 (a), taken for figures 1-6"))
    for change in link.get("rate_changes", ()):
        made.append(("instant of the change", f"{change['at_s']:g} s", "once the RTO has come down to its least value"))
    if link.get("drops", {}).get("segments") == [settings.LOST_ALONE]:
        made.append(
            ("lost segment", f"{settings.LOST_ALONE}", "one of the delayed segments; the paper does not say which")
        )
    return made


def _spike(at: Mapping[str, float]) -> tuple[str, str, str]:
    value = f"{at['start_s']:g} to {at['end_s']:g} s"
    if (at["start_s"], at["end_s"]) == settings.SLOW_SPIKE_S:
        return "spike", value, "segments 8 to 15 are outstanding when it begins, as figure 4 has it"
    return "spike", value, "late enough for the RTO to have come to rest"


def _window(tcp: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    segments = tcp["receive_window_bytes"] // tcp["payload_bytes"]
    made = []
    if tcp["payload_bytes"] != settings.MSS_BYTES:
        reason = "at 10 kbit/s a segment of 1000 bytes takes less than the least RTO: no timer would expire"
        made.append(("payload", f"{tcp['payload_bytes']} bytes", reason))
    if tcp["receive_window_bytes"] == settings.RECEIVE_WINDOW_BYTES:
        reason = "stated for the tables"
    else:
        reason = "so that the round trip does not grow and the RTO comes to rest before the timeout"
    made.append(("receive window", f"{segments} segments", reason))
    return made
