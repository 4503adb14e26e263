"""Table 2: three recovery algorithms, with and without Eifel, beside a CBR flow of half the link's rate."""

from eifel.papers import published
from eifel.papers.artefact import Artefact, Claim, Repeated, Row
from eifel.papers.measured import Measured
from eifel.papers.responding import known, settings


def _time(measured: Measured, recovery: str, eifel: bool) -> float:
    return measured.mean("time_s", recovery=recovery, eifel=eifel)


def _genuine(measured: Measured, recovery: str) -> float:
    return measured.mean("genuine_rtos", recovery=recovery, eifel=True)


PRECAUTION = "newreno-sack after"
_PRECAUTIOUS = Row(
    {"recovery": PRECAUTION, "eifel": True},
    settings.dumbbell({"name": "newreno-sack", "when": "after-spurious"}, eifel=True, congested=True),
)
"""Section III.A's "extra precaution", only after a spurious timeout. The paper does not measure it.
"""

ARTEFACT = Artefact(
    id="responding.table2",
    title=published.caption("responding", "table2"),
    source=f"{settings.SOURCE}, table 2",
    columns=settings.COLUMNS,
    rows=(*settings.rows("table2"), _PRECAUTIOUS),
    method=Repeated(repetitions=settings.REPETITIONS),
    seed=settings.SEED,
    fitted=settings.FITTED,
    known=known.RENO_SACK + known.FACK + known.TOGETHER,
    claims=(
        Claim(
            "Reno-SACK with Eifel takes 73 % longer (the ratio of the times, within a tenth)",
            lambda m: settings.as_printed(
                _time(m, "reno-sack", True) / _time(m, "reno-sack", False),
                1 + settings.PRINTED["reno_sack_longer"],
                "time_s",
            ),
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
            "FACK with Eifel takes 43 % less time than Reno-SACK without (the ratio of the times, within a tenth)",
            lambda m: settings.as_printed(
                _time(m, "fack", True) / _time(m, "reno-sack", False), 1 - settings.PRINTED["fack_shorter"], "time_s"
            ),
        ),
        Claim(
            "NewReno-SACK that answers partial ACKs only after a spurious timeout gains from Eifel too",
            lambda m: _time(m, PRECAUTION, True) < _time(m, "newreno-sack", False),
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
