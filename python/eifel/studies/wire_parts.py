"""Linux's sender over delay spikes, with one of its parts exchanged: what detection is then worth."""

from collections.abc import Mapping
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Repeated, Row
from eifel.papers.thesis.timers import TIMERS
from eifel.statistics import Mean
from eifel.studies import facts, settings
from eifel.studies.settings import HOLDS, LINUX, LOSES

TITLE = "detectors.wire_parts"
KEYS = ("queue", "part", "detector")
WHOLE, NEWRENO, NEWRENO_SACK, RENO, UNPACED = "none", "newreno", "newreno-sack", "Reno's window", "not paced"
CUT = ("option-2", "option-3")
"""Responses that stop go-back-N and keep the reduced window."""
OWN_TIMER = "linux"
PARTS: Mapping[str, Mapping[str, Any]] = {
    WHOLE: {},
    NEWRENO: {"recover": "newreno"},
    NEWRENO_SACK: {"recover": "newreno-sack"},
    "rfc6675": {"recover": "rfc6675"},
    RENO: {"congest": "reno"},
    UNPACED: {"pace": "none"},
    **{f"timer {name}": {"rto": rto} for name, rto in TIMERS.items() if name != OWN_TIMER},
    **{response: {"respond": response} for response in CUT},
}
"""What differs from the profile `linux`, by displayed name."""


def _row(queue: int, part: str, detector: str) -> Row:
    made = settings.spikes(queue, LINUX, detector, LINUX if detector == LINUX else "none")
    flow = {**made["flow"][0], "sender": {**made["flow"][0]["sender"], **PARTS[part]}}
    return Row(dict(zip(KEYS, (queue, part, detector), strict=True)), {**made, "flow": [flow]})


def _of(measured: Measured, column: str, *values: Any) -> Mean:
    return measured.row(**dict(zip(KEYS, values, strict=True))).means[column]


def timers(saved: Mapping[str, float]) -> float:
    """Returns by how many percent the slowest timer is above the fastest, of the times by part."""
    times = [time for part, time in saved.items() if part == WHOLE or part.startswith("timer ")]
    return 100 * (max(times) / min(times) - 1)


def _times(measured: Measured, queue: int, detector: str) -> dict[str, float]:
    return {part: _of(measured, "time_s", queue, part, detector).mean for part in PARTS}


ARTEFACT = Artefact(
    id=TITLE,
    title="Linux's sender with one part exchanged: what detection is then worth",
    source="eifel, docs/author.md",
    columns=(
        Column("time_s", "Time, s", digits=1),
        Column("saved", "saved, against no detection, %", summary="time_s", digits=1),
        Column("needless", "Sent needlessly, %", summary="spurious_retransmissions", digits=2),
        Column("undos", "Undos", digits=2),
        Column("timeouts", "Timeouts", digits=1),
    ),
    rows=tuple(
        _row(queue, part, detector) for queue in settings.QUEUES for part in PARTS for detector in ("none", LINUX)
    ),
    method=Repeated(repetitions=50, measure=facts.against_no_detection),
    fitted=settings.SPIKES_LEFT_OPEN,
    claims=(
        Claim(
            "where nothing is lost, an undo saves time with each loss recovery, each window, and without pacing",
            lambda m: all(
                (interval := _of(m, "saved", HOLDS, part, LINUX).interval) is not None and interval[0] > 0
                for part in (WHOLE, NEWRENO, NEWRENO_SACK, "rfc6675", RENO, UNPACED)
            ),
        ),
        Claim(
            "it saves less than that if it keeps the reduced window",
            lambda m: all(
                _of(m, "saved", queue, part, LINUX).mean < _of(m, "saved", queue, WHOLE, LINUX).mean
                for part in CUT
                for queue in (HOLDS, LOSES)
            ),
        ),
        Claim(
            "with the undo all timers deliver within 15 % of each other where nothing is lost",
            lambda m: timers(_times(m, HOLDS, LINUX)) < 15,
        ),
    ),
)
