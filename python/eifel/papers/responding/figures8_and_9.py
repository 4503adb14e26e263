"""Figures 8 and 9: transfers of table 1, without and with Eifel, and of table 2, by recovery algorithm."""

from eifel.papers.artefact import Claim
from eifel.papers.claims import count, less, number, of
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import figure, overview
from eifel.result import Result

_NO_GENUINE = Claim("there is no genuine timeout", count("genuine_timeouts", 0))
_WITHOUT_EIFEL = settings.dumbbell("reno-sack", eifel=False)
_CONGESTED = {
    recovery: settings.dumbbell(recovery, eifel=True, congested=True)
    for recovery in ("reno-sack", "newreno-sack", "fack")
}


def _reduces_every_time(result: Result) -> bool:
    opened = facts.timeout_episodes(result, "spurious")["opened_ns"]
    return len(opened) > 0 and all(facts.window_after(result, int(t)) < facts.window_at(result, int(t)) for t in opened)


def goes_back_n_every_time(result: Result, share: float = 0.8) -> bool:
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


def _grows_until_a_loss(result: Result) -> bool:
    """Returns whether each verdict before the first detected loss restores the window before its timeout."""
    detected = result.of("episodes").where(cause="fast-retransmit")["opened_ns"]
    loss = int(detected[0]) if len(detected) else 2**62
    spurious = facts.timeout_episodes(result).where(verdict="spurious")
    pairs = [(int(o), int(v)) for o, v in zip(spurious["opened_ns"], spurious["verdict_ns"], strict=True) if v < loss]
    return len(pairs) > 0 and all(facts.window_after(result, v) >= facts.window_at(result, o) for o, v in pairs)


def _first_loss_s(result: Result) -> float:
    return float(result.of("episodes").where(cause="fast-retransmit")["opened_ns"][0]) / 1e9


FIGURE_8A = figure(
    "8a",
    "Reno-SACK without Eifel on the uncongested link",
    _WITHOUT_EIFEL,
    Claim("the congestion window falls at every spurious timeout", of(_reduces_every_time)),
    Claim("and it goes back N", of(goes_back_n_every_time)),
    _NO_GENUINE,
    draw=overview,
)
FIGURE_8B = figure(
    "8b",
    "Reno-SACK with Eifel on the uncongested link",
    settings.dumbbell("reno-sack", eifel=True),
    Claim("the congestion window survives spurious timeouts until a loss is detected", of(_grows_until_a_loss)),
    Claim("that is some 20 s into the connection: 15 to 25", of(lambda result: 15 < _first_loss_s(result) < 25)),
    Claim("the connection lives less than half as long as without Eifel", less("time_s", "without eifel", 0.5)),
    Claim("so it meets fewer spurious timeouts", less("spurious_timeouts", "without eifel")),
    draw=overview,
    beside={"without eifel": _WITHOUT_EIFEL},
)
FIGURE_9A = figure(
    "9a",
    "Reno-SACK with Eifel on the congested link",
    _CONGESTED["reno-sack"],
    Claim(
        "several genuine timeouts, at least two (the paper shows three)",
        number("genuine_timeouts", lambda count: count >= 2),
    ),
    draw=overview,
)
FIGURE_9B = figure(
    "9b",
    "NewReno-SACK with Eifel on the congested link",
    _CONGESTED["newreno-sack"],
    _NO_GENUINE,
    Claim("it is faster than Reno-SACK", less("time_s", "reno-sack")),
    draw=overview,
    beside={"reno-sack": _CONGESTED["reno-sack"]},
)
FIGURE_9C = figure(
    "9c",
    "FACK with Eifel on the congested link",
    _CONGESTED["fack"],
    _NO_GENUINE,
    Claim("it recovers faster than NewReno-SACK: the transfer is over sooner", less("time_s", "newreno-sack")),
    draw=overview,
    beside={"newreno-sack": _CONGESTED["newreno-sack"]},
)
