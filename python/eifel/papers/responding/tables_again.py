"""Tables 1 and 2 again: with Adaptive RED instead of the drop-tail queue (section IV.B), and with RFC 5681's window.

RFC 5681, section 3.1, holds ssthresh when the timer expires again for the same segment. The
simulators of the paper's time halved it each time. A spike of several timeouts then left a
threshold of two segments and a very slow connection. So its window separates Eifel's gain from the
simulator's.
"""

from collections.abc import Iterable
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Measured, Repeated, Row
from eifel.papers.responding import settings

_CASES = ((False, "reno-sack"), (True, "reno-sack"), (True, "newreno-sack"), (True, "fack"))


def _again(name: str, title: str, source: str, key: str, values: Iterable[str], *claims: Claim) -> Artefact:
    """Returns the rows of tables 1 and 2 with each value of one more key, a setting of `settings.dumbbell`."""
    added: list[dict[str, Any]] = [{key: value} for value in values]
    return Artefact(
        id=f"responding.{name}",
        title=f"Tables 1 and 2 with {title}",
        source=f"{settings.SOURCE}, {source}",
        columns=settings.COLUMNS,
        rows=tuple(
            Row(
                {**more, "congested": congested, "recovery": recovery, "eifel": eifel},
                settings.dumbbell(recovery, eifel=eifel, congested=congested, **more),
            )
            for more in added
            for congested, recovery in _CASES
            for eifel in (False, True)
        ),
        method=Repeated(repetitions=settings.REPETITIONS),
        seed=settings.SEED,
        fitted=settings.FITTED,
        claims=claims,
    )


def _red_time(measured: Measured, congested: bool, recovery: str, eifel: bool) -> float:
    return measured.mean("time_s", queue="adaptive-red", congested=congested, recovery=recovery, eifel=eifel)


def _not_worse(measured: Measured, recovery: str) -> bool:
    """Returns whether Eifel is at most a twentieth slower on the congested link."""
    return _red_time(measured, True, recovery, True) <= 1.05 * _red_time(measured, True, recovery, False)


def _slower_with_red(measured: Measured) -> bool:
    def time(queue: str, row: dict[str, str | bool]) -> float:
        return measured.mean("time_s", queue=queue, **row)

    rows = [{"congested": c, "recovery": r, "eifel": e} for c, r in _CASES for e in (False, True)]
    return all(time("adaptive-red", row) > 0.95 * time("drop-tail", row) for row in rows)


def _gain(measured: Measured, window: str) -> float:
    off, on = (
        measured.mean("time_s", window=window, congested=False, recovery="reno-sack", eifel=eifel)
        for eifel in (False, True)
    )
    return off / on - 1


RED = _again(
    "red",
    "Adaptive RED at the bottleneck",
    "section IV.B",
    "queue",
    settings.QUEUES,
    Claim(
        "on the uncongested link Eifel still gains",
        lambda m: _red_time(m, False, "reno-sack", True) < _red_time(m, False, "reno-sack", False),
    ),
    Claim(
        "on the congested link NewReno-SACK and FACK with Eifel are equal to those without, or better",
        lambda m: all(_not_worse(m, recovery) for recovery in ("newreno-sack", "fack")),
    ),
    Claim(
        "and so is Reno-SACK: the paper says without exception that Eifel showed equal or better performance",
        lambda m: _not_worse(m, "reno-sack"),
    ),
    Claim("throughput is lower than with drop-tail in general", _slower_with_red),
)
RFC5681 = _again(
    "rfc5681",
    "ssthresh as the simulator kept it, and as RFC 5681 asks",
    "tables 1 and 2; RFC 5681, section 3.1",
    "window",
    settings.WINDOWS,
    Claim(
        "with the simulator's rule Eifel raises the throughput of table 1 by more than 200 % (the paper: 254 %)",
        lambda m: _gain(m, "of-its-time") > 2,
    ),
    Claim(
        "with RFC 5681's rule less than a tenth of that gain is left",
        lambda m: _gain(m, "rfc5681") < 0.1 * _gain(m, "of-its-time"),
    ),
)
