"""Common parts of all figures of the paper."""

from collections.abc import Mapping
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Column, Draw, Measured, Recorded, Row, Setting, cited, counts
from eifel.papers.claims import of
from eifel.papers.responding import facts, settings
from eifel.plots import Figure, time_sequence_figure, timer_figure
from eifel.plots import overview as overview_figure

COLUMNS = (
    Column("time_s", "Time, s"),
    *counts(
        "segments_sent",
        "retransmissions",
        "spurious_retransmissions",
        "timeouts",
        "spurious_timeouts",
        "genuine_timeouts",
        "fast_retransmits",
    ),
)
DETECTED = Claim("the timeout is spurious, and detected", of(facts.first_timeout_is_detected))


def time_sequence(measured: Measured) -> Figure:
    return time_sequence_figure(measured.result(), title=measured.artefact.title)


def timer(measured: Measured) -> Figure:
    return timer_figure(measured.result(), title=measured.artefact.title)


def overview(measured: Measured) -> Figure:
    return overview_figure(measured.result(), title=measured.artefact.title)


def figure(
    name: str,
    title: str,
    scenario: Mapping[str, Any],
    *claims: Claim,
    draw: Draw = time_sequence,
    beside: Mapping[str, Mapping[str, Any]] | None = None,
    seed: int = settings.SEED,
) -> Artefact:
    """Returns a figure of one run. `beside` names the scenarios of further runs for a claim's comparison."""
    runs = {"drawn": scenario, **(beside or {})}
    return Artefact(
        id=f"responding.figure{name}",
        title=title,
        source=f"{settings.SOURCE}, {cited(name)}",
        columns=COLUMNS,
        rows=tuple(Row({"run": run}, made) for run, made in runs.items()),
        seed=seed,
        claims=claims,
        fitted=_open_settings(scenario, seed),
        method=Recorded(draw),
    )


def _open_settings(scenario: Mapping[str, Any], seed: int) -> tuple[Setting, ...]:
    if "dumbbell" not in scenario:
        return _chosen(scenario)
    # One of the tables' own transfers, with their fitted settings.
    drawn = Setting("transfer", f"the first of seed {seed}", "the paper does not say which transfer it drew")
    return (drawn, *settings.FITTED)


def _chosen(scenario: Mapping[str, Any]) -> tuple[Setting, ...]:
    """Returns the settings of a run over the slow link that the paper does not state, read from its scenario.

    The figures' texts and axes are lost, so settings cannot be fitted.
    """
    link, flow = scenario["point_to_point"], scenario["flow"][0]
    tcp, congest = flow["tcp"], flow["sender"]["congest"]
    return (
        *_path(link),
        *(_spike(spike["at"][0]) for spike in scenario.get("spike", ())),
        Setting("data", f"{flow['application']['bytes']} bytes", "enough to see what follows the timeout"),
        *_window(tcp),
        Setting("initial window", f"{congest['initial_window_segments']} segment", "not stated for the figures"),
        Setting("window", "as ns-2 keeps it", "as in the tables, whose rows it was fitted to"),
        Setting("ACKs", "one a segment", "the tables' delayed ACKs are not stated for the figures"),
    )


def _path(link: Mapping[str, Any]) -> list[Setting]:
    made = [
        Setting("one-way delay", f"{link['delay_ms']} ms", "of the size that wireless links of the time had"),
        Setting("queue", "no limit", "nothing is lost but what is dropped on purpose"),
    ]
    if link["rate_bps"] == settings.SLOW_BPS:
        made.insert(
            0, Setting("link rate", f"{settings.SLOW_BPS} bit/s", "stated for figure 1 (a), taken for figures 1-6")
        )
    for change in link.get("rate_changes", ()):
        made.append(
            Setting("instant of the change", f"{change['at_s']:g} s", "once the RTO has come down to its least value")
        )
    if link.get("drops", {}).get("segments") == [settings.LOST_ALONE]:
        reason = "one of the delayed segments; the paper does not say which"
        made.append(Setting("lost segment", f"{settings.LOST_ALONE}", reason))
    return made


def _spike(at: Mapping[str, float]) -> Setting:
    value = f"{at['start_s']:g} to {at['end_s']:g} s"
    if (at["start_s"], at["end_s"]) == settings.SLOW_SPIKE_S:
        return Setting("spike", value, "segments 8 to 15 are outstanding when it begins, as figure 4 has it")
    return Setting("spike", value, "late enough for the RTO to have come to rest")


def _window(tcp: Mapping[str, Any]) -> list[Setting]:
    segments = tcp["receive_window_bytes"] // tcp["payload_bytes"]
    made = []
    if tcp["payload_bytes"] != settings.MSS_BYTES:
        reason = "at 10 kbit/s a segment of 1000 bytes takes less than the least RTO: no timer would expire"
        made.append(Setting("payload", f"{tcp['payload_bytes']} bytes", reason))
    if tcp["receive_window_bytes"] == settings.RECEIVE_WINDOW_BYTES:
        reason = "stated for the tables"
    else:
        reason = "so that the round trip does not grow and the RTO comes to rest before the timeout"
    made.append(Setting("receive window", f"{segments} segments", reason))
    return made
