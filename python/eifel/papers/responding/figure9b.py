"""Figure 9 (b): the transfer of figure 9 (a) with NewReno-SACK."""

from eifel.papers.artefact import Claim
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import figure, overview

ARTEFACT = figure(
    "9b",
    "NewReno-SACK with Eifel on the congested link",
    settings.dumbbell("newreno-sack", eifel=True, congested=True),
    Claim("there is no genuine timeout", facts.number("genuine_timeouts", lambda count: count == 0)),
    Claim(
        "it is faster than Reno-SACK",
        lambda m: m.mean("time_s", run="drawn") < m.mean("time_s", run="reno-sack"),
    ),
    draw=overview,
    beside={"reno-sack": settings.dumbbell("reno-sack", eifel=True, congested=True)},
)
