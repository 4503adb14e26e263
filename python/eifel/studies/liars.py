"""The gain of a cheating receiver: its goodput over an honest one's, by lie, detector and response."""

import numpy as np

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Row, Setting, Studied
from eifel.papers.study import Study
from eifel.runs import Runs
from eifel.statistics import Mean
from eifel.studies import cheating
from eifel.studies.cheating import DEFAULT, DURATION_S, LIES, LOSSES, PLAIN, find, ratio, scenario, senders

BOUND = 1.05


def _measure(_: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    goodput = {
        key: runs["goodput_bps"][(runs["sender"] == key[0]) & (runs["loss"] == key[1]) & (runs["lie"] == key[2])]
        for key in np.ndindex(len(list(senders())), len(LOSSES), 1 + len(LIES))
    }
    return [
        {name.replace("-", "_"): ratio(goodput[*place, 1 + lie], goodput[*place, 0]) for lie, name in enumerate(LIES)}
        for place in np.ndindex(len(list(senders())), len(LOSSES))
    ]


def _most(measured: Measured, lie: str = "", **keys: str) -> float:
    rows = [row for row in measured.rows if all(row.row.keys[key] == value for key, value in keys.items())]
    return max(mean.mean for row in rows for name, mean in row.means.items() if lie in ("", name))


_ROWS = [(*sender, loss) for sender in senders() for loss in LOSSES]
_ONCE = {"grant": "once-a-round-trip", "respond": "rfc4015"}

ARTEFACT = Artefact(
    id="detectors.liars",
    title="Goodput of a receiver that cheats, over an honest one's",
    source="this project; docs/internals/liars.md",
    columns=tuple(Column(lie.replace("-", "_"), lie.replace("-", " ").capitalize(), digits=2) for lie in LIES),
    rows=tuple(Row({"detect": d, "respond": r, "grant": g, "loss": loss}) for d, r, g, loss in _ROWS),
    method=Studied(
        Study(
            find,
            {"lies": LIES, "losses": LOSSES, "scenario": scenario(DEFAULT, "rfc4015", "always", 0.01, "none")},
            (cheating,),
        ),
        measure=_measure,
        repetitions=40,
        long=True,
    ),
    fitted=(
        Setting("path", "10 Mbit/s, 100 ms, 80 packets, random loss", "an undo that is not due pays most there"),
        Setting("transfer", f"{DURATION_S} s", "hundreds of losses"),
    ),
    claims=(
        Claim(
            "no lie gains 5 % against the default, by any response, with an undo a round trip or as many as there are",
            lambda m: _most(m, detect=DEFAULT) <= BOUND,
        ),
        Claim("nor against its second ACK (eifel-or-f-rto)", lambda m: _most(m, detect="eifel-or-f-rto") <= BOUND),
        Claim(
            "against RFC 3522's plain comparison a forger of echoes has more than twice his share at a loss of 1 %",
            lambda m: m.mean("forged_echo", detect=PLAIN, **_ONCE, loss=0.01) > 2,
        ),
        Claim(
            "an undo once a round trip leaves the forger of echoes less than half of what he gains without that limit"
            " at a loss of 5 %",
            lambda m: (
                m.mean("forged_echo", detect=PLAIN, **_ONCE, loss=0.05) * 2
                < m.mean("forged_echo", detect=PLAIN, respond="rfc4015", grant="always", loss=0.05)
            ),
        ),
        Claim("echoes at random gain nothing", lambda m: _most(m, "random_echo") <= BOUND),
    ),
)
