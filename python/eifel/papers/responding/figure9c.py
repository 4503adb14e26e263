"""Figure 9 (c): the transfer of figure 9 (a) with FACK."""

from eifel.papers.artefact import Claim
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import figure, overview

ARTEFACT = figure(
    "9c",
    "FACK with Eifel on the congested link",
    settings.dumbbell("fack", eifel=True, congested=True),
    Claim("there is no genuine timeout", facts.number("genuine_timeouts", lambda count: count == 0)),
    Claim(
        "it recovers faster than NewReno-SACK: the transfer is over sooner",
        lambda m: m.mean("time_s", run="drawn") < m.mean("time_s", run="newreno-sack"),
    ),
    draw=overview,
    beside={"newreno-sack": settings.dumbbell("newreno-sack", eifel=True, congested=True)},
)
