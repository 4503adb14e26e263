"""Figure 3 (b): the same loss as in figure 3 (a), with fast retransmit allowed."""

from eifel.papers.artefact import Claim
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import figure

ARTEFACT = figure(
    "3b",
    "Reno with Eifel, one delayed segment lost: fast retransmit allowed",
    settings.slow_link(settings.RENO_ALLOWED, lost=[settings.LOST_ALONE]),
    Claim("the first timeout is spurious", facts.of(facts.first_timeout_is_spurious)),
    Claim("a fast retransmit recovers the loss", facts.number("fast_retransmits", lambda count: count == 1)),
    Claim("there is no genuine timeout", facts.number("genuine_timeouts", lambda count: count == 0)),
    Claim(
        "it is over sooner than with fast retransmit blocked",
        lambda m: m.mean("time_s", run="drawn") < m.mean("time_s", run="blocked"),
    ),
    beside={"blocked": settings.slow_link(settings.RENO_BLOCKED, lost=[settings.LOST_ALONE])},
)
