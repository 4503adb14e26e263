"""Figure 4 (a): Reno-SACK with Eifel, segments 9 to 15 of the delayed ones lost."""

from eifel.papers.artefact import Claim
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import figure

ARTEFACT = figure(
    "4a",
    "Reno-SACK with Eifel, all delayed segments but one lost",
    settings.slow_link("reno-sack", lost=settings.LOST_ALL_BUT_ONE),
    Claim("the first timeout is spurious", facts.of(facts.first_timeout_is_spurious)),
    Claim(
        "Reno-SACK cannot recover without a genuine timeout",
        facts.number("genuine_timeouts", lambda count: count >= 1),
    ),
)
