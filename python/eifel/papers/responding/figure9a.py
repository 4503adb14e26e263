"""Figure 9 (a): one of table 2's transfers, Reno-SACK with Eifel."""

from eifel.papers.artefact import Claim
from eifel.papers.responding import facts, known, settings
from eifel.papers.responding.figure import figure, overview

ARTEFACT = figure(
    "9a",
    "Reno-SACK with Eifel on the congested link",
    settings.dumbbell("reno-sack", eifel=True, congested=True),
    Claim(
        "several genuine timeouts (the paper shows three)",
        facts.number("genuine_timeouts", lambda count: count >= 2),
    ),
    draw=overview,
    known=known.STALLS,
)
