"""Figures 5, 6, 10 and 11: the delivery of a session, by bandwidth and sender."""

from __future__ import annotations

from eifel.papers.artefact import Artefact, Claim, Column, Repeated, Row
from eifel.papers.measured import Measured
from eifel.papers.sctp import pictures
from eifel.papers.spikes import settings

_KBPS = (*settings.LOW_KBPS, *settings.HIGH_KBPS)
_DRAW = pictures.lines(_KBPS, "Bandwidth, kbit/s", logarithmic=True, ticks=(10, 20, 50, 100, 200, 500, 1000))

COLUMNS = (
    Column("segments", "Segments delivered", summary="bytes", scale=1 / settings.PAYLOAD_BYTES, digits=1),
    Column("spurious_timeouts", "Spurious timeouts"),
    Column("spurious_retransmissions", "Spurious retransmissions", digits=1),
    Column("drops", "Drops", digits=1),
)


def figure(number: int, window: str, case: str, *claims: Claim, known: tuple[str, ...] = ()) -> Artefact:
    """Returns one of the four figures."""
    losses = ", and losses" if case == "spike+loss" else ""
    rows = tuple(
        Row({"kbps": kbps, "sender": sender}, settings.scenario(sender, kbps, window, case))
        for kbps in _KBPS
        for sender in settings.SENDERS
    )
    return Artefact(
        id=f"spikes.figure{number}",
        title=f"Throughput in 150 s with a spike of 12 s{losses}: window of {settings.WINDOWS[window]} segments",
        source=f"{settings.SOURCE}, figure {number}",
        columns=COLUMNS,
        rows=rows,
        seed=settings.SEED,
        claims=claims,
        fitted=settings.CHOSEN,
        known=known,
        method=Repeated(settings.REPETITIONS, long=True, draw=_DRAW),
    )


def delivered(measured: Measured, kbps: float, sender: str) -> float:
    """Returns the segments that a sender delivers at a bandwidth."""
    return measured.mean("segments", kbps=kbps, sender=sender)
