"""Table 2: three ways to recover, with and without Eifel, beside a CBR flow of half the link's rate."""

from eifel.papers import published
from eifel.papers.artefact import Artefact, Claim, Repeated
from eifel.papers.measured import Measured
from eifel.papers.responding import known, settings


def _time(measured: Measured, recovery: str, eifel: bool) -> float:
    return measured.mean("time_s", recovery=recovery, eifel=eifel)


def _genuine(measured: Measured, recovery: str) -> float:
    return measured.mean("genuine_rtos", recovery=recovery, eifel=True)


ARTEFACT = Artefact(
    id="responding.table2",
    title=published.caption("responding", "table2"),
    source=f"{settings.SOURCE}, table 2",
    columns=settings.COLUMNS,
    rows=published.rows(
        "responding",
        "table2",
        lambda keys: settings.dumbbell(str(keys["recovery"]), eifel=bool(keys["eifel"]), congested=True),
    ),
    method=Repeated(repetitions=settings.REPETITIONS),
    seed=settings.SEED,
    fitted=settings.FITTED,
    known=known.RENO_SACK + known.FACK + known.TOGETHER,
    claims=(
        Claim(
            "Eifel makes Reno-SACK slower here (the paper: 73 % longer)",
            lambda m: _time(m, "reno-sack", True) > _time(m, "reno-sack", False),
        ),
        Claim(
            "because of many genuine timeouts, several times those of NewReno-SACK with Eifel",
            lambda m: _genuine(m, "reno-sack") > 3 * _genuine(m, "newreno-sack"),
        ),
        Claim(
            "NewReno-SACK gains from Eifel",
            lambda m: _time(m, "newreno-sack", True) < _time(m, "newreno-sack", False),
        ),
        Claim(
            "FACK with Eifel takes at least a third less time than Reno-SACK (the paper: 43 % less)",
            lambda m: _time(m, "fack", True) < 0.67 * _time(m, "reno-sack", False),
        ),
        Claim(
            "with Eifel FACK is faster than NewReno-SACK, and that faster than Reno-SACK",
            lambda m: _time(m, "fack", True) < _time(m, "newreno-sack", True) < _time(m, "reno-sack", True),
        ),
        Claim(
            "without Eifel the three take the same time, within a tenth",
            lambda m: (
                max(times := [_time(m, r, False) for r in ("reno-sack", "newreno-sack", "fack")]) < 1.1 * min(times)
            ),
        ),
    ),
)
