"""A receiver's gain from the best lie that a search finds, with large windows."""

from collections.abc import Mapping
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Column, Row, Setting, Studied
from eifel.papers.study import Effort, Study
from eifel.studies import cheating, liar_search
from eifel.studies.liars_repair import SENDERS

RUNS = 2000
RATE_BPS = 100_000_000
PACKETS = 800
LOSSES = (1e-3, 1e-4, 1e-5)
_ROWS = [(sender, loss) for sender in SENDERS for loss in LOSSES]


def scenario(sender: str, loss: float) -> dict[str, Any]:
    """Returns the path of `detectors.liars`, ten times as fast."""
    made = cheating.scenario(cheating.DEFAULT, "rfc4015", "once-a-round-trip", loss, "none")
    back = {"rate_bps": RATE_BPS, "queue": {"kind": "unlimited"}}
    path = {"rate_bps": RATE_BPS, "queue": {"kind": "drop-tail", "packets": PACKETS}, "back": back}
    (flow,) = made["flow"]
    flow = {**flow, "sender": {**flow["sender"], **SENDERS[sender]}}
    return {**made, "point_to_point": {**made["point_to_point"], **path}, "flow": [flow]}


_DESIGN = {"rows": [scenario(*row) for row in _ROWS], "runs": RUNS}


def _find(effort: Effort) -> Mapping[str, Any]:
    return liar_search.find(effort, "liars fast", [scenario(*row) for row in _ROWS], RUNS, _DESIGN)


ARTEFACT = Artefact(
    id="detectors.liars_fast",
    title="Goodput of the best liar that a search finds over 100 Mbit/s, over an honest receiver's",
    source="this project; docs/internals/liars.md",
    columns=(Column("gain", "Gain", digits=2),),
    rows=tuple(Row({"sender": sender, "loss": loss}) for sender, loss in _ROWS),
    method=Studied(Study(_find, _DESIGN, (cheating, liar_search)), measure=cheating.gains, repetitions=40, long=True),
    fitted=(
        Setting("path", f"100 Mbit/s, 100 ms, {PACKETS} packets, random loss", "large windows"),
        Setting("transfer", f"{cheating.DURATION_S} s", "300 round trips"),
        Setting("search", f"{RUNS} runs a row, half at random, half uphill", "minutes in all"),
    ),
    claims=(
        Claim(
            "no liar that 2000 runs of search find gains 5 %, whatever detects, recovers or controls congestion",
            lambda m: max(row.means["gain"].mean for row in m.rows) <= cheating.BOUND,
        ),
    ),
)
