"""Section IV.B: tables 1 and 2 again, with Adaptive RED instead of the drop-tail queue."""

from eifel.papers.artefact import Artefact, Claim, Repeated, Row
from eifel.papers.measured import Measured
from eifel.papers.responding import known, settings

_PAIRS = ((False, "reno-sack"), (True, "reno-sack"), (True, "newreno-sack"), (True, "fack"))


def _rows() -> tuple[Row, ...]:
    return tuple(
        Row(
            {"queue": queue, "congested": congested, "recovery": recovery, "eifel": eifel},
            settings.dumbbell(recovery, eifel=eifel, congested=congested, queue=queue),
        )
        for queue in ("drop-tail", "adaptive-red")
        for congested, recovery in _PAIRS
        for eifel in (False, True)
    )


def _red_time(measured: Measured, congested: bool, recovery: str, eifel: bool) -> float:
    return measured.mean("time_s", queue="adaptive-red", congested=congested, recovery=recovery, eifel=eifel)


def _not_worse(measured: Measured, recovery: str) -> bool:
    """Returns whether Eifel is at most a twentieth slower on the congested link."""
    return _red_time(measured, True, recovery, True) <= 1.05 * _red_time(measured, True, recovery, False)


def _slower_with_red(measured: Measured) -> bool:
    def time(queue: str, row: dict[str, str | bool]) -> float:
        return measured.mean("time_s", queue=queue, **row)

    rows = [{"congested": c, "recovery": r, "eifel": e} for c, r in _PAIRS for e in (False, True)]
    return all(time("adaptive-red", row) > 0.95 * time("drop-tail", row) for row in rows)


ARTEFACT = Artefact(
    id="responding.red",
    title="Tables 1 and 2 with Adaptive RED at the bottleneck",
    source=f"{settings.SOURCE}, section IV.B",
    columns=settings.COLUMNS,
    rows=_rows(),
    method=Repeated(repetitions=settings.REPETITIONS),
    seed=settings.SEED,
    fitted=settings.FITTED,
    known=known.RED,
    claims=(
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
    ),
)
