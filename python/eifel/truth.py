"""Scores what a tool says of recorded connections against the truth about each retransmission.

A folder of recordings holds `NAME.PLACE.pcapng` and `NAME.PLACE.truth.csv` for each place of capture, as
`eifel truth record` writes them. A tool is right about a retransmission if it names its frame.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from eifel.errors import BadInputError

TRUTH = ".truth.csv"
CAPTURES = (".pcapng", ".pcap", ".pcapng.gz", ".pcap.gz")
MANIFEST = "manifest.json"
CAUSES = ("rto", "loss", "fast", "tlp")
"""The kernel's causes: the timer, go-back-N after it, fast retransmission, tail-loss probe."""
VERDICTS = {"1": "spurious", "0": "needed"}
"""The right verdicts, by the truth's column `spurious`."""
WATCH = ".watch.json"
NEAR_S = 0.1
"""How far apart the box and the kernel's own clock may have a retransmission, in seconds."""
UNDECIDED = ("", "unknown", "undecidable")
"""What a tool says of a cause or a verdict that it does not know."""
COLUMNS = ("frame", "verdict", "confidence", "cause")
"""The columns of a tool's findings as CSV. All but the frame may be missing."""


@dataclass(frozen=True)
class Finding:
    """What a tool says of a frame that it calls a retransmission of data. Empty where it says nothing."""

    verdict: str = ""
    confidence: str = ""
    cause: str = ""


@dataclass
class Score:
    """Counts of retransmissions of data."""

    true: int = 0
    """Retransmissions that the kernel sent and of which the capture shows a trace."""
    hidden: int = 0
    """Further ones: before them, neither a copy of these data had passed nor data behind them, or the truth does
    not know whether they were needed. It does not matter what a tool says of these frames."""
    missed: int = 0
    """Of those, how many the tool does not name."""
    invented: int = 0
    """Other frames that the tool calls retransmissions."""
    invented_certain: int = 0
    decided: int = 0
    """Retransmissions that the tool calls spurious or needed."""
    right: int = 0
    wrong_certain: int = 0
    cause_decided: int = 0
    cause_right: int = 0

    def __iadd__(self, other: Score) -> Score:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))
        return self


Tool = Callable[[Path], Mapping[int, Finding] | None]
"""Returns the findings about a capture by frame number, or None if the tool says nothing of captures of this place."""
Truth = Mapping[int, Mapping[str, str]]


def eifel(capture: Path) -> Mapping[int, Finding]:
    """Returns what `eifel analyze` says. Repeated SYNs, probes and keep-alives carry no data."""
    from eifel.captures import analyze, repairs

    rows = repairs(analyze(capture).report)
    return {
        row["frame"]: Finding(row["verdict"], row["confidence"], row["cause"])
        for row in rows
        if row["bytes"] and row["cause"] != "syn"
    }


def tshark(capture: Path) -> Mapping[int, Finding]:
    """Returns what tshark's analysis flags say. It calls a retransmission spurious or says nothing."""
    from eifel.tshark import flags

    meanings = {
        "retransmission": Finding(),
        "fast_retransmission": Finding(cause="fast"),
        "spurious_retransmission": Finding("spurious", "certain"),
    }
    return {frame: meanings[flag] for frame, flag in flags(capture).items() if flag in meanings}


TOOLS: Mapping[str, Tool] = {"eifel": eifel, "tshark": tshark}
"""The tools that read captures."""


def watch(capture: Path) -> Mapping[int, Finding] | None:
    """Returns what `eifel watch` said while the sender's capture was recorded; `eifel truth record --watch` keeps it.

    Its lines have no frames. They belong to the frame of the truth that has their sequence numbers at their time; lines
    that belong to none have negative numbers.
    """
    name, _, place = stem_of(capture).rpartition(".")
    if place != "sender":
        return None
    path = capture.with_name(f"{name}{WATCH}")
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        lines = [line for line in lines if line["bytes"] and line["cause"] != "syn"]
    except FileNotFoundError:
        raise BadInputError(f"{path}: missing; expected recordings made with --watch") from None
    except (ValueError, KeyError, TypeError):
        raise BadInputError(f"{path}: damaged; expected the lines of eifel watch --json") from None
    found, left = {}, dict(enumerate(lines))
    for frame, row in _rows(capture.with_name(f"{name}.{place}{TRUTH}")).items():
        own = _nearest(lines, int(row["seq"]), int(row["len"]), float(row["time"]))
        if own:
            found[frame] = _said([lines[number] for number in own])
            for number in own:
                left.pop(number, None)
    return found | {-1 - number: _said([line]) for number, line in left.items()}


def _nearest(lines: Sequence[Mapping[str, Any]], seq: int, length: int, time_s: float) -> list[int]:
    """Returns the numbers of the lines of one transmission: its segments, each of which has a line."""
    sharing = [
        number
        for number, line in enumerate(lines)
        if abs(line["time_s"] - time_s) < NEAR_S
        and ((line["seq"] - seq) % 2**32 < length or (seq - line["seq"]) % 2**32 < line["bytes"])
    ]
    if not sharing:
        return []
    at = min((lines[number]["time_s"] for number in sharing), key=lambda at: abs(at - time_s))
    return [number for number in sharing if lines[number]["time_s"] == at]


def _said(segments: Sequence[Mapping[str, Any]]) -> Finding:
    """Returns what lines say of a transmission: it is needless if all of its segments are."""
    order = ("needed", "undecidable", "spurious")
    one = min(segments, key=lambda line: order.index(line["verdict"]))
    # The truth does not tell what RACK's timer declared lost from other fast retransmissions.
    return Finding(one["verdict"], one["confidence"], "fast" if one["cause"] == "rack-timer" else one["cause"])


