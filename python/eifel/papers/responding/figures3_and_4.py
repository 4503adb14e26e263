"""Figures 3 and 4: delayed segments are lost: one, with Reno, and all but one, by recovery algorithm."""

from eifel.papers.artefact import Claim
from eifel.papers.claims import count, less, number, of
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import figure
from eifel.result import Result

_SPURIOUS = Claim("the first timeout is spurious", of(facts.first_timeout_is_spurious))
_NO_GENUINE = Claim("there is no genuine timeout", count("genuine_timeouts", 0))
_BLOCKED = settings.slow_link(settings.RENO_BLOCKED, lost=[settings.LOST_ALONE])
_ALL_BUT_ONE = {
    recovery: settings.slow_link(recovery, lost=settings.LOST_ALL_BUT_ONE)
    for recovery in ("reno-sack", "newreno-sack", "fack")
}


def _second_timeout_recovers(result: Result) -> bool:
    lost = result.of("drops", facts.FLOW)["tx"][0]
    sent = result.of("transmissions", facts.FLOW)
    start = sent["start"][sent["tx"] == lost][0]
    again = facts.retransmissions(result)
    cause = again["cause"][again["start"] == start][0]
    return str(cause) == "timeout"


def _last_repair_s(result: Result) -> float:
    return float(facts.retransmissions(result, needed="needed")["t_ns"][-1]) / 1e9


FIGURE_3A = figure(
    "3a",
    "Reno with Eifel, one delayed segment lost: fast retransmit blocked",
    _BLOCKED,
    _SPURIOUS,
    Claim("the lost segment waits for a second, genuine timeout", count("genuine_timeouts", 1)),
    Claim("it is that timeout which retransmits it", of(_second_timeout_recovers)),
    Claim("there is no fast retransmit", count("fast_retransmits", 0)),
)
FIGURE_3B = figure(
    "3b",
    "Reno with Eifel, one delayed segment lost: fast retransmit allowed",
    settings.slow_link(settings.RENO_ALLOWED, lost=[settings.LOST_ALONE]),
    _SPURIOUS,
    Claim("a fast retransmit recovers the loss", count("fast_retransmits", 1)),
    _NO_GENUINE,
    Claim("it is over sooner than with fast retransmit blocked", less("time_s", "blocked")),
    beside={"blocked": _BLOCKED},
)
FIGURE_4A = figure(
    "4a",
    "Reno-SACK with Eifel, all delayed segments but one lost",
    _ALL_BUT_ONE["reno-sack"],
    _SPURIOUS,
    Claim("Reno-SACK cannot recover without a genuine timeout", number("genuine_timeouts", lambda count: count >= 1)),
)
FIGURE_4B = figure(
    "4b",
    "NewReno-SACK with Eifel, all delayed segments but one lost",
    _ALL_BUT_ONE["newreno-sack"],
    _SPURIOUS,
    _NO_GENUINE,
    Claim(
        "every lost segment is retransmitted in fast recovery",
        lambda m: len(facts.retransmissions(m.result(), needed="needed")) >= len(settings.LOST_ALL_BUT_ONE),
    ),
    Claim("it is over sooner than with Reno-SACK", less("time_s", "reno-sack")),
    beside={"reno-sack": _ALL_BUT_ONE["reno-sack"]},
)
FIGURE_4C = figure(
    "4c",
    "FACK with Eifel, all delayed segments but one lost",
    _ALL_BUT_ONE["fack"],
    _SPURIOUS,
    _NO_GENUINE,
    Claim(
        "the last repair leaves sooner than with NewReno-SACK",
        lambda m: _last_repair_s(m.result()) < _last_repair_s(m.result(run="newreno-sack")),
    ),
    beside={"newreno-sack": _ALL_BUT_ONE["newreno-sack"]},
)
