"""Figures 5, 6, 10 and 11: the delivery of a session, by bandwidth and sender. The paper's own spike is drawn."""

from collections.abc import Callable, Iterable, Sequence

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Repeated, Row
from eifel.papers.sctp import pictures
from eifel.papers.spikes import settings

_KBPS = (*settings.LOW_KBPS, *settings.HIGH_KBPS)
_DRAW = pictures.lines(
    _KBPS,
    "Bandwidth, kbit/s",
    logarithmic=True,
    ticks=(10, 20, 50, 100, 200, 500, 1000),
    without=(
        *(settings.STATED_HEADERS, settings.TCP_HEADERS, settings.SACKED_EACH, settings.NOT_UNDONE),
        # The first lies on the line of rack+eifel; the second leads by what the first timeout costs Linux's sender.
        *("rfc6675+eifel", settings.LATER_TIMER),
    ),
)

COLUMNS = (
    Column("segments", "Segments delivered", summary="bytes", scale=1 / settings.PAYLOAD_BYTES, digits=1),
    Column("spurious_timeouts", "Spurious timeouts"),
    Column("spurious_retransmissions", "Spurious retransmissions", digits=1),
    Column("drops", "Drops", digits=1),
)


_SPIKES = {settings.OWN: settings.one_spike(), settings.DRAWN: settings.drawn_spike()}


def _delivered(measured: Measured, spike: str, kbps: float, sender: str) -> float:
    return measured.mean("segments", kbps=kbps, sender=sender, spike=spike)


def _both(text: str, check: Callable[[Measured, str], bool]) -> tuple[Claim, Claim]:
    """Claims a sentence of the paper's own spike, and of the means over the drawn ones."""
    return (
        Claim(f"{text} (the paper's spike {settings.OWN})", lambda m: check(m, settings.OWN)),
        Claim(f"{text} (mean of {settings.REPETITIONS} spikes)", lambda m: check(m, settings.DRAWN)),
    )


def _figure(number: int, window: str, case: str, *claims: Claim) -> Artefact:
    losses = ", and losses" if case == "spike+loss" else ""
    rows = tuple(
        Row(
            {"kbps": kbps, "sender": sender, "spike": spike},
            settings.scenario(sender, kbps, window, case, spike=when),
        )
        for spike, when in _SPIKES.items()
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


def _drops(measured: Measured, spike: str, sender: str, after: Sequence[float]) -> bool:
    """Returns whether a sender delivers less at the next higher bandwidth than at one of these."""
    return any(
        _delivered(measured, spike, _KBPS[_KBPS.index(kbps) + 1], sender) < _delivered(measured, spike, kbps, sender)
        for kbps in after
    )


def _near_78(who: str, least: Callable[[Iterable[bool]], bool]) -> tuple[Claim, ...]:
    """Claims the drop "near 78 kbit/s" at 78 itself, and within a step of the bandwidths: at 78 or at 130."""
    return (
        *_both(
            f"throughput drops near 78 kbit/s: {who} less at 78 kbit/s than at 62.4",
            lambda m, spike: least(_drops(m, spike, sender, (62.4,)) for sender in settings.PAPERS),
        ),
        *_both(
            f"... or {who} less at 130 kbit/s than at 78",
            lambda m, spike: least(_drops(m, spike, sender, (62.4, 78.0)) for sender in settings.PAPERS),
        ),
    )


def _ahead(measured: Measured, spike: str, rates: Sequence[float], than: Sequence[str]) -> bool:
    return all(
        _delivered(measured, spike, kbps, "eifel") > _delivered(measured, spike, kbps, other)
        for kbps in rates
        for other in than
    )


def _behind(measured: Measured, spike: str) -> bool:
    return all(
        _delivered(measured, spike, kbps, "eifel") < _delivered(measured, spike, kbps, other)
        for kbps in _KBPS
        for other in ("reno", "sctp")
    )


def _less(measured: Measured, spike: str, sender: str, kbps: float) -> float:
    """Returns how much less than Reno a sender delivers at a bandwidth, as a share; negative if it is more."""
    return 1 - _delivered(measured, spike, kbps, sender) / _delivered(measured, spike, kbps, "reno")


_HEADERS = (
    *_both(
        "SCTP's throughput is lower than Reno's at every bandwidth, with headers of 52 and 68 bytes",
        lambda m, spike: all(_less(m, spike, settings.STATED_HEADERS, kbps) > 0 for kbps in _KBPS),
    ),
    *_both(
        "that is due to the headers: with TCP's 40 bytes it is lower by 1 % at most at every bandwidth",
        lambda m, spike: all(_less(m, spike, settings.TCP_HEADERS, kbps) <= 0.01 for kbps in _KBPS),
    ),
    *_both(
        "it is due to delayed SACKs: with a SACK for each packet, and headers of 52 and 68 bytes, SCTP delivers more "
        "than Reno at 130 kbit/s and above",
        lambda m, spike: all(_less(m, spike, settings.SACKED_EACH, kbps) < 0 for kbps in _KBPS[9:]),
    ),
)


def _spurious(measured: Measured, spike: str, rates: Sequence[float]) -> list[float]:
    return [
        measured.mean("spurious_timeouts", kbps=kbps, sender=sender, spike=spike)
        for kbps in rates
        for sender in settings.PAPERS
    ]


FIGURE_5 = _figure(
    5,
    "large",
    "spike",
    *_both(
        "up to 42.8 kbit/s there are no spurious timeouts",
        lambda m, spike: max(_spurious(m, spike, settings.LOW_KBPS)) == 0,
    ),
    *_near_78("one of the three at least delivers", any),
    *_both(
        "Eifel achieves a higher throughput than Reno where timeouts are spurious, at 62.4 kbit/s and above",
        lambda m, spike: _ahead(m, spike, _KBPS[7:], ("reno",)),
    ),
    *_HEADERS,
)
FIGURE_6 = _figure(
    6,
    "small",
    "spike",
    *_both(
        "spurious timeouts always happen, at every bandwidth",
        lambda m, spike: min(_spurious(m, spike, _KBPS)) >= 1,
    ),
    *_both(
        "at 46.8 kbit/s and above they do",
        lambda m, spike: min(_spurious(m, spike, settings.HIGH_KBPS)) >= 1,
    ),
    *_both(
        "Eifel achieves the highest throughput of the three at 46.8 kbit/s and above",
        lambda m, spike: _ahead(m, spike, settings.HIGH_KBPS, ("reno", "sctp")),
    ),
    *_HEADERS,
)
_LOSSES = (
    *_both("Eifel has the worst performance of the three at every bandwidth", _behind),
    *_both(
        "Eifel with today's recovery does not: it delivers more than Reno at 46.8 kbit/s and above",
        lambda m, spike: all(
            _delivered(m, spike, kbps, today) > _delivered(m, spike, kbps, "reno")
            for kbps in settings.HIGH_KBPS
            for today in ("rfc6675+eifel", "rack+eifel")
        ),
    ),
)
FIGURE_10 = _figure(
    10,
    "large",
    "spike+loss",
    *_LOSSES,
    *_near_78("each of the three delivers", all),
)
FIGURE_11 = _figure(11, "small", "spike+loss", *_LOSSES)
