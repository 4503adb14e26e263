"""Section IV.C, the best case for Eifel: a spurious timeout in the initial window of a long fat path."""

from typing import Any

from eifel.papers.artefact import Artefact, Claim, Column, Row, Setting
from eifel.papers.responding import settings

RATE_BPS = 10_000_000
DELAY_MS = 250
BYTES = 20_000_000
QUEUE_PACKETS = 600
SPIKE_END_S = 4.0
INITIAL_WINDOW = 4
WINDOW_BYTES = 4_000_000

_LEFT_OPEN = (
    Setting(
        "link",
        f"{RATE_BPS // 1_000_000} Mbit/s, {DELAY_MS} ms each way",
        "a high-delay bandwidth path, as the paper says",
    ),
    Setting("queue", f"{QUEUE_PACKETS} packets", "about what the path holds: a loss says when to slow down"),
    Setting(
        "spike",
        f"0 to {SPIKE_END_S:g} s",
        "longer than the timer's first value, so that it expires in the initial window",
    ),
    Setting(
        "initial window", f"{INITIAL_WINDOW} segments", "the paper names none; RFC 3390's for segments of 1000 bytes"
    ),
    Setting("receive window", f"{WINDOW_BYTES // 1_000_000} MB", "does not limit"),
    Setting("data", f"{BYTES // 1_000_000} MB", "long enough for the window to matter more than the spike itself"),
)


def _scenario(eifel: bool) -> dict[str, Any]:
    scenario = settings.slow_link(
        "newreno-sack",
        eifel=eifel,
        initial_window=INITIAL_WINDOW,
        spike_s=(0.0, SPIKE_END_S),
        rate_bps=RATE_BPS,
        data_bytes=BYTES,
    )
    scenario["point_to_point"] |= {"delay_ms": DELAY_MS, "queue": {"kind": "drop-tail", "packets": QUEUE_PACKETS}}
    flow = scenario["flow"][0]
    # The window is no limit; the limit is the slow start threshold that the timeout leaves.
    flow["tcp"] |= {"receive_window_bytes": WINDOW_BYTES}
    return scenario


ARTEFACT = Artefact(
    id="responding.best_case",
    title="A spurious timeout in the initial window of a long fat path",
    source=f"{settings.SOURCE}, section IV.C",
    columns=(
        Column("time_s", "Time, s", digits=1),
        Column("goodput_kbps", "Goodput, kbit/s", summary="goodput_bps", scale=1e-3, digits=0),
        Column("spurious_rtos", "Spurious RTOs", summary="spurious_timeouts", digits=0),
        Column("drops", "Packets dropped", digits=0),
    ),
    rows=tuple(Row({"eifel": eifel}, _scenario(eifel)) for eifel in (False, True)),
    seed=settings.SEED,
    fitted=_LEFT_OPEN,
    claims=(
        Claim(
            "the timeout is spurious with and without Eifel",
            lambda m: all(m.mean("spurious_rtos", eifel=eifel) >= 1 for eifel in (False, True)),
        ),
        Claim(
            "without Eifel the connection uses a small part of the path: less than a third",
            lambda m: m.mean("goodput_kbps", eifel=False) < RATE_BPS / 3000,
        ),
        Claim(
            "with Eifel it gets at least twice as much",
            lambda m: m.mean("goodput_kbps", eifel=True) > 2 * m.mean("goodput_kbps", eifel=False),
        ),
        Claim(
            "with Eifel slow start goes on until a loss says that it is time to slow down",
            lambda m: m.mean("drops", eifel=True) > 0 and m.mean("drops", eifel=False) == 0,
        ),
    ),
)
