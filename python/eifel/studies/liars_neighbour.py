"""The loss of an honest flow beside a cheating receiver, over the same bottleneck."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Row, Setting, Studied
from eifel.papers.study import Effort, Progress, Study
from eifel.runs import Runs
from eifel.statistics import Mean
from eifel.studies import cheating
from eifel.studies.cheating import DEFAULT, LOSSES, PLAIN, ratio, scenario

OWN = {
    DEFAULT: ("forged-echo", "guessed-echo"),
    PLAIN: ("forged-echo",),
    "eifel-bit": ("forged-mark",),
    "dsack": ("forged-dsack",),
    "f-rto": ("withheld-ack",),
    "f-rto-sack": ("withheld-ack",),
    "min-rtt": ("withheld-ack",),
    "dual-rtt": ("withheld-ack",),
}
"""Each detector with the lies against it."""
GRANTS = ("once-a-round-trip", "always")
_ROWS = [(d, lie, grant, loss) for d, lies in OWN.items() for lie in lies for grant in GRANTS for loss in LOSSES]
_BOUND = 0.95


def shared(detect: str, grant: str, loss: float, liar: str) -> dict[str, Any]:
    """Returns the scenario with an honest transfer to another receiver beside it, with the same detector."""
    made = scenario(detect, "rfc4015", grant, loss, liar)
    main = made["flow"][0]
    return {**made, "flow": [main, {**main, "name": "beside", "liar": "none"}]}


_DESIGN = {"rows": _ROWS, "scenario": shared(DEFAULT, "always", 0.01, "none")}


def _find(effort: Effort) -> Mapping[str, Any]:
    def one(number: int, progress: Progress) -> dict[str, Any]:
        detect, lie, grant, loss = _ROWS[number]
        scenarios = [shared(detect, grant, loss, liar) for liar in ("none", lie)]
        goodput = cheating.measured(scenarios, effort, progress)
        return {"row": np.full(goodput.size, number), **cheating.columns(goodput, "lies", "repetition", "flow")}

    return effort.parts("beside", _DESIGN, [2 * effort.repetitions] * len(_ROWS), one)


def _measure(_: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    def of(number: int, lies: int, flow: int) -> Any:
        asked = (runs["row"] == number) & (runs["lies"] == lies) & (runs["flow"] == flow)
        return runs["goodput_bps"][asked]

    return [
        {name: ratio(of(number, 1, flow), of(number, 0, flow)) for flow, name in enumerate(("liar", "beside"))}
        for number in range(len(_ROWS))
    ]


def _least(measured: Measured, detect: str) -> float:
    return min(row.means["beside"].mean for row in measured.rows if row.row.keys["detect"] == detect)


ARTEFACT = Artefact(
    id="detectors.beside",
    title="Goodput beside a receiver that cheats, over that beside an honest one",
    source="this project; docs/internals/liars.md",
    columns=(Column("liar", "The liar's", digits=2), Column("beside", "Its neighbour's", digits=2)),
    rows=tuple(Row({"detect": d, "lie": lie, "grant": g, "loss": loss}) for d, lie, g, loss in _ROWS),
    method=Studied(Study(_find, _DESIGN, (_find, cheating)), measure=_measure, repetitions=40, long=True),
    fitted=(Setting("path", "that of detectors.liars, shared by two", "where a liar gains, somebody may lose"),),
    claims=(
        Claim(
            "no honest flow loses 5 % beside a receiver that lies to the default",
            lambda m: _least(m, DEFAULT) >= _BOUND,
        ),
        Claim(
            "beside one that forges echoes against RFC 3522's plain comparison it loses more than that",
            lambda m: _least(m, PLAIN) < _BOUND,
        ),
    ),
)
