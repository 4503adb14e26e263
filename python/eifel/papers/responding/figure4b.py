"""Figure 4 (b): the losses of figure 4 (a) with NewReno-SACK."""

from eifel.papers.artefact import Claim
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import figure

ARTEFACT = figure(
    "4b",
    "NewReno-SACK with Eifel, all delayed segments but one lost",
    settings.slow_link("newreno-sack", lost=settings.LOST_ALL_BUT_ONE),
    Claim("the first timeout is spurious", facts.of(facts.first_timeout_is_spurious)),
    Claim("there is no genuine timeout", facts.number("genuine_timeouts", lambda count: count == 0)),
    Claim(
        "every lost segment is sent again in fast recovery",
        lambda m: len(facts.retransmissions(m.result(), needed="needed")) >= len(settings.LOST_ALL_BUT_ONE),
    ),
    Claim(
        "it is over sooner than with Reno-SACK",
        lambda m: m.mean("time_s", run="drawn") < m.mean("time_s", run="reno-sack"),
    ),
    beside={"reno-sack": settings.slow_link("reno-sack", lost=settings.LOST_ALL_BUT_ONE)},
)
