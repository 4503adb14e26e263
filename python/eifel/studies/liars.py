"""The gain of a cheating receiver: its goodput over an honest one's, by lie, detector and response."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Row, Studied
from eifel.papers.study import Effort, Study
from eifel.studies import cheating
from eifel.studies.cheating import BOUND, DEFAULT, DETECTORS, LIES, LOSSES, PLAIN, most, scenario
from eifel.studies.settings import RESPONSES

TITLE = "detectors.liars"
SENDERS = tuple(
    sender
    for detect in DETECTORS
    for sender in (
        *((detect, respond, "once-a-round-trip") for respond in RESPONSES),
        (detect, "rfc4015", "always"),
    )
)
"""Detector, response, and the grant of undos: once per round trip or always."""
_DESIGN = {"senders": SENDERS, "scenario": scenario(DEFAULT, "rfc4015", "always", 0.01, "none")}


def _find(effort: Effort) -> Mapping[str, Any]:
    return cheating.find(effort, TITLE, [partial(scenario, *sender) for sender in SENDERS], _DESIGN)


_ROWS = [(*sender, loss) for sender in SENDERS for loss in LOSSES]
_ONCE = {"grant": "once-a-round-trip", "respond": "rfc4015"}

ARTEFACT = Artefact(
    id=TITLE,
    title="Goodput of a receiver that cheats, over an honest one's",
    source="this project; docs/internals/liars.md",
    columns=cheating.COLUMNS,
    rows=tuple(Row({"detect": d, "respond": r, "grant": g, "loss": loss}) for d, r, g, loss in _ROWS),
    method=Studied(
        Study(_find, {**_DESIGN, "lies": LIES, "losses": LOSSES}, (cheating,)),
        measure=cheating.gains_by_lie,
        repetitions=40,
        long=True,
    ),
    fitted=cheating.LEFT_OPEN,
    claims=(
        Claim(
            "no lie gains 5 % against the default, by any response, with an undo a round trip or as many as there are",
            lambda m: most(m, detect=DEFAULT) <= BOUND,
        ),
        Claim("nor against its second ACK (eifel-or-f-rto)", lambda m: most(m, detect="eifel-or-f-rto") <= BOUND),
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
        Claim("echoes at random gain nothing", lambda m: most(m, "random_echo") <= BOUND),
    ),
)
