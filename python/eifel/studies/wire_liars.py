"""The gain of a cheating receiver against senders on Linux's wire: its goodput over an honest one's."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from eifel.papers import rfc3522
from eifel.papers.artefact import Artefact, Claim, Measured, Row, Studied
from eifel.papers.study import Effort, Study
from eifel.studies import cheating
from eifel.studies.cheating import BOUND, LOSSES

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


def scenario(sender: str, loss: float, lie: str) -> dict[str, Any]:
    """Returns the path of `detectors.liars` with Linux at both ends."""
    asked = cheating.scenario(cheating.DEFAULT, "rfc4015", "always", loss, lie)
    return {**asked, "flow": [{**asked["flow"][0], "profile": "linux", "sender": dict(SENDERS[sender])}]}


_DESIGN = {"senders": {name: dict(one) for name, one in SENDERS.items()}, "path": scenario(LINUX, 0.01, "none")}


def _find(effort: Effort) -> Mapping[str, Any]:
    return cheating.find(effort, TITLE, [partial(scenario, name) for name in SENDERS], _DESIGN)


def gain(measured: Measured, sender: str) -> float:
    """Returns the largest gain against a sender, of all lies and losses."""
    return cheating.most(measured, sender=sender)


ARTEFACT = Artefact(
    id=TITLE,
    title="Goodput of a receiver that cheats on Linux's wire, over an honest one's",
    source="this project; docs/internals/liars.md",
    columns=cheating.COLUMNS,
    rows=tuple(Row({"sender": sender, "loss": loss}) for sender in SENDERS for loss in LOSSES),
    method=Studied(
        Study(_find, _DESIGN, (cheating, scenario)),
        measure=cheating.gains_by_lie,
        repetitions=20,
        long=True,
    ),
    fitted=cheating.LEFT_OPEN,
    claims=(
        Claim("a liar gains more than 5 % against Linux", lambda m: gain(m, LINUX) > BOUND),
        Claim("none does against F-RTO", lambda m: gain(m, F_RTO) <= BOUND),
        Claim("none does against the original's own timestamp", lambda m: gain(m, DEFAULT) <= BOUND),
    ),
)
