"""Cheating receivers: the senders that they meet, and the runs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel.papers import rfc3522
from eifel.papers.artefact import Artefact, Column, Measured, Setting
from eifel.papers.study import Effort, Progress
from eifel.runs import Runs, run_many
from eifel.statistics import Mean, mean_interval

SQUARE_WAVE = "square-wave"
"""A receiver that holds every ACK back for a while and then releases all, so that the delay oscillates."""
LIES = ("forged-echo", "guessed-echo", "forged-dsack", "forged-mark", "withheld-ack", "random-echo", SQUARE_WAVE)
LOSSES = (0.001, 0.01, 0.05)
DURATION_S = 30
DEFAULT = "eifel-timestamps"
PLAIN = "eifel-timestamps, plain"
BOUND = 1.05
"""A liar gains if its goodput is more than this many times an honest receiver's."""
Scenario = Callable[[float, str], dict[str, Any]]
DETECTORS: dict[str, Any] = {
    DEFAULT: "eifel-timestamps",
    PLAIN: dict(rfc3522.PLAIN),
    **{name: name for name in ("eifel-or-f-rto", "eifel-bit", "f-rto", "f-rto-sack", "dsack", "dual-rtt", "min-rtt")},
}


def column(lie: str) -> Column:
    """Returns the column of a lie's gain."""
    return Column(lie.replace("-", "_"), lie.replace("-", " ").capitalize(), digits=2)


COLUMNS = tuple(column(lie) for lie in LIES)
LEFT_OPEN = (
    Setting("path", "10 Mbit/s, 100 ms, 80 packets, random loss", "an undo that is not due pays most there"),
    Setting("transfer", f"{DURATION_S} s", "hundreds of losses"),
)


def scenario(detect: str, respond: str, grant: str, loss: float, liar: str) -> dict[str, Any]:
    """Returns an endless transfer over a path with random loss. Both ends also mark retransmissions."""
    # Only the receiver's ACKs cross the way back, so holding them there equals holding them in the
    # receiver.
    wave = {
        "links": ["bottleneck-back"],
        "holds": "arriving",
        "first_s": 2,
        "length_s": 0.3,
        "interval_s": 0.6,
        "interval": "start-to-start",
    }
    return {
        "duration_s": DURATION_S,
        **({"spike": [wave]} if liar == SQUARE_WAVE else {}),
        "point_to_point": {
            "rate_bps": 10_000_000,
            "delay_ms": 50,
            "queue": {"kind": "drop-tail", "packets": 80},
            "loss": {"kind": "random", "rate": loss},
            "back": {"rate_bps": 10_000_000, "queue": {"kind": "unlimited"}},
        },
        "flow": [
            {
                "name": "main",
                "from": "sender",
                "to": "receiver",
                "liar": "none" if liar == SQUARE_WAVE else liar,
                "application": {"kind": "bulk", "endless": True},
                "tcp": {"payload_bytes": 1448, "retransmission_marks": "bits"},
                "sender": {"detect": DETECTORS[detect], "respond": respond, "grant": grant},
            }
        ],
    }


def find(effort: Effort, title: str, scenarios: Sequence[Scenario], definition: Mapping[str, Any]) -> Mapping[str, Any]:
    """Runs one sender after another, each lie beside the honest receiver with the same seed.

    Each sender is a function that returns its scenario from the share of lost packets and the lie.
    """
    each = [(loss, lie) for loss in LOSSES for lie in ("none", *LIES)]

    def one(number: int, progress: Progress) -> dict[str, Any]:
        asked = [scenarios[number](loss, lie) for loss, lie in each]
        goodput = measured(asked, effort, progress).reshape(len(LOSSES), 1 + len(LIES), -1)
        return {"sender": np.full(goodput.size, number), **columns(goodput, "loss", "lie", "repetition")}

    definition = {**definition, "lies": LIES, "losses": LOSSES}
    return effort.parts(title, definition, [len(each) * effort.repetitions] * len(scenarios), one)


def gains_by_lie(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    """Returns the goodput with each lie over the honest receiver's. The rows are senders, each with all losses."""

    def of(sender: int, loss: int, lie: int) -> Any:
        return runs["goodput_bps"][(runs["sender"] == sender) & (runs["loss"] == loss) & (runs["lie"] == lie)]

    return [
        {
            column.name: ratio(of(sender, loss, 1 + lie), of(sender, loss, 0))
            for lie, column in enumerate(artefact.columns)
        }
        for sender, loss in np.ndindex(len(artefact.rows) // len(LOSSES), len(LOSSES))
    ]


def most(measured: Measured, lie: str = "", **keys: str) -> float:
    """Returns the largest gain over the rows with these keys, of one lie or of all."""
    rows = [row for row in measured.rows if all(row.row.keys[key] == value for key, value in keys.items())]
    return max(mean.mean for row in rows for name, mean in row.means.items() if lie in ("", name))


def measured(scenarios: Sequence[Mapping[str, Any]], effort: Effort, progress: Progress) -> NDArray[np.float64]:
    """Returns goodput in bit/s by scenario, repetition and flow, with the same seeds for each scenario."""
    asked = [{**one, "seed": effort.seed} for one in scenarios]
    found = run_many(
        asked, repetitions=effort.repetitions, threads=effort.threads, progress=lambda done, _: progress(done)
    )
    return found["goodput_bps"].reshape(len(asked), effort.repetitions, -1)


def columns(goodput: NDArray[np.float64], *axes: str, **same: Any) -> dict[str, NDArray[Any]]:
    """Returns a column for each axis with the places on it, one for each equal value, and the goodput."""
    places = zip(axes, np.indices(goodput.shape), strict=True)
    equal = {name: np.full(goodput.size, value) for name, value in same.items()}
    return {**{name: place.ravel() for name, place in places}, **equal, "goodput_bps": goodput.ravel()}


def ratio(liar: NDArray[Any], honest: NDArray[Any]) -> Mean:
    """Returns the ratio of two means over the same seeds. The mean of ratios would be biased upwards."""
    ratio = float(liar.mean() / honest.mean())
    beside = mean_interval((liar - ratio * honest) / honest.mean())
    return Mean(ratio, beside.half_width, beside.count)


def gains(artefact: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    """Returns the liar's goodput over the honest receiver's, by row."""
    each = [runs["row"] == number for number in range(len(artefact.rows))]
    return [{"gain": ratio(runs["lying_bps"][mine], runs["honest_bps"][mine])} for mine in each]
