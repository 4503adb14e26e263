"""Figure 4 (c): the losses of figure 4 (a) with FACK."""

from eifel.papers.artefact import Claim
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import figure
from eifel.result import Result


def _last_repair_s(result: Result) -> float:
    return float(facts.retransmissions(result, needed="needed")["t_ns"][-1]) / 1e9


ARTEFACT = figure(
    "4c",
    "FACK with Eifel, all delayed segments but one lost",
    settings.slow_link("fack", lost=settings.LOST_ALL_BUT_ONE),
    Claim("the first timeout is spurious", facts.of(facts.first_timeout_is_spurious)),
    Claim("there is no genuine timeout", facts.number("genuine_timeouts", lambda count: count == 0)),
    Claim(
        "the last repair leaves sooner than with NewReno-SACK",
        lambda m: _last_repair_s(m.result()) < _last_repair_s(m.result(run="newreno-sack")),
    ),
    beside={"newreno-sack": settings.slow_link("newreno-sack", lost=settings.LOST_ALL_BUT_ONE)},
)
