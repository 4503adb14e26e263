"""Every fate of six segments and of their ACKs, for each detector and response."""

from collections.abc import Iterable

from eifel import worlds
from eifel.papers.artefact import Artefact, Claim, Column, Measured, Row, Setting, Studied
from eifel.papers.study import Study
from eifel.plots import Figure
from eifel.plots.ladder import ladder_figure
from eifel.runs import Runs
from eifel.statistics import Mean
from eifel.studies import questions as asking
from eifel.studies.questions import (
    DETECTORS,
    FAILURES,
    LATE_MS,
    SEGMENTS,
    WINDOW,
    find,
    questions,
    scenario,
)
from eifel.studies.settings import RESPONSES
from eifel.worlds import small_worlds

_EVIDENT = ("eifel-timestamps", "eifel-timestamps, plain", "eifel-bit", "dsack", "min-rtt")
_WHOLE = tuple(respond for respond in RESPONSES if respond != "partial-credit")
_ALL = tuple(detect for detect in DETECTORS if detect != "none")
_MISLED = ("f-rto", "f-rto-sack", "dual-rtt")


def _measure(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    return [
        {column.name: Mean(float(runs[column.name][number]), None, 1) for column in artefact.columns}
        for number in range(len(artefact.rows))
    ]


def _draw(measured: Measured) -> Figure:
    """Draws the smallest worlds among those of four segments, which run quickly."""
    shown = {}
    for detect, late, kind, said in (
        ("f-rto", 60, "false-undo", "F-RTO gives a window back that was cut for a loss"),
        ("dual-rtt", 60, "false-undo", "so does DualRTT"),
        ("eifel-timestamps", 10, "loss-undone", "Eifel undoes a spurious timeout; something else was lost"),
        ("eifel-timestamps", 10, "missed", "Eifel misses a spurious retransmission"),
    ):
        smallest = small_worlds(scenario(detect, "rfc4015"), segments=4, late_ms=late).failed[kind].smallest
        if smallest is not None:
            shown[said] = smallest
    return ladder_figure(shown)


def _worlds(
    measured: Measured, column: str, detectors: Iterable[str], late: Iterable[int], responds: Iterable[str] = RESPONSES
) -> list[float]:
    return [
        measured.mean(column, detect=detect, respond=respond, late_ms=at)
        for detect in detectors
        for respond in responds
        for at in late
    ]


_LEFT_OPEN = (
    Setting("window", f"{WINDOW} segments, in congestion avoidance", "the last two follow as ACKs let them"),
    Setting("round trip", "100 ms, known from two segments before", "constant, so that no other cause shows"),
    Setting("RTO", "1 s, the least of RFC 6298", "ten round trips"),
)
_EVERY = 1 << 4 * SEGMENTS

ARTEFACT = Artefact(
    id="detectors.small_worlds",
    title="Every fate of six segments and of their ACKs: 16 777 216 worlds a row",
    source="this project; docs/internals/worlds.md",
    columns=(
        Column("worlds", "Worlds", digits=0),
        Column("caught", "Spurious episodes caught", digits=0),
        *(Column(name.replace("-", "_"), name.replace("-", " ").capitalize(), digits=0) for name in FAILURES),
    ),
    rows=tuple(Row({"detect": d, "respond": r, "late_ms": late}) for d, r, late in questions()),
    method=Studied(
        Study(
            find,
            {"segments": SEGMENTS, "window": WINDOW, "late_ms": list(LATE_MS), "before": 2, "after": 6},
            (asking, worlds),
        ),
        measure=_measure,
        long=True,
        draw=_draw,
    ),
    fitted=_LEFT_OPEN,
    claims=(
        Claim(
            "every world is counted, and none is stuck",
            lambda m: all((r.means["worlds"].mean, r.means["stuck"].mean) == (_EVERY, 0) for r in m.rows),
        ),
        Claim(
            "Eifel by timestamps (plain and safe), Eifel by a bit, DSACK and the shortest round trip never give a"
            " window back when the first retransmission was needed, but for the part that partial credit is about",
            lambda m: not any(_worlds(m, "false_undo", _EVIDENT, LATE_MS, _WHOLE)),
        ),
        Claim(
            "none is misled where what was delayed arrives ahead of what is retransmitted",
            lambda m: not any(_worlds(m, "false_verdict", _ALL, LATE_MS[:1])),
        ),
        Claim(
            "where it arrives behind that, both forms of F-RTO and DualRTT are misled",
            lambda m: all(_worlds(m, "false_verdict", _MISLED, LATE_MS[1:])),
        ),
    ),
)
