"""Figures 5, 6, 10 and 11: the delivery of a session, by bandwidth and sender."""

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Repeated, Row
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


def _delivered(measured: Measured, kbps: float, sender: str) -> float:
    return measured.mean("segments", kbps=kbps, sender=sender)


def _figure(number: int, window: str, case: str, *claims: Claim) -> Artefact:
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
        fitted=settings.LEFT_OPEN,
        method=Repeated(settings.REPETITIONS, long=True, draw=_DRAW),
    )


FIGURE_5 = _figure(
    5,
    "large",
    "spike",
    Claim(
        "up to 42.8 kbit/s there are no spurious timeouts",
        lambda m: all(
            m.mean("spurious_timeouts", kbps=kbps, sender=sender) == 0
            for kbps in settings.LOW_KBPS
            for sender in settings.PAPERS
        ),
    ),
    Claim(
        "the throughput of all three drops near 78 kbit/s",
        lambda m: all(_delivered(m, 78.0, sender) < _delivered(m, 62.4, sender) for sender in settings.PAPERS),
    ),
    Claim(
        "Eifel achieves a higher throughput than Reno where timeouts are spurious",
        lambda m: all(_delivered(m, kbps, "eifel") > _delivered(m, kbps, "reno") for kbps in _KBPS[7:]),
    ),
)
FIGURE_6 = _figure(
    6,
    "small",
    "spike",
    Claim(
        "spurious timeouts always happen, at 46.8 kbit/s and above",
        lambda m: all(
            m.mean("spurious_timeouts", kbps=kbps, sender=sender) >= 1
            for kbps in settings.HIGH_KBPS
            for sender in settings.PAPERS
        ),
    ),
    Claim(
        "Eifel achieves the highest throughput of the three at each of these",
        lambda m: all(
            _delivered(m, kbps, "eifel") > _delivered(m, kbps, other)
            for kbps in settings.HIGH_KBPS
            for other in ("reno", "sctp")
        ),
    ),
)
_LOSSES = (
    Claim(
        "Eifel has the worst performance of the three at every bandwidth",
        lambda m: all(
            _delivered(m, kbps, "eifel") < _delivered(m, kbps, other) for kbps in _KBPS for other in ("reno", "sctp")
        ),
    ),
    Claim(
        "Eifel with today's recovery does not: it delivers more than Reno at 46.8 kbit/s and above",
        lambda m: all(
            _delivered(m, kbps, today) > _delivered(m, kbps, "reno")
            for kbps in settings.HIGH_KBPS
            for today in ("rfc6675+eifel", "rack+eifel")
        ),
    ),
)
FIGURE_10 = _figure(10, "large", "spike+loss", *_LOSSES)
FIGURE_11 = _figure(11, "small", "spike+loss", *_LOSSES)
