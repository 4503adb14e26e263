"""Compares tshark's verdicts on retransmissions with ours, and explains differences."""

import shutil
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eifel.errors import BadInputError

FLAGS = ("spurious_retransmission", "fast_retransmission", "out_of_order", "zero_window_probe", "keep_alive")
"""In order of precedence. Each flag implies that the frame repeats data, or seems to."""
PLAIN = "retransmission"
FIELDS: Mapping[str, str] = {
    **{f"tcp.analysis.{flag}": flag for flag in FLAGS},
    "sctp.retransmitted_after_ack": "spurious_retransmission",
    f"tcp.analysis.{PLAIN}": PLAIN,
    "sctp.retransmission": PLAIN,
}
"""tshark's fields in order of precedence, and our word for each."""
NONE = "-"
MOST_FRAMES = 3

WHY: Mapping[tuple[str, str], str] = {
    ("spurious", NONE): "tshark takes it for new data",
    ("spurious", "spurious_retransmission"): "both say spurious",
    (
        "spurious",
        "out_of_order",
    ): "tshark goes by the time since the last segment: what is retransmitted early looks reordered",
    ("spurious", ""): "tshark says spurious only if the capture had shown the ACK before; here it came later",
    (
        "needed",
        "spurious_retransmission",
    ): "the ACK that tshark saw did not cover all of it, or was not heard by the sender",
    (
        "needed",
        "out_of_order",
    ): "tshark goes by the time since the last segment: what is retransmitted early looks reordered",
    ("needed", ""): "both say a retransmission",
    ("needed", NONE): "tshark takes it for new data",
    ("undecidable", ""): "nothing in the capture decides",
    (NONE, "out_of_order"): "a first sending that came late: reordered, and sent once",
    (NONE, "keep_alive"): "nothing is retransmitted but one byte while the connection is idle",
    (NONE, ""): "a first sending, or a frame that the capture shows twice",
}


def flags(file: Path | str, *, timeout_s: float = 600) -> dict[int, str]:
    """Returns tshark's word for each frame that it calls a retransmission or similar, by frame number.

    Raises BadInputError if tshark is missing or refuses the file.
    """
    command = shutil.which("tshark")
    if command is None:
        raise BadInputError("--compare-tshark: tshark is not installed; expected that of Wireshark 3 or newer")
    asked = [word for field in FIELDS for word in ("-e", field)]
    line = [command, "-n", "-r", str(file), "-Y", " or ".join(FIELDS), "-T", "fields", "-e", "frame.number", *asked]
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        raise BadInputError(f"{file}: tshark took longer than {timeout_s:.0f} s") from None
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise BadInputError(f"{file}: tshark: {reason}")
    found = {}
    for row in done.stdout.splitlines():
        frame, *cells = row.split("\t")
        found[int(frame)] = next((word for word, cell in zip(FIELDS.values(), cells, strict=False) if cell), PLAIN)
    return found


def compare(report: Mapping[str, Any], theirs: Mapping[int, str]) -> list[dict[str, Any]]:
    """Counts each pair of our verdict and tshark's word, with the first frames and the reason."""
    ours = {row["frame"]: row for row in report["retransmissions"]}
    pairs: Counter[tuple[str, str, str]] = Counter()
    frames: dict[tuple[str, str, str], list[int]] = {}
    for frame in sorted(ours.keys() | theirs.keys()):
        row = ours.get(frame)
        pair = (row["cause"] if row else NONE, row["verdict"] if row else NONE, theirs.get(frame, NONE))
        pairs[pair] += 1
        frames.setdefault(pair, []).append(frame)
    return [
        {
            "cause": cause,
            "verdict": verdict,
            "tshark": word,
            "count": count,
            "frames": frames[cause, verdict, word][:MOST_FRAMES],
            "why": _why(verdict, word),
        }
        for (cause, verdict, word), count in pairs.most_common()
    ]


def _why(verdict: str, word: str) -> str:
    exact = WHY.get((verdict, word))
    return exact or WHY.get((verdict, "")) or WHY["undecidable", ""]
