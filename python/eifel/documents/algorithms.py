"""Writes algorithms.md: every algorithm of the registry, with the four lines that open its file."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eifel.documents import REFERENCE, ROOT, table
from eifel.registry import algorithms

PAGE = REFERENCE / "algorithms.md"
SOURCES = ROOT / "crates" / "recovery" / "src"
SEAMS = {
    "detect": ("Detectors", "Was that retransmission spurious?"),
    "respond": ("Responses", "What is undone after a spurious retransmission?"),
    "grant": ("Grants", "May it be undone, whatever the detector says?"),
    "rto": ("Timers", "How long to wait before giving a segment up?"),
    "after-spurious": ("Adaptations of the timer", "What does the timer learn from a spurious timeout?"),
    "recover": ("Loss recovery", "Which segments are lost, and what goes out next?"),
    "congest": ("Congestion control", "How large is the window?"),
    "pace": ("Pacing", "How fast may what the window allows leave?"),
    "retransmit": ("Paths of retransmissions", "On which path of an association does a chunk leave again?"),
    "credit": ("Credit", "Which acknowledged chunks let the window of an association's path grow?"),
}

NOT_HERE = (
    (
        "Average DupThresh",
        "Blanton and Allman 2002",
        "DupThresh as a smoothed average of the reordering's lengths, or a timer before the fast retransmit; "
        "`rfc6675` has their other ways",
    ),
    (
        "Ensemble sharing",
        "RFC 9040",
        "connections that are open at the same time share what they learn; `temporal_sharing` is for consecutive ones",
    ),
    (
        "CMT",
        "Ladha, Baucke, Ludwig and Amer 2004",
        "SCTP that sends new data on several paths at once, with rules of its own for windows and losses, which the "
        "paper does not describe; `concurrent_paths` only sends so",
    ),
    ("TCP Echo option", "draft-zimmermann-tcpm-spurious-rxmit-00", "an option that tells every retransmission apart"),
    ("TCP-DOOR", "Wang and Zhang 2002", "detects reordering at both ends, and suspends the reaction to losses"),
    ("RR-TCP", "Zhang, Karp, Floyd and Peterson 2003", "adapts the threshold of duplicate ACKs by DSACK"),
    ("TCP-PR", "Bohacek and others 2003", "finds losses by timers alone, and ignores duplicate ACKs"),
    ("STODER", "draft-kun-stoder-00", "cuts the segments of a retransmission anew, to see which copy was acknowledged"),
    ("Peak-Hopper", "Ekström and Ludwig 2004", "a timer of two estimates, for long and for short histories"),
)
"""Published ways that the registry does not have: name, source, and what each does."""


def _source(algorithm: Mapping[str, Any]) -> Path:
    folder = "rto/after_spurious" if algorithm["seam"] == "after-spurious" else algorithm["seam"]
    return SOURCES / folder / f"{algorithm['name'].replace('-', '_')}.rs"


def _opening(file: Path) -> str:
    """Returns the paragraph that opens the file: looks at, decides, blind to, from."""
    lines = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.startswith("//! "):
            break
        lines.append(line.removeprefix("//! "))
    return re.sub(r"\n(?=\*)", "  \n", "\n".join(lines))


def _parameter(one: Mapping[str, Any]) -> str:
    if one["kind"] == "word":
        allowed = ", ".join(f"`{word}`" for word in one["allowed"])
    elif one["kind"] == "switch":
        allowed = "`true`, `false`"
    else:
        allowed = f"{one['minimum']:g} to {one['maximum']:g}"
    default = str(one["default"]).lower() if one["kind"] == "switch" else one["default"]
    return f"| `{one['name']}` | {allowed} | `{default}` | {one['summary']} |"


def page() -> str:
    parts = [
        "# The algorithms",
        "Each stands in one file and opens with what it looks at, what it decides, what it is blind to, and where it\n"
        "comes from. In a scenario each is a name, or a table of `name` and parameters\n"
        "(see [scenario.md](scenario.md)). Written by `make docs` from the registry.",
    ]
    for seam, (title, question) in SEAMS.items():
        parts += [f"## {title}", f"`{seam}`: {question}"]
        for algorithm in algorithms(seam):
            parts += [
                f"### {algorithm['name']}",
                f"{algorithm['summary']} ({algorithm['source']})"
                + (f"; needs {algorithm['needs']} on the connection" if algorithm["needs"] else "")
                + ("; for SCTP only" if algorithm["association"] else ""),
                _opening(_source(algorithm)),
            ]
            if algorithm["parameters"]:
                head = "| parameter | allowed | default | meaning |\n|---|---|---|---|"
                parts.append("\n".join([head, *map(_parameter, algorithm["parameters"])]))
    parts += [
        "## Not here",
        "The registry does not have every published way. These, for example, are missing:",
        table(("name", "source", "what it does"), NOT_HERE),
    ]
    return "\n\n".join(parts) + "\n"
