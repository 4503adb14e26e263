"""Other attempts to explain the rows of tables 1-4 that differ: one change at a time to the present setting.

`calibration.py` writes their results to docs/calibration.md. None of them is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from eifel.papers.responding import known, nearness, settings

Change = Callable[[dict[str, Any]], object]

SHOWN: tuple[Mapping[str, Any], ...] = (
    {"recovery": "reno-sack", "eifel": True},
    {"recovery": "fack", "eifel": True},
    {"restore": "option-2"},
    {"restore": "option-3"},
    {"rto_adaptation": "back-off"},
)
"""The rows shown beside the counts: the last of `nearness.rows()` with these keys."""


COUNTED = "Means of 20 repetitions with the seed 1; the tables have 100."


def _open(**values: Any) -> Change:
    return partial(nearness.put, values=replace(settings.FIT, **values))


def _spike(**values: Any) -> Change:
    return lambda scenario: scenario["spike"][0].update(values)


def _sender(recovery: str | None = None, **seams: Any) -> Change:
    """Changes algorithms of the main flow, or their parameters, optionally only if it recovers by `recovery`."""

    def change(scenario: dict[str, Any]) -> None:
        sender = scenario["flow"][0]["sender"]
        if recovery not in (None, sender["recover"]):
            return
        for seam, wanted in seams.items():
            now = sender[seam]
            sender[seam] = (
                wanted if isinstance(wanted, str) else (now if isinstance(now, dict) else {"name": now}) | wanted
            )

    return change


def _queue(packets: int) -> Change:
    return lambda scenario: scenario["dumbbell"]["bottleneck"]["queue"].update(packets=packets)


_BLOCKED = {"fast_retransmit_below_recovery_point": "blocked"}
_SSTHRESH = {"initial_ssthresh_bytes": settings.RECEIVE_WINDOW_BYTES}

REPETITIONS = 20

VARIANTS: Mapping[str, Change] = {
    "as in the tables": _open(),
    "the access delay on both sides alike": _open(sender_share=0.5),
    "the access delay on the receiver's side": _open(sender_share=0),
    "1000 bytes of payload, as if the option took nothing": _open(payload_bytes=1000),
    "ACKs wait 200 ms": _open(ack_delay_ms=200),
    "the first spike at any time in the first 20 s": _spike(first_s={"uniform": [0, 20]}),
    "a spike holds what is due at the far end, and the queue empties": _spike(holds="arriving"),
    "after a spurious timeout go-back-N": _sender(recover={"after_spurious_timeout": "go-back-n"}),
    "after a spurious timeout no fast retransmit below the recovery point": _sender(recover=_BLOCKED),
    "loss recovery by ns-2's rules": _sender(recover={"follows": "ns-2"}),
    "a queue of 76 packets, as ns-2's delayer makes of 75": _queue(76),
    "no Limited Transmit": _sender(recover={"limited_transmit": False}),
    'FACK without the "bugfix", as ns-2.35 has it': _sender("fack", recover={"bugfix": False}),
    "any valid sample ends the back-off": _sender(rto={"back_off_ends": "sample"}),
    "the backed-off RTO grows to an hour, not to 60 s": _sender(rto={"maximum_ms": 3_600_000}),
    "an initial ssthresh of the receiver's window, as in ns-2": _sender(congest=_SSTHRESH),
    "ssthresh is held at further timeouts (RFC 5681)": _sender(congest=dict(settings.WINDOWS["rfc5681"])),
    "an undo once in a round trip, as this project grants it": _sender(grant="once-a-round-trip"),
}


def table() -> list[str]:
    """Returns the results of all changes, as the lines of a table in Markdown."""
    shown = [max(number for number, row in enumerate(nearness.rows()) if row.keys == keys) for keys in SHOWN]
    names = [" ".join("Eifel" if value is True else str(value) for value in keys.values()) for keys in SHOWN]
    titles = ["changed", "distance", *(f"{column.title} within" for column in settings.COLUMNS)]
    titles += [f"{name}: s / sent again / genuine" for name in names]
    printed = [_cell(nearness.rows()[number].published) for number in shown]
    lines = ["| " + " | ".join(titles) + " |", "|---|" + "---:|" * (len(titles) - 1)]
    lines.append("| " + " | ".join(["printed", *[""] * (1 + len(settings.COLUMNS)), *printed]) + " |")
    for name, change in VARIANTS.items():
        near = nearness.of(change, REPETITIONS)
        cells = [name, f"{near.distance:.3f}", *map(str, near.within.values())]
        lines.append("| " + " | ".join(cells + [_cell(near.means[number]) for number in shown]) + " |")
    return lines


def report() -> list[str]:
    """Returns that table and the known causes for outlying rows, as lines of Markdown."""
    return [
        "## What else was tried, one change at a time",
        "",
        COUNTED,
        "",
        *table(),
        "",
        *known.CALIBRATION.splitlines(),
    ]


def _cell(values: Mapping[str, float]) -> str:
    return f"{values['time_s']:.0f} / {values['retransmissions']:.0f} / {values['genuine_rtos']:.2f}"
