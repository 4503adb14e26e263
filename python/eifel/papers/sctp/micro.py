"""Common parts of figures 2 to 10: recorded runs."""

from collections.abc import Mapping, Sequence
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Recorded, Row, cited, counts
from eifel.papers.claims import of
from eifel.papers.sctp import facts, settings
from eifel.plots import Figure, paths_figure

ENDLESS: Mapping[str, Any] = {"kind": "bulk", "endless": True}
DURATION_S = 16

COLUMNS = (
    Column("segments_sent", "Chunks sent", digits=0),
    *counts("retransmissions", "spurious_retransmissions", "timeouts", "fast_retransmits"),
    Column("detected_spurious", "Detected as spurious", digits=0),
    Column("undos", "Undos", digits=0),
)
DETECTED = Claim(
    "the timeout is detected as spurious: the only loss signal of the run, and all that it retransmits is needless",
    of(facts.detected("timeout")),
)
EXPIRES_ONCE = Claim("the timer expires once, needlessly: nothing had been lost", of(facts.expires_once_needlessly))
BY_ORIGINAL = Claim(
    "the ACK of an original decides it, before an ACK of the retransmission can come", of(facts.decided_by_original)
)
BY_REPORTS = Claim(
    "the last of the DupTSN reports decides it, one for each retransmission, after loss recovery has ended",
    of(lambda result: facts.decided_by_reports(result) and facts.decided_after_recovery_s(result) > 0),
)


TODAY = "RFC 9260"
"""The drawn run by today's rules."""


def figure(name: str, title: str, runs: Mapping[str, Mapping[str, Any]], *claims: Claim) -> Artefact:
    """Returns a figure that draws the first run, and adds it by today's rules. A claim may compare others."""
    runs = {**runs, TODAY: _today(next(iter(runs.values())))}
    return Artefact(
        id=f"sctp.figure{name}",
        title=title,
        source=f"{settings.SOURCE}, {cited(name)}",
        columns=COLUMNS,
        rows=tuple(Row({"run": run}, made) for run, made in runs.items()),
        seed=settings.SEED,
        claims=claims,
        fitted=(*settings.LEFT_OPEN, settings.AT_SENDER, *settings.LENGTHS),
        method=Recorded(_draw, chart=False),
    )


def _today(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a run without the older rules for losses. A short spike is as long as a timeout then takes."""
    (flow,) = scenario["flow"]
    plain = {key: value for key, value in flow["sctp"].items() if key not in settings.RFC_2960["sctp"]}
    short, today = (settings.one_spike(length_s)["at"] for length_s in _SHORT_S)
    spikes = [{**spike, "at": today} if spike["at"] == short else spike for spike in scenario.get("spike", ())]
    return {**scenario, "flow": [{**flow, "sctp": plain}], **({"spike": spikes} if spikes else {})}


_SHORT_S = (settings.SHORT_SPIKE_S, settings.SHORT_SPIKE_TODAY_S)
"""The short spike's length by RFC 2960's rules, and by today's."""


def _draw(measured: Measured) -> Figure:
    return paths_figure(measured.result(), title=measured.artefact.title)


def association(protocol: settings.Sctp, length_s: float, paths: int = 1, **more: Any) -> dict[str, Any]:
    """Returns an association that sends for the duration of the figures, with one spike of this length."""
    spike = settings.one_spike(length_s)
    return settings.scenario(protocol, ENDLESS, DURATION_S, paths=paths, spike=spike, **more)


def observed(
    protocol: settings.Sctp, length_s: float, held: Sequence[str], rules: settings.Sctp, **alternate: Any
) -> dict[str, Any]:
    """Returns plain SCTP over two paths, observed by Eifel and DupTSN. `protocol` gives the options in use."""
    watched = [settings.OLDER, settings.DUP_TSN["sender"]["detect"]]
    return association(
        {**protocol, "sender": {"detect": "none", "observers": watched}},
        length_s,
        paths=2,
        held=held,
        rules=rules,
        alternate=alternate,
    )


def reordered(protocol: settings.Sctp) -> dict[str, Any]:
    """Returns an association in which enough packets overtake one to cause a fast retransmit."""
    late = {"flow": "main", "segments": [settings.REORDERED_CHUNK], "length": settings.REORDERED_BY}
    return settings.scenario(protocol, ENDLESS, 10, forward={"reorder": late})
