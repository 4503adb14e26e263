"""Table 4: FACK with Eifel beside a CBR flow, by the timer's adaptation after a spurious timeout."""

from eifel.papers import published
from eifel.papers.artefact import Artefact, Claim, Repeated
from eifel.papers.responding import known, settings

ARTEFACT = Artefact(
    id="responding.table4",
    title=published.caption("responding", "table4"),
    source=f"{settings.SOURCE}, table 4",
    columns=settings.COLUMNS,
    rows=settings.rows("table4"),
    method=Repeated(repetitions=settings.REPETITIONS),
    seed=settings.SEED,
    fitted=settings.FITTED,
    known=known.FACK + known.TIMERS,
    claims=(
        Claim(
            "re-seeding the timer changes next to nothing",
            lambda m: (
                abs(m.mean("time_s", rto_adaptation="reseed") / m.mean("time_s", rto_adaptation="std") - 1) < 0.05
            ),
        ),
        Claim(
            "back-off reduces the number of spurious timeouts by 40 % (their ratio, within 15 %)",
            lambda m: settings.as_printed(
                m.mean("spurious_rtos", rto_adaptation="back-off") / m.mean("spurious_rtos", rto_adaptation="std"),
                1 - settings.PRINTED["backoff_fewer_spurious"],
                "spurious_rtos",
            ),
        ),
        Claim(
            "a growing minimum saves some too, but fewer than back-off",
            lambda m: (
                m.mean("spurious_rtos", rto_adaptation="back-off")
                < m.mean("spurious_rtos", rto_adaptation="min++")
                < m.mean("spurious_rtos", rto_adaptation="std")
            ),
        ),
        Claim(
            "neither costs more than a tenth of the throughput",
            lambda m: (
                max(m.mean("time_s", rto_adaptation=a) for a in ("back-off", "min++"))
                < 1.1 * m.mean("time_s", rto_adaptation="std")
            ),
        ),
    ),
)
