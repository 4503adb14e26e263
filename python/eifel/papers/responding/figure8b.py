"""Figure 8 (b): the transfer of figure 8 (a) with Eifel."""

from eifel.papers.artefact import Claim
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import figure, overview
from eifel.result import Result


def _grows_until_a_loss(result: Result) -> bool:
    """Returns whether each verdict before the first detected loss restores the window before its timeout."""
    detected = result.of("episodes").where(cause="fast-retransmit")["opened_ns"]
    loss = int(detected[0]) if len(detected) else 2**62
    spurious = facts.timeout_episodes(result).where(verdict="spurious")
    pairs = [(int(o), int(v)) for o, v in zip(spurious["opened_ns"], spurious["verdict_ns"], strict=True) if v < loss]
    return len(pairs) > 0 and all(facts.window_after(result, v) >= facts.window_at(result, o) for o, v in pairs)


def _first_loss_s(result: Result) -> float:
    return float(result.of("episodes").where(cause="fast-retransmit")["opened_ns"][0]) / 1e9


ARTEFACT = figure(
    "8b",
    "Reno-SACK with Eifel on the uncongested link",
    settings.dumbbell("reno-sack", eifel=True),
    Claim("the congestion window survives spurious timeouts until a loss is detected", facts.of(_grows_until_a_loss)),
    Claim("that is some 20 s into the connection", facts.of(lambda result: 15 < _first_loss_s(result) < 25)),
    Claim(
        "the connection lives less than half as long as without Eifel",
        lambda m: m.mean("time_s", run="drawn") < 0.5 * m.mean("time_s", run="without eifel"),
    ),
    Claim(
        "so it meets fewer spurious timeouts",
        lambda m: m.mean("spurious_timeouts", run="drawn") < m.mean("spurious_timeouts", run="without eifel"),
    ),
    draw=overview,
    beside={"without eifel": settings.dumbbell("reno-sack", eifel=False)},
)
