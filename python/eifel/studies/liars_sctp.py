"""The gain of a cheating receiver over SCTP: by each lie, and by the best one that a search finds."""

from collections.abc import Mapping
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Column, Measured, Row, Setting, Studied
from eifel.papers.sctp import settings as sctp
from eifel.papers.study import Effort, Progress, Study
from eifel.runs import Runs
from eifel.statistics import Mean
from eifel.studies import cheating, liar_search
from eifel.studies.cheating import LOSSES, ratio

RUNS = 500
DURATION_S = 15
PLAIN = "none"
DETECTORS: Mapping[str, Any] = {
    PLAIN: "none",
    "eifel": "eifel-cover-timestamps",
    "eifel-older": dict(sctp.OLDER),
    "eifel-bit": {"name": "eifel-cover-or-dsack", "signal": "bit"},
    "dup-tsn": "dsack",
    "f-rto": "f-rto-sctp",
}
LIES = ("forged-echo", "guessed-echo", "forged-dsack", "forged-mark", "forged-sack", "withheld-ack", "random-echo")
_ROWS = [(detect, loss) for detect in DETECTORS for loss in LOSSES]


def scenario(detect: str, loss: float, liar: str = "none") -> dict[str, Any]:
    """Returns the path of `detectors.liars` with an association whose ends agree on both of Eifel's signals."""
    made = cheating.scenario(cheating.DEFAULT, "rfc4015", "once-a-round-trip", loss, liar)
    flow = {key: value for key, value in made["flow"][0].items() if key != "tcp"}
    options = {"timestamp_chunk": "agreed", "retransmit_bit": True, "receive_window_bytes": 1_000_000}
    options |= sctp.CLOCK if detect == "eifel-older" else {}
    flow |= {"transport": "sctp", "sctp": options, "sender": {**flow["sender"], "detect": DETECTORS[detect]}}
    return {**made, "duration_s": DURATION_S, "flow": [flow]}


_DESIGN = {"rows": _ROWS, "lies": LIES, "runs": RUNS, "scenario": scenario(PLAIN, 0.01)}


def _find(effort: Effort) -> Mapping[str, Any]:
    """Runs each row: the honest receiver, each lie, and the liar that a search finds for the row."""

    def one(number: int, progress: Progress) -> dict[str, Any]:
        honest = scenario(*_ROWS[number])
        liar, lying = liar_search.best(honest, RUNS, effort, progress)
        goodput = liar_search.judged([*(scenario(*_ROWS[number], lie) for lie in ("none", *LIES)), lying], effort)
        return cheating.columns(goodput, "lie", "repetition", row=number, liar=liar)

    return effort.parts("liars over sctp", _DESIGN, [RUNS] * len(_ROWS), one)


def _measure(_: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    def of(number: int, lie: int) -> Any:
        return runs["goodput_bps"][(runs["row"] == number) & (runs["lie"] == lie)]

    names = [lie.replace("-", "_") for lie in LIES] + ["found"]
    return [
        {name: ratio(of(number, 1 + place), of(number, 0)) for place, name in enumerate(names)}
        for number in range(len(_ROWS))
    ]


def _most(measured: Measured, *detect: str) -> list[float]:
    """Returns the largest gain of any lie, listed or found, against each detector at any loss rate."""
    rows = {name: [row for row in measured.rows if row.row.keys["detect"] == name] for name in detect}
    return [max(mean.mean for row in of for mean in row.means.values()) for of in rows.values()]


ARTEFACT = Artefact(
    id="detectors.liars_sctp",
    title="Goodput of a receiver that cheats over SCTP, over an honest one's",
    source="this project; docs/internals/liars.md",
    columns=(
        *(cheating.column(lie) for lie in LIES),
        Column("found", "Best of a search", digits=2),
    ),
    rows=tuple(Row({"detect": detect, "loss": loss}) for detect, loss in _ROWS),
    method=Studied(Study(_find, _DESIGN, (_find, cheating, liar_search)), measure=_measure, repetitions=40, long=True),
    fitted=(
        Setting("path", "10 Mbit/s, 100 ms, 80 packets, random loss", "that of detectors.liars"),
        Setting("transfer", f"{DURATION_S} s", "150 round trips"),
        Setting("search", f"{RUNS} runs a row, half at random, half uphill", "minutes in all"),
    ),
    claims=(
        Claim(
            "no lie, listed or found, gains 5 % against plain SCTP, F-RTO, or Eifel by each original's own timestamp",
            lambda m: max(_most(m, PLAIN, "f-rto", "eifel")) <= cheating.BOUND,
        ),
        Claim(
            "a liar gains more than half against Eifel by older timestamps, the bit, and DupTSN, at some rate of loss",
            lambda m: min(_most(m, "eifel-older", "eifel-bit", "dup-tsn")) > 1.5,
        ),
    ),
)
