"""Common parts of figures 2 to 5: one run, and the times that the paper reads off it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Column, Draw, Measured, Recorded, Row, counts
from eifel.papers.dualrtt import settings
from eifel.papers.responding import facts
from eifel.plots import Figure, time_sequence_figure
from eifel.result import Result

COLUMNS = (
    *counts("segments_sent", "retransmissions", "spurious_retransmissions", "timeouts", "fast_retransmits"),
    Column("detected_spurious", "Detected as spurious", digits=0),
)


WITHIN = f"within {settings.TOLERANCE_S} s"
"""The tolerance of `near`, in the words of claims."""


def near(found: float, published: float) -> bool:
    """Returns whether a time in seconds equals the published one, within the tolerance."""
    return abs(found - published) <= settings.TOLERANCE_S


def at(
    instants: Callable[[Result], Sequence[float]], *published: float, run: str = "drawn"
) -> Callable[[Measured], bool]:
    """Returns a claim's check: whether these times are exactly the published ones."""

    def check(measured: Measured) -> bool:
        found = instants(measured.result(run=run))
        return len(found) == len(published) and all(map(near, found, published))

    return check


def timeouts_s(result: Result) -> list[float]:
    """Returns the times at which the retransmission timer expired, in seconds."""
    return [float(t) / 1e9 for t in result.of("timer", facts.FLOW).where(event="expired")["t_ns"]]


def verdicts_s(result: Result) -> list[float]:
    """Returns the times at which a timeout was called spurious, in seconds."""
    return [float(t) / 1e9 for t in facts.timeout_episodes(result).where(verdict="spurious")["verdict_ns"]]


def first_ack_s(result: Result) -> list[float]:
    """Returns the time of the first ACK after the end of the spike, in seconds."""
    acks = result.of("acks", facts.FLOW)["t_ns"]
    return [float(acks[acks >= settings.SPIKE_S[1] * 1e9][0]) / 1e9]


def fast_retransmits_s(result: Result) -> list[float]:
    """Returns the times of fast retransmits, in seconds."""
    return [float(t) / 1e9 for t in facts.retransmissions(result, cause="fast-retransmit")["t_ns"]]


def third_duplicate_s(measured: Measured) -> float:
    """Returns the time of the third consecutive duplicate ACK after the spike, in seconds."""
    acks = measured.result().of("acks", facts.FLOW).where(duplicate=True)
    return float(acks["t_ns"][acks["t_ns"] >= settings.SPIKE_S[1] * 1e9][2]) / 1e9


def retransmitted(result: Result, cause: str = "timeout") -> list[int]:
    """Returns the retransmitted segments, sorted and without duplicates."""
    return sorted({int(segment) for segment in facts.retransmissions(result, cause=cause)["segment"]})


def segments(first: int, last: int, cause: str = "timeout") -> Callable[[Measured], bool]:
    """Returns a claim's check: whether exactly these segments were retransmitted."""
    return lambda measured: retransmitted(measured.result(), cause) == list(range(first, last + 1))


def _draw(measured: Measured) -> Figure:
    return time_sequence_figure(measured.result(), title=measured.artefact.title)


def drawn(
    name: str,
    title: str,
    scenario: Mapping[str, Any],
    *claims: Claim,
    source: str,
    draw: Draw = _draw,
    chart: bool = True,
    timestamps: bool = False,
) -> Artefact:
    """Returns an artefact that draws one run. With timestamps there is a second one in which no link carries them."""
    runs = {"drawn": scenario}
    if timestamps:
        runs[settings.NOT_CARRIED] = settings.not_carried(scenario)
    return Artefact(
        id=f"dualrtt.{name}",
        title=title,
        source=f"{settings.SOURCE}, {source}",
        columns=COLUMNS,
        rows=tuple(Row({"run": run}, made) for run, made in runs.items()),
        claims=claims,
        fitted=(*settings.LEFT_OPEN, *((settings.CARRIED,) if timestamps else ())),
        method=Recorded(draw, chart=chart),
    )


def figure(number: int, title: str, scenario: Mapping[str, Any], *claims: Claim, timestamps: bool = False) -> Artefact:
    """Returns figure `number`: segments and ACKs over time."""
    return drawn(f"figure{number}", title, scenario, *claims, source=f"figure {number}", timestamps=timestamps)


def begins_with(segment: int, run: str = "drawn") -> Callable[[Measured], bool]:
    """Returns a claim's check: whether this segment alone is retransmitted by a timeout: the first that was held."""
    return lambda measured: retransmitted(measured.result(run=run)) == [segment]


DECIDES = (
    Claim("the ACK for the original segment 131 decides it", begins_with(131)),
    Claim(
        "... with timestamps that the link does not carry",
        begins_with(131, settings.NOT_CARRIED),
    ),
)
