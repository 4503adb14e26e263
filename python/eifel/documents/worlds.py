"""Tables and sentences of docs/internals/worlds.md; a part of `documents.measured`."""

from collections.abc import Callable, Mapping

from eifel.documents import WORLDS, spaced, table
from eifel.documents.stored import Stored, mean
from eifel.studies.questions import LATE_MS, SEGMENTS
from eifel.studies.settings import RESPONSES

AHEAD, BEHIND = LATE_MS
SHOWN = {"false_verdict": "false verdict", "false_undo": "false undo", "unpaid": "unpaid"}
OPEN = {"missed": "missed", "undecided": "never judged"}
UNDONE = {"false_undo": "false undo", "loss_undone": "loss undone", "unpaid": "unpaid", "needless_cut": "needless cut"}
COLUMNS = tuple(dict.fromkeys((*SHOWN, *OPEN, *UNDONE)))
"""The failures kept of `detectors.small_worlds`. The artefact's claims are about the others."""
DETECTORS = {
    "eifel-timestamps": "Eifel by timestamps",
    "eifel-timestamps, plain": "the same, RFC 3522's plain comparison",
    "eifel-or-f-rto": "the same, or the second ACK (`eifel-or-f-rto`)",
    "eifel-bit": "Eifel by a bit",
    "dsack": "DSACK",
    "min-rtt": "minimum round trip",
    "f-rto": "F-RTO",
    "f-rto-sack": "F-RTO with SACK",
    "dual-rtt": "DualRTT",
}
MISLED = ("f-rto", "f-rto-sack", "dual-rtt")
ANSWERED = {name: DETECTORS[name] for name in ("eifel-timestamps", "dsack", "f-rto", "dual-rtt")}
"""The detectors whose responses the page compares."""
EVERY = 1 << 4 * SEGMENTS
LOSSES = EVERY - 3**SEGMENTS * 4**SEGMENTS
"""The number of worlds in which a segment is lost."""


def _of(store: Stored, column: str, detect: str, respond: str, late_ms: int) -> float:
    return mean(store, "detectors.small_worlds", column, detect=detect, respond=respond, late_ms=late_ms)


def detectors(store: Stored) -> str:
    """Returns the table of detectors with RFC 4015's response."""
    columns = {**SHOWN, **OPEN}
    rows = [
        [name, arrival, *(spaced(_of(store, column, detect, "rfc4015", late)) for column in columns)]
        for detect, name in DETECTORS.items()
        for late, arrival in ((AHEAD, "ahead"), (BEHIND, "behind"))
    ]
    return table(("detector", "delayed", *columns.values()), rows)


def responses(store: Stored) -> str:
    """Returns the table of responses with some detectors. Responses with equal numbers share a row."""
    rows = []
    for detect, name in ANSWERED.items():
        alike: dict[tuple[str, ...], list[str]] = {}
        for respond in RESPONSES:
            counts = tuple(spaced(_of(store, column, detect, respond, BEHIND)) for column in UNDONE)
            alike.setdefault(counts, []).append(f"`{respond}`")
        rows += [[name, ", ".join(asked), *counts] for counts, asked in alike.items()]
    return table(("detector", "response", *UNDONE.values()), rows)


def quotes(store: Stored) -> list[tuple[str, str]]:
    """Returns docs/internals/worlds.md's sentences about the tables."""

    def percent(column: str, detect: str, respond: str) -> float:
        return 100 * _of(store, column, detect, respond, BEHIND) / EVERY

    misled = [percent("false_verdict", detect, "rfc4015") for detect in MISLED]
    unpaid = [percent("unpaid", "f-rto", respond) for respond in ("rfc4015", "option-1")]
    said = [
        f"{spaced(EVERY)} worlds a row, of which {spaced(LOSSES)} lose data",
        f"are misled in {min(misled):.0f} to {max(misled):.0f} % of all worlds",
        f"With F-RTO {unpaid[0]:.1f} % of all worlds end without a cut although data was lost if RFC 4015 responds, "
        f"and {unpaid[1]:.1f} % if the window is fully restored",
    ]
    return [(WORLDS, sentence) for sentence in said]


BLOCKS: Mapping[str, tuple[str, Callable[[Stored], str]]] = {
    "worlds": (WORLDS, detectors),
    "worlds of responses": (WORLDS, responses),
}
