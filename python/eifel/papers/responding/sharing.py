"""Learnt characteristics of a path, shared between the connections to one destination.

Section IV.B closes with the expectation that "adaptation techniques could be more effective" then. Here short transfers
follow one another, in place of a long one, over the paths of `adaptation`: table 4's, and a bottleneck whose bandwidth
oscillates.
"""

from typing import Any

from eifel.flows import flows_of
from eifel.papers.artefact import Artefact, Claim, Measured, Repeated, Row, Setting
from eifel.papers.responding import adaptation as adaptations
from eifel.papers.responding import settings
from eifel.runs import Runs
from eifel.statistics import Mean, mean_interval

TRANSFERS, EVERY_S = 20, 20
BYTES = 250_000
ALONE, SHARED = "alone", "shared"
ADAPTED = ("back-off", "min++", "delay")
PATHS = (adaptations.SPIKES, adaptations.OSCILLATES)
REPETITIONS = 50

_LEFT_OPEN = (
    *adaptations.LEFT_OPEN,
    Setting(
        "transfers",
        f"{TRANSFERS} of {BYTES // 1000} kB, one each {EVERY_S} s, with a handshake",
        "short, so that few of them see two spikes; the paper only names the idea",
    ),
    Setting(
        "what is shared",
        "SRTT, RTTVAR, the raised minimum and the held back-off of the last transfer that has ended",
        "the paper cites RFC 2140, which shares what one connection leaves with the next",
    ),
)


def _scenario(path: str, shares: str, name: str) -> dict[str, Any]:
    scenario = adaptations.scenario(path, name)
    main, *competing = scenario["flow"]
    main["tcp"]["temporal_sharing"] = shares == SHARED
    del main["handshake"]
    # In the oscillation's phase that is drawn, each transfer in its own.
    phase = main.pop("start_s", {"uniform": [0, 0]})["uniform"][1]
    main["application"] = {"kind": "bulk", "bytes": BYTES}
    transfers = [
        {
            **main,
            "name": f"main{n}",
            "start_s": {"uniform": [EVERY_S * n, EVERY_S * n + phase]} if phase else EVERY_S * n,
        }
        for n in range(TRANSFERS)
    ]
    return {**scenario, "flow": [*transfers, *competing]}


def _measure(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    """Returns each column's mean over the transfers of a run."""
    measured = []
    for number, row in enumerate(artefact.rows):
        flows = len(flows_of(row.scenario))
        found = runs.where(scenario=number)
        measured.append(
            {
                column.name: mean_interval(
                    found[column.number].reshape(-1, flows)[:, :TRANSFERS].mean(axis=1) * column.scale
                )
                for column in artefact.columns
            }
        )
    return measured


def _mean(measured: Measured, path: str, transfers: str, adaptation: str, column: str = "spurious_rtos") -> float:
    return measured.mean(column, path=path, transfers=transfers, adaptation=adaptation)


ARTEFACT = Artefact(
    id="responding.sharing",
    title="Short transfers whose timers are adapted alone, or share what they have learnt",
    source=f"{settings.SOURCE}, section IV.B",
    columns=settings.COLUMNS,
    rows=tuple(
        Row({"path": path, "transfers": transfers, "adaptation": name}, _scenario(path, transfers, name))
        for path in PATHS
        for transfers in (ALONE, SHARED)
        for name in ("std", *ADAPTED)
    ),
    method=Repeated(repetitions=REPETITIONS, measure=_measure, flow="main0"),
    seed=settings.SEED,
    fitted=_LEFT_OPEN,
    claims=(
        Claim(
            "alone, a short transfer learns too late: no adaptation changes the spurious timeouts by more than 3 %",
            lambda m: all(
                abs(_mean(m, path, ALONE, name) / _mean(m, path, ALONE, "std") - 1) < 0.03
                for path in PATHS
                for name in ADAPTED
            ),
        ),
        Claim(
            "where the bandwidth oscillates, adaptations are more effective if they are shared: each leaves three "
            "fifths of the spurious timeouts at most",
            lambda m: all(
                _mean(m, adaptations.OSCILLATES, SHARED, name) < 0.6 * _mean(m, adaptations.OSCILLATES, ALONE, name)
                for name in ADAPTED
            ),
        ),
        Claim(
            "over spikes of 3 to 15 s they are not: each leaves nine tenths or more",
            lambda m: all(
                _mean(m, adaptations.SPIKES, SHARED, name) > 0.9 * _mean(m, adaptations.SPIKES, ALONE, name)
                for name in ADAPTED
            ),
        ),
        Claim(
            "... and a transfer takes longer by a twentieth at least",
            lambda m: all(
                _mean(m, adaptations.SPIKES, SHARED, name, "time_s")
                > 1.05 * _mean(m, adaptations.SPIKES, ALONE, name, "time_s")
                for name in ADAPTED
            ),
        ),
        Claim(
            "an estimate that is shared without an adaptation more than doubles the spurious timeouts where the "
            "bandwidth oscillates",
            lambda m: (
                _mean(m, adaptations.OSCILLATES, SHARED, "std") > 2 * _mean(m, adaptations.OSCILLATES, ALONE, "std")
            ),
        ),
    ),
)
