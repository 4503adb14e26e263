"""Table 1: Reno-SACK alone on the path, with and without Eifel."""

from eifel.papers import published
from eifel.papers.artefact import Artefact, Claim, Repeated
from eifel.papers.responding import known, settings

ARTEFACT = Artefact(
    id="responding.table1",
    title=published.caption("responding", "table1"),
    source=f"{settings.SOURCE}, table 1",
    columns=settings.COLUMNS,
    rows=published.rows(
        "responding",
        "table1",
        lambda keys: settings.dumbbell(str(keys["recovery"]), eifel=bool(keys["eifel"])),
    ),
    method=Repeated(repetitions=settings.REPETITIONS),
    seed=settings.SEED,
    fitted=settings.FITTED,
    known=known.PLAIN,
    claims=(
        Claim(
            "Eifel more than triples the throughput (the paper: 254 % more)",
            lambda m: m.mean("time_s", eifel=False) > 3 * m.mean("time_s", eifel=True),
        ),
        Claim(
            "with Eifel at least 2 % fewer segments complete the transfer (the paper: 3 %)",
            lambda m: m.mean("segments_sent", eifel=True) <= 0.98 * m.mean("segments_sent", eifel=False),
        ),
        Claim(
            "there are fewer spurious timeouts with Eifel, as the connection lives shorter",
            lambda m: m.mean("spurious_rtos", eifel=True) < m.mean("spurious_rtos", eifel=False),
        ),
    ),
)
