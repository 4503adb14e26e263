"""Section III.C's further options for the timer, which the paper names and does not evaluate.

On table 4's path with FACK, and with Reno-SACK, which has many genuine timeouts; and on a bottleneck
whose bandwidth oscillates. Section IV.B expects other effects there: "the delay jitter typically
only slightly exceeds the RTO".
"""

from collections.abc import Mapping
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Measured, Repeated, Row, Setting
from eifel.papers.responding import settings

SPIKES, GENUINE, OSCILLATES = "spikes", "spikes, Reno-SACK", "oscillating bandwidth"
FULL_S, NARROW_S = 10, 5
NARROW_BPS = 9_600
CHANGES = 200
BYTES = 20_000_000
"""Four times as much as in table 4, so that the bandwidth changes often."""

_MIN_BY_DELAY = {"name": "min-by-delay"}
ADAPTATIONS: Mapping[str, str | Mapping[str, Any]] = {
    **settings.ADAPTATIONS,
    "min++, halved": {"name": "min-plus-plus", "per": "expiry", "on_genuine": "halve"},
    "delay": _MIN_BY_DELAY,
    "delay, halved": {**_MIN_BY_DELAY, "on_genuine": "halve"},
    "average": {**_MIN_BY_DELAY, "average_of": 8},
    "average, halved": {**_MIN_BY_DELAY, "average_of": 8, "on_genuine": "halve"},
}
"""Table 4's adaptations, and the further ones: the minimum by the last delay or by the average."""
RAISING = ("min++", "delay", "average")

LEFT_OPEN = (
    *settings.FITTED,
    Setting(
        "gain of the average",
        "1/8, as for SRTT (RFC 6298)",
        "the paper says only that the average is smoothed",
    ),
    Setting(
        "oscillating bandwidth",
        f"{FULL_S} s at 2 Mbit/s and {NARROW_S} s at {NARROW_BPS / 1000:g} kbit/s in turn, from a drawn phase; no "
        "spikes, and 20 MB",
        "the paper gives no numbers. 9.6 kbit/s is the rate of the fundamental channel, on which a user of cdma2000 "
        "stays while others have the supplemental one. Two segments, and so a delayed ACK, take 1.7 s there",
    ),
)


def scenario(path: str, adaptation: str) -> dict[str, Any]:
    """Returns the scenario of a row."""
    recovery = "reno-sack" if path == GENUINE else "fack"
    made = settings.dumbbell(recovery, eifel=True, congested=path != OSCILLATES)
    made["flow"][0]["sender"]["after_spurious"] = ADAPTATIONS[adaptation]
    if path == OSCILLATES:
        del made["spike"]
        made["flow"][0]["application"] = {"kind": "bulk", "bytes": BYTES}
        made["flow"][0]["start_s"] = {"uniform": [0, FULL_S + NARROW_S]}
        made["dumbbell"]["bottleneck"]["rate_changes"] = [
            {"at_s": number * (FULL_S + NARROW_S) + at, "rate_bps": rate}
            for number in range(CHANGES)
            for at, rate in ((FULL_S, NARROW_BPS), (FULL_S + NARROW_S, settings.BOTTLENECK_BPS))
        ]
    return made


def _spurious(measured: Measured, path: str, adaptation: str) -> float:
    return measured.mean("spurious_rtos", path=path, adaptation=adaptation)


def _mean(measured: Measured, column: str, adaptation: str) -> float:
    return measured.mean(column, path=OSCILLATES, adaptation=adaptation)


def _halving(measured: Measured, path: str) -> list[float]:
    """Returns by how much halving lowers the number of spurious timeouts, for each way to raise the minimum."""
    return [_spurious(measured, path, name) - _spurious(measured, path, f"{name}, halved") for name in RAISING]


ARTEFACT = Artefact(
    id="responding.adaptation",
    title="Table 4 with the timer's further adaptations, and with a bandwidth that oscillates",
    source=f"{settings.SOURCE}, sections III.C and IV.B",
    columns=settings.COLUMNS,
    rows=tuple(
        Row({"path": path, "adaptation": adaptation}, scenario(path, adaptation))
        for path in (SPIKES, GENUINE, OSCILLATES)
        for adaptation in ADAPTATIONS
    ),
    method=Repeated(repetitions=settings.REPETITIONS),
    seed=settings.SEED,
    fitted=LEFT_OPEN,
    claims=(
        Claim(
            "a minimum by the last delay saves two fifths of table 4's spurious timeouts or more, as back-off does; "
            "the paper expects that it does not work particularly well",
            lambda m: _spurious(m, SPIKES, "delay") < 0.6 * _spurious(m, SPIKES, "std"),
        ),
        Claim(
            "an average saves more than min++, and less than the last delay alone",
            lambda m: _spurious(m, SPIKES, "delay") < _spurious(m, SPIKES, "average") < _spurious(m, SPIKES, "min++"),
        ),
        Claim(
            "none of them takes more than a twentieth longer than std with FACK",
            lambda m: (
                max(m.mean("time_s", path=SPIKES, adaptation=name) for name in ADAPTATIONS)
                < 1.05 * m.mean("time_s", path=SPIKES, adaptation="std")
            ),
        ),
        Claim(
            "halving the minimum saves spurious timeouts in the mean with Reno-SACK, where genuine ones are many",
            lambda m: min(_halving(m, GENUINE)) > 0,
        ),
        Claim(
            "with FACK, where they are few, it changes nothing",
            lambda m: not any(_halving(m, SPIKES)),
        ),
        Claim(
            "where the bandwidth oscillates, all but re-seeding leave about one spurious timeout, the first",
            lambda m: all(
                abs(_mean(m, "spurious_rtos", name) - 1) < 0.1 for name in ADAPTATIONS if name not in ("std", "reseed")
            ),
        ),
        Claim(
            "and none of them changes the time there",
            lambda m: len({round(_mean(m, "time_s", name), 1) for name in ADAPTATIONS}) == 1,
        ),
    ),
)
