"""Figure 8 (a): one of table 1's transfers, Reno-SACK without Eifel."""

from eifel.papers.artefact import Claim
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import figure, overview
from eifel.result import Result


def _reduces_every_time(result: Result) -> bool:
    opened = facts.timeout_episodes(result, "spurious")["opened_ns"]
    return len(opened) > 0 and all(facts.window_after(result, int(t)) < facts.window_at(result, int(t)) for t in opened)


def _goes_back_n_every_time(result: Result, share: float = 0.8) -> bool:
    """Returns whether every spurious timeout causes the retransmission of at least this share of the flight.

    Some segments are lost at the first timeout: the stalled queue had dropped the end of a full
    window.
    """
    episodes, again = facts.timeout_episodes(result, "spurious"), facts.retransmissions(result)
    edges = zip(*(episodes[name] for name in ("opened_ns", "start", "recovery_point")), strict=True)
    for opened, start, end in edges:
        within = again.rows((again["t_ns"] >= opened) & (again["start"] >= start) & (again["start"] < end))
        segments = dict(zip(within["start"].tolist(), within["len"].tolist(), strict=True))
        if sum(segments.values()) < share * (end - start):
            return False
    return len(episodes) > 0


ARTEFACT = figure(
    "8a",
    "Reno-SACK without Eifel on the uncongested link",
    settings.dumbbell("reno-sack", eifel=False),
    Claim("the congestion window falls at every spurious timeout", facts.of(_reduces_every_time)),
    Claim("and it goes back N", facts.of(_goes_back_n_every_time)),
    Claim("there is no genuine timeout", facts.number("genuine_timeouts", lambda count: count == 0)),
    draw=overview,
)
