"""Section IV.C, the best case for Eifel: a spurious timeout in the initial window of a long fat path."""

from typing import Any

from eifel.papers.artefact import Artefact, Claim, Column, Row
from eifel.papers.responding import settings

RATE_BPS = 10_000_000
DELAY_MS = 250
BYTES = 20_000_000


def _scenario(eifel: bool) -> dict[str, Any]:
    scenario = settings.slow_link(
        "newreno-sack", eifel=eifel, initial_window=4, spike_s=(0.0, 4.0), rate_bps=RATE_BPS, data_bytes=BYTES
    )
    scenario["point_to_point"] |= {"delay_ms": DELAY_MS, "queue": {"kind": "drop-tail", "packets": 600}}
    flow = scenario["flow"][0]
    # A window that does not limit: what limits is the slow start threshold that the timeout leaves behind.
    flow["tcp"] |= {"receive_window_bytes": 4_000_000}
    return scenario


ARTEFACT = Artefact(
    id="responding.best_case",
    title="A spurious timeout in the initial window of a long fat path",
    source=f"{settings.SOURCE}, section IV.C",
    columns=(
        Column("time_s", "Time, s", digits=1),
        Column("goodput_bps", "Goodput, bit/s", digits=0),
        Column("spurious_rtos", "Spurious RTOs", summary="spurious_timeouts", digits=0),
        Column("drops", "Packets dropped", digits=0),
    ),
    rows=tuple(Row({"eifel": eifel}, _scenario(eifel)) for eifel in (False, True)),
    seed=settings.SEED,
    claims=(
        Claim(
            "the timeout is spurious with and without Eifel",
            lambda m: all(m.mean("spurious_rtos", eifel=eifel) >= 1 for eifel in (False, True)),
        ),
        Claim(
            "without Eifel the connection uses a small part of the path: less than a third",
            lambda m: m.mean("goodput_bps", eifel=False) < RATE_BPS / 3,
        ),
        Claim(
            "with Eifel it gets at least twice as much",
            lambda m: m.mean("goodput_bps", eifel=True) > 2 * m.mean("goodput_bps", eifel=False),
        ),
        Claim(
            "with Eifel slow start goes on until a loss says that it is time to slow down",
            lambda m: m.mean("drops", eifel=True) > 0 and m.mean("drops", eifel=False) == 0,
        ),
    ),
)
