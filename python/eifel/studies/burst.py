"""Whether an undo may restore the old window at once. The burst that it releases may overflow the queue.

gVisor decided against it: "a direct restore burst-collapsed 24/24 runs" (google/gvisor, pull
request 14458, issue 14102). There the undo follows the recovery, with little in flight. Here it
comes with the first ACK that reveals the truth (timestamps) or a round trip later (DSACK). The
queues hold an eighth of the path's capacity to twice that.
"""

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Repeated, Row, means_of
from eifel.runs import Runs
from eifel.statistics import Mean, percent_interval
from eifel.studies import settings

EARLY, LATE = "at the first ACK", "a round trip later"
_DETECT = {EARLY: "eifel-timestamps", LATE: "dsack"}
_PACE = {"none": "none", "pacing": "pacing", "burst limit": "burst-limit"}
_UNDONE = ("rfc4015", "rfc3708", "option-1", "option-4")


NEVER_ON_WIRE, LINUX = "never, Linux's sender", "as Linux, Linux's sender"
ON_WIRE = {
    (NEVER_ON_WIRE, "none", "tso"): {"detect": "none", "respond": "none"},
    (LINUX, "linux", "tso"): {},
    (LINUX, "rfc4015", "tso"): {"respond": "rfc4015"},
    (LINUX, "linux", "none"): {"pace": "none"},
}
"""The rows of Linux's sender: verdict, response and pace, and what differs from its profile."""


def _rows() -> tuple[Row, ...]:
    rows = []
    for buffer in settings.BUFFERS:
        for (verdict, respond, pace), sender in ON_WIRE.items():
            rows.append(Row(_keys(buffer, verdict, respond, pace), settings.burst_on_wire(buffer, **sender)))
        rows.append(Row(_keys(buffer, "never", "none", "none"), settings.burst(buffer, "none", "none")))
        for verdict, detect in _DETECT.items():
            for respond in _UNDONE:
                for name, pace in _PACE.items():
                    if pace == "none" or respond == "option-1":
                        rows.append(
                            Row(_keys(buffer, verdict, respond, name), settings.burst(buffer, detect, respond, pace))
                        )
    return tuple(rows)


def _keys(buffer: int, verdict: str, respond: str, pace: str) -> dict[str, str | int]:
    return {"buffer": buffer, "verdict": verdict, "response": respond, "pace": pace}


def _measure(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    measured = means_of(artefact, runs)
    for number, means in enumerate(measured):
        burst = runs.where(scenario=number)["drops_after_undo"]
        means["runs_with_drops"] = percent_interval(int((burst > 0).sum()), len(burst))
    return measured


def _goodput(measured: Measured, buffer: int, respond: str, pace: str = "none", verdict: str = LATE) -> Mean:
    return measured.row(**_keys(buffer, verdict, respond, pace)).means["goodput_mbps"]


def _above(more: Mean, less: Mean) -> bool:
    """Returns whether the intervals are disjoint."""
    return more.interval is not None and less.interval is not None and more.interval[0] > less.interval[1]


ARTEFACT = Artefact(
    id="detectors.burst",
    title="The burst after an undo",
    source="gVisor, issue 14102 and pull request 14458; RFC 4015, section 3, step 9",
    columns=(
        Column("goodput_mbps", "Goodput, Mbit/s", summary="goodput_bps", scale=1e-6, digits=3),
        Column("undos", "Undos", digits=1),
        Column("drops", "Packets dropped", digits=1),
        Column("drops_after_undo", "of these in the round trip after an undo", digits=1),
        Column("runs_with_drops", "Runs with any of these, %", summary="drops_after_undo", digits=0),
        Column("timeouts", "Timeouts", digits=2),
    ),
    rows=_rows(),
    method=Repeated(repetitions=settings.RUNS, measure=_measure),
    fitted=settings.BURST_LEFT_OPEN,
    claims=(
        Claim(
            "with a queue of a quarter of the path and a late verdict, drops follow a full restore in nine runs of ten",
            lambda m: m.mean("runs_with_drops", **_keys(15, LATE, "option-1", "none")) >= 90,
        ),
        Claim(
            "there it brings less than flight and initial window (RFC 4015)",
            lambda m: _above(_goodput(m, 15, "rfc4015"), _goodput(m, 15, "option-1")),
        ),
        Claim(
            "option 4 does not help there: it gives the old window back at once too",
            lambda m: _above(_goodput(m, 15, "rfc4015"), _goodput(m, 15, "option-4")),
        ),
        Claim(
            "paced, a full restore brings more than flight and initial window there",
            lambda m: _above(_goodput(m, 15, "option-1", "pacing"), _goodput(m, 15, "rfc4015")),
        ),
        Claim(
            "with a queue as long as the path, a full restore brings no less than flight and initial window",
            lambda m: all(
                not _above(_goodput(m, buffer, "rfc4015"), _goodput(m, buffer, "option-1")) for buffer in (60, 120)
            ),
        ),
        Claim(
            "and more than no undo at all",
            lambda m: all(
                _above(_goodput(m, buffer, "option-1"), _goodput(m, buffer, "none", verdict="never"))
                for buffer in (60, 120)
            ),
        ),
    ),
)
