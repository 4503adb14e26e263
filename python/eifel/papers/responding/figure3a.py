"""Figure 3 (a): Reno with Eifel, one delayed segment lost, fast retransmit blocked up to the recovery point."""

from eifel.papers.artefact import Claim
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import figure
from eifel.result import Result


def _second_timeout_recovers(result: Result) -> bool:
    lost = result.of("drops", facts.FLOW)["tx"][0]
    sent = result.of("transmissions", facts.FLOW)
    start = sent["start"][sent["tx"] == lost][0]
    again = facts.retransmissions(result)
    cause = again["cause"][again["start"] == start][0]
    return str(cause) == "timeout"


ARTEFACT = figure(
    "3a",
    "Reno with Eifel, one delayed segment lost: fast retransmit blocked",
    settings.slow_link(settings.RENO_BLOCKED, lost=[settings.LOST_ALONE]),
    Claim("the first timeout is spurious", facts.of(facts.first_timeout_is_spurious)),
    Claim(
        "the lost segment waits for a second, genuine timeout",
        facts.number("genuine_timeouts", lambda count: count == 1),
    ),
    Claim("it is that timeout which sends it again", facts.of(_second_timeout_recovers)),
    Claim("there is no fast retransmit", facts.number("fast_retransmits", lambda count: count == 0)),
)
