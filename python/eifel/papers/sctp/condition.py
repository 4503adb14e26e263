"""The condition of section 5: the spikes after which Eifel has to rely on DupTSN reports."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Recorded, Row
from eifel.papers.sctp import facts, micro, settings
from eifel.plots import Figure, style
from eifel.result import Result

DELAYS_MS = (50, 100, 200, 300)
"""One-way delays of the alternate path. The primary's is 100 ms."""
PRIMARY_S = settings.DELAY_MS / 1000
LENGTHS_S = (1.3, 1.35, 1.4, 1.45, 1.5, 1.55, 1.6, 1.65, 1.7, 1.75, 1.8, 2.0, 2.2, 2.3, 2.5)
PACKET_S = 0.012
"""The time that a packet takes at the rate of the paths."""
SENDER, FAR_END, TODAY = "at the sender", "at the far end", "at the sender, RFC 9260"
PLACES = {
    SENDER: (settings.HELD_AT_SENDER, settings.RFC_2960),
    FAR_END: (settings.HELD_AT_FAR_END, settings.RFC_2960),
    TODAY: (settings.HELD_AT_SENDER, settings.RFC_9260),
}
"""Where a spike holds the data of the primary path, and the rules for losses."""


def _detects(result: Result, detector: str) -> bool:
    """Returns whether a detector calls the first timeout spurious, which it was."""
    needless = result.of("episodes").where(cause="timeout", truth="spurious")["episode"][:1]
    called = result.of("verdicts").where(detector=detector, verdict="spurious")["episode"]
    return bool(np.isin(needless, called).any())


def _by_eifel(result: Result) -> bool:
    return _detects(result, "eifel-cover-timestamps")


@dataclass(frozen=True)
class _Case:
    """A run in which the timer expired within the spike, or before the SACKs of what it held."""

    result: Result
    length_s: float
    alternate_s: float
    waited_s: float
    """From the spike's begin to the timeout: RTO(primary), which the last SACK before had restarted."""


def _cases(measured: Measured, place: str) -> list[_Case]:
    found = []
    for result, row in zip(measured.results, measured.artefact.rows, strict=True):
        expired = result.of("timer").where(event="expired", path=facts.PRIMARY)["t_ns"]
        if row.keys["held"] == place and len(expired):
            length_s, delay_s = float(row.keys["spike_s"]), float(row.keys["alternate_ms"]) / 1000
            found.append(_Case(result, length_s, delay_s, float(expired[0]) / 1e9 - settings.SPIKE_S))
    return found


def _beyond(measured: Measured, place: str) -> bool:
    """Returns whether Eifel finds no spike that the paper's condition gives to DupTSN, of at least one."""
    cases = [one for one in _cases(measured, place) if one.length_s > one.waited_s + 2 * one.alternate_s + PACKET_S]
    return bool(cases) and not any(_by_eifel(one.result) for one in cases)


def _limit_is(measured: Measured, place: str, beyond_timeout_s: Callable[[float], float]) -> bool:
    """Returns whether Eifel finds exactly the spikes that are shorter than the time to the timeout and another time.

    The other time is a function of the alternate's one-way delay. A spike within a packet's time of
    the limit may be on either side.
    """
    cases = [(one, one.length_s - one.waited_s - beyond_timeout_s(one.alternate_s)) for one in _cases(measured, place)]
    return bool(cases) and all(_by_eifel(one.result) == (over < 0) for one, over in cases if abs(over) > PACKET_S)


def _each_by_dup_tsn(measured: Measured, place: str) -> bool:
    return all(_by_eifel(one.result) or _detects(one.result, "dsack") for one in _cases(measured, place))


def _draw(measured: Measured) -> Figure:
    figure, (axes,) = style.new_figure(1, (7.2, 4.2))
    marks = {"Eifel": (style.ACK, "o"), "DupTSN alone": (style.NEEDED, "D"), "none": (style.DROP, "x")}
    points: dict[str, list[tuple[float, float]]] = {name: [] for name in marks}
    cases = _cases(measured, SENDER)
    for one in cases:
        found = "Eifel" if _by_eifel(one.result) else "DupTSN alone" if _detects(one.result, "dsack") else "none"
        points[found].append((one.length_s, 2000 * one.alternate_s))
    for name, (colour, marker) in marks.items():
        if points[name]:
            lengths, heights = zip(*points[name], strict=True)
            axes.scatter(lengths, heights, color=colour, marker=marker, s=26, label=name)
    ends = (0, 2 * DELAYS_MS[-1] + 50)
    for share, less_s, dashes, what in (
        (1.0, 0.0, "-", "RTT (alternate)"),
        (0.5, PRIMARY_S, "--", "RTT (alternate) / 2 - RTT (primary) / 2"),
    ):
        limits = [cases[0].waited_s + share * height / 1000 - less_s for height in ends]
        axes.plot(limits, ends, dashes, color="0.3", linewidth=1, label=f"RTO (primary) + {what}")
    axes.set_ylabel("RTT of the alternate path, ms")
    style.finish(figure, [axes], measured.artefact.title, x="length of the spike on the primary path, s")
    axes.set_xlim(LENGTHS_S[0] - 0.05, LENGTHS_S[-1] + 0.05)
    return figure


ARTEFACT = Artefact(
    id="sctp.condition",
    title="Which signal tells a spurious timeout over two paths",
    source=f"{settings.SOURCE}, section 5",
    columns=(
        *micro.COLUMNS[1:4],
        Column("detected_spurious", "Detected as spurious", digits=0),
    ),
    rows=tuple(
        Row(
            {"held": place, "alternate_ms": delay, "spike_s": length},
            micro.observed(settings.EIFEL, length, held, rules, delay_ms=delay),
        )
        for place, (held, rules) in PLACES.items()
        for delay in DELAYS_MS
        for length in LENGTHS_S
    ),
    seed=settings.SEED,
    claims=(
        *(
            Claim(
                f"Eifel has to rely on DupTSN reports if Delay-Spike(primary) > RTO(primary) + RTT(alternate) (data "
                f"held {place})",
                partial(_beyond, place=place),
            )
            for place in PLACES
        ),
        *(
            Claim(
                f"DupTSN reports detect each spurious timeout that Eifel does not (data held {place})",
                partial(_each_by_dup_tsn, place=place),
            )
            for place in PLACES
        ),
        Claim(
            "beyond the paper: it has to from RTO(primary) + the way there over the alternate - that over the primary "
            f"on, where a retransmission overtakes its original (data held {SENDER})",
            lambda m: _limit_is(m, SENDER, lambda alternate_s: alternate_s - PRIMARY_S),
        ),
        Claim(
            f"... and from RTO(primary) + the way there over the alternate on (data held {FAR_END})",
            lambda m: _limit_is(m, FAR_END, lambda alternate_s: alternate_s),
        ),
        Claim(
            f"by today's rules it has to from the same length on (data held {TODAY})",
            lambda m: _limit_is(m, TODAY, lambda alternate_s: alternate_s - PRIMARY_S),
        ),
    ),
    fitted=(*settings.LEFT_OPEN, settings.AT_SENDER),
    method=Recorded(_draw, chart=False),
)
