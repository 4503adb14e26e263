"""Table 1: Reno-SACK alone on the path, with and without Eifel."""

from eifel.papers import published
from eifel.papers.artefact import Artefact, Claim, Repeated
from eifel.papers.measured import Measured
from eifel.papers.responding import known, settings


def _ratio(measured: Measured, column: str) -> float:
    return measured.mean(column, eifel=True) / measured.mean(column, eifel=False)


ARTEFACT = Artefact(
    id="responding.table1",
    title=published.caption("responding", "table1"),
    source=f"{settings.SOURCE}, table 1",
    columns=settings.COLUMNS,
    rows=settings.rows("table1"),
    method=Repeated(repetitions=settings.REPETITIONS),
    seed=settings.SEED,
    fitted=settings.FITTED,
    known=known.PLAIN,
    claims=(
        Claim(
            "Eifel increases the throughput by 254 % (the ratio of the times, within a tenth)",
            lambda m: settings.as_printed(_ratio(m, "time_s"), 1 / (1 + settings.PRINTED["throughput_gain"]), "time_s"),
        ),
        Claim(
            "with Eifel 3 % fewer segments complete the transfer (within a hundredth of all)",
            lambda m: settings.as_printed(
                _ratio(m, "segments_sent"), 1 - settings.PRINTED["segments_saved"], "segments_sent"
            ),
        ),
        Claim(
            "there are fewer spurious timeouts with Eifel, as the connection lives shorter",
            lambda m: m.mean("spurious_rtos", eifel=True) < m.mean("spurious_rtos", eifel=False),
        ),
    ),
)
