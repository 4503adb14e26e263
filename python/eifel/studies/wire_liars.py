"""The gain of a cheating receiver against senders on Linux's wire: its goodput over an honest one's."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from eifel.papers import rfc3522
from eifel.papers.artefact import Artefact, Claim, Column, Measured, Row, Setting, Studied
from eifel.papers.study import Effort, Progress, Study
from eifel.runs import Runs
from eifel.statistics import Mean
from eifel.studies import cheating
from eifel.studies.cheating import LIES, LOSSES, ratio

TITLE = "detectors.wire_liars"
LINUX, ONCE, CAREFUL = "linux", "linux, once a round trip", "linux, unless losses follow"
PLAIN, F_RTO, DEFAULT = "eifel-timestamps, plain", "f-rto-sack", "eifel-timestamps"
SHARED, SHARED_CAREFUL = "eifel-f-rto-dsack", "eifel-f-rto-dsack, unless losses follow"
_LINUX = {"detect": "linux", "respond": "linux"}
SENDERS: Mapping[str, Mapping[str, Any]] = {
    LINUX: {**_LINUX, "grant": "always"},
    ONCE: {**_LINUX, "grant": "once-a-round-trip"},
    CAREFUL: {**_LINUX, "grant": "unless-losses-follow"},
    SHARED: {"detect": "eifel-f-rto-dsack", "respond": "linux", "grant": "always"},
    SHARED_CAREFUL: {"detect": "eifel-f-rto-dsack", "respond": "linux", "grant": "unless-losses-follow"},
    PLAIN: {"detect": dict(rfc3522.PLAIN), "respond": "linux", "grant": "always"},
    F_RTO: {"detect": "f-rto-sack", "respond": "linux", "grant": "always"},
    DEFAULT: {"detect": "eifel-timestamps", "respond": "linux", "grant": "always"},
}
"""The senders, which differ from the profile `linux` in detection and grant alone."""
BOUND = 1.05


def scenario(sender: str, loss: float, lie: str) -> dict[str, Any]:
    """Returns the path of `detectors.liars` with Linux at both ends."""
    asked = cheating.scenario(cheating.DEFAULT, "rfc4015", "always", loss, lie)
    return {**asked, "flow": [{**asked["flow"][0], "profile": "linux", "sender": dict(SENDERS[sender])}]}


def find(effort: Effort) -> Mapping[str, Any]:
    """Runs one sender after another, each lie beside the honest receiver with the same seed."""
    names, every = list(SENDERS), ("none", *LIES)

    def one(number: int, progress: Progress) -> dict[str, Any]:
        scenarios = [scenario(names[number], loss, lie) for loss in LOSSES for lie in every]
        goodput = cheating.measured(scenarios, effort, progress).reshape(len(LOSSES), len(every), -1)
        return {
            "sender": np.full(goodput.size, number),
            **cheating.columns(goodput, "loss", "lie", "repetition"),
        }

    runs = len(LOSSES) * len(every) * effort.repetitions
    return effort.parts(TITLE, design(), [runs] * len(names), one)


def design() -> dict[str, Any]:
    return {"senders": {n: dict(s) for n, s in SENDERS.items()}, "lies": LIES, "path": scenario(LINUX, 0.01, "none")}


def _measure(_: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    def of(sender: int, loss: int, lie: int) -> Any:
        return runs["goodput_bps"][(runs["sender"] == sender) & (runs["loss"] == loss) & (runs["lie"] == lie)]

    return [
        {name.replace("-", "_"): ratio(of(sender, loss, 1 + lie), of(sender, loss, 0)) for lie, name in enumerate(LIES)}
        for sender, loss in np.ndindex(len(SENDERS), len(LOSSES))
    ]


def most(measured: Measured, sender: str) -> float:
    """Returns the largest gain against a sender, of all lies and losses."""
    rows = [row for row in measured.rows if row.row.keys["sender"] == sender]
    return max(mean.mean for row in rows for mean in row.means.values())


ARTEFACT = Artefact(
    id=TITLE,
    title="Goodput of a receiver that cheats on Linux's wire, over an honest one's",
    source="this project; docs/internals/liars.md",
    columns=tuple(Column(lie.replace("-", "_"), lie.replace("-", " ").capitalize(), digits=2) for lie in LIES),
    rows=tuple(Row({"sender": sender, "loss": loss}) for sender in SENDERS for loss in LOSSES),
    method=Studied(
        Study(find, design(), (cheating, find, scenario)),
        measure=_measure,
        repetitions=20,
        long=True,
    ),
    fitted=(
        Setting("path", "10 Mbit/s, 100 ms, 80 packets, random loss", "that of detectors.liars"),
        Setting("transfer", f"{cheating.DURATION_S} s", "hundreds of losses"),
    ),
    claims=(
        Claim("a liar gains more than 5 % against Linux", lambda m: most(m, LINUX) > BOUND),
        Claim("none does against F-RTO", lambda m: most(m, F_RTO) <= BOUND),
        Claim("none does against the original's own timestamp", lambda m: most(m, DEFAULT) <= BOUND),
    ),
)
