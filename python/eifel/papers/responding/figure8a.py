"""Figure 8 (a): one of table 1's transfers, Reno-SACK without Eifel."""

from eifel.papers.artefact import Claim
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import figure, overview
from eifel.result import Result


def _reduces_every_time(result: Result) -> bool:
    opened = facts.timeout_episodes(result, "spurious")["opened_ns"]
    return len(opened) > 0 and all(facts.window_after(result, int(t)) < facts.window_at(result, int(t)) for t in opened)


ARTEFACT = figure(
    "8a",
    "Reno-SACK without Eifel on the uncongested link",
    settings.dumbbell("reno-sack", eifel=False),
    Claim("the congestion window falls at every spurious timeout", facts.of(_reduces_every_time)),
    Claim("at the first one it goes back N", facts.of(facts.goes_back_n)),
    Claim("there is no genuine timeout", facts.number("genuine_timeouts", lambda count: count == 0)),
    draw=overview,
)