def findings(folder: Path) -> Tool:
    """Returns a tool whose findings stand in `NAME.PLACE.csv` in a folder."""

    def read(capture: Path) -> Mapping[int, Finding]:
        path = folder / f"{stem_of(capture)}.csv"
        return {
            frame: Finding(*(row.get(column) or "" for column in COLUMNS[1:])) for frame, row in _rows(path).items()
        }

    return read


def score(folder: Path, tool: Tool, said: Callable[[int, int], None]) -> list[dict[str, Any]]:
    """Returns rows for each place of the tool. Calls `said` with the progress.

    They are about all retransmissions, a class of paths, a cause of the kernel, or a right verdict. Raises
    BadInputError if the folder holds no recordings, or a file of it is damaged.
    """
    captures = list(recordings(folder))
    if not captures:
        raise BadInputError(f"{folder}: no recordings; expected NAME.PLACE{TRUTH} beside NAME.PLACE.pcapng")
    scores: dict[tuple[str, str, str], Score] = {}
    for done, (place, kind, capture, truth) in enumerate(captures):
        said(done, len(captures))
        found = tool(capture)
        if found is None:
            continue
        scores.setdefault((place, "all", ""), Score()).__iadd__(judge(truth, found))
        scores.setdefault((place, "class", kind), Score()).__iadd__(judge(truth, found))
        parts = [("cause", cause, "cause", cause) for cause in CAUSES]
        parts += [("verdict", name, "spurious", value) for value, name in VERDICTS.items()]
        for by, name, column, value in parts:
            only = {frame: row for frame, row in truth.items() if row.get(column) == value}
            if only:
                own = {frame: found[frame] for frame in only if frame in found}
                scores.setdefault((place, by, name), Score()).__iadd__(judge(only, own))
    said(len(captures), len(captures))
    return [
        {"place": place, "by": by, "name": name} | {field.name: getattr(one, field.name) for field in fields(one)}
        for (place, by, name), one in sorted(scores.items())
    ]


def judge(truth: Truth, found: Mapping[int, Finding]) -> Score:
    """Compares the findings about a capture with the truth."""
    invented = [one for frame, one in found.items() if frame not in truth]
    shown = {frame: row for frame, row in truth.items() if row.get("traced") != "0" and row["spurious"]}
    counted = Score(
        true=len(shown),
        hidden=len(truth) - len(shown),
        missed=sum(frame not in found for frame in shown),
        invented=len(invented),
        invented_certain=sum(one.confidence == "certain" for one in invented),
    )
    for frame, row in shown.items():
        one = found.get(frame, Finding())
        if one.verdict not in UNDECIDED:
            right = one.verdict == VERDICTS.get(row["spurious"])
            counted.decided += 1
            counted.right += right
            counted.wrong_certain += not right and one.confidence == "certain"
        if row.get("cause") and one.cause not in UNDECIDED:
            counted.cause_decided += 1
            counted.cause_right += one.cause == row["cause"]
    return counted


def recordings(folder: Path) -> Iterator[tuple[str, str, Path, Truth]]:
    """Yields place, class, capture and truth of each capture in the folder."""
    classes = _classes(folder)
    for path in sorted(folder.glob(f"*{TRUTH}")):
        stem = path.name.removesuffix(TRUTH)
        name, _, place = stem.rpartition(".")
        capture = next((folder / f"{stem}{end}" for end in CAPTURES if (folder / f"{stem}{end}").is_file()), None)
        if capture is None:
            raise BadInputError(f"{path}: no capture beside it; expected {stem}.pcapng")
        yield place, classes.get(name, ""), capture, _rows(path)


def _classes(folder: Path) -> Mapping[str, str]:
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return {one["name"]: one["class"] for one in manifest["recordings"]}
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError):
        raise BadInputError(f"{folder / MANIFEST}: damaged; expected recordings with a name and a class") from None


def _rows(path: Path) -> dict[int, dict[str, str]]:
    """Reads the rows of a CSV file by their frame."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return {int(row["frame"]): row for row in csv.DictReader(file)}
    except FileNotFoundError:
        raise BadInputError(f"{path}: missing; expected a CSV file with a column frame") from None
    except (KeyError, ValueError):
        raise BadInputError(f"{path}: expected a CSV file with frame numbers in its column frame") from None


def stem_of(capture: Path) -> str:
    """Returns the name of a capture without its ending."""
    ends = sorted(CAPTURES, key=len, reverse=True)
    return next((capture.name.removesuffix(end) for end in ends if capture.name.endswith(end)), capture.stem)


def percent(part: int, whole: int) -> str:
    """Returns a share in per cent, or a dash if there is nothing to share."""
    return f"{100 * part / whole:.2f}" if whole else "-"


def table(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Returns the cells of each row as people read them."""
    return [
        [
            row["place"],
            row["name"] or "all",
            *(str(row[name]) for name in ("true", "hidden", "missed", "invented", "invented_certain")),
            percent(row["right"], row["decided"]),
            str(row["wrong_certain"]),
            percent(row["true"] - row["missed"] - row["decided"], row["true"]),
            percent(row["cause_right"], row["cause_decided"]),
        ]
        for row in rows
    ]


HEADS = [
    *("place", "class, cause or verdict", "true", "hidden", "missed", "invented", "of these certain"),
    *("verdict right %", "wrong, certain", "undecidable %", "cause right %"),
]
