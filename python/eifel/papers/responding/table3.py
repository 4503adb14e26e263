"""Table 3: FACK with Eifel beside a CBR flow, by the state that the response restores."""

from eifel.papers import published
from eifel.papers.artefact import Artefact, Claim, Repeated
from eifel.papers.responding import known, settings

ARTEFACT = Artefact(
    id="responding.table3",
    title=published.caption("responding", "table3"),
    source=f"{settings.SOURCE}, table 3",
    columns=settings.COLUMNS,
    rows=settings.rows("table3"),
    method=Repeated(repetitions=settings.REPETITIONS),
    seed=settings.SEED,
    fitted=settings.FITTED,
    known=known.RENO_SACK + known.FACK,
    claims=(
        Claim(
            "options 2 and 3 take several times as long as option 1",
            lambda m: (
                min(m.mean("time_s", restore=o) for o in ("option-2", "option-3"))
                > 2 * m.mean("time_s", restore="option-1")
            ),
        ),
        Claim(
            "options 2 and 3 send more segments than options 1 and 4",
            lambda m: (
                min(m.mean("segments_sent", restore=o) for o in ("option-2", "option-3"))
                > max(m.mean("segments_sent", restore=o) for o in ("option-1", "option-4"))
            ),
        ),
        Claim(
            "with options 2 and 3 the sender is prone to genuine timeouts",
            lambda m: (
                min(m.mean("genuine_rtos", restore=o) for o in ("option-2", "option-3"))
                > 5 * m.mean("genuine_rtos", restore="option-1")
            ),
        ),
        Claim(
            "option 3 does worse than option 2",
            lambda m: m.mean("time_s", restore="option-3") > m.mean("time_s", restore="option-2"),
        ),
        Claim(
            "option 4 comes close to option 1, within a twentieth",
            lambda m: abs(m.mean("time_s", restore="option-4") / m.mean("time_s", restore="option-1") - 1) < 0.05,
        ),
    ),
)
