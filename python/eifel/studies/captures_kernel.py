"""How right this analysis and tshark are about a real kernel's retransmissions, in recordings drawn anew."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eifel import truth
from eifel.errors import BadInputError
from eifel.papers.artefact import Artefact, Claim, Column, Row, Setting, Studied
from eifel.papers.study import Effort, Progress, Study
from eifel.runs import Runs
from eifel.statistics import Mean, mean_interval, percent_interval

RECORDINGS = 200
AT_A_TIME = 20
PLACES = ("sender", "between", "receiver")
COUNTS = tuple(field.name for field in fields(truth.Score))


def record(folder: Path, first: int, count: int, seed: int) -> None:
    """Records draws of this machine's kernel. Raises BadInputError, in a line, where that is not possible."""
    words = ["truth", "record", "--first", str(first), "--count", str(count), "--seed", str(seed), str(folder)]
    done = subprocess.run([sys.executable, "-m", "eifel", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"eifel truth record: exit code {done.returncode}"]
        raise BadInputError(lines[-1].removeprefix("eifel live: "))


def _find(effort: Effort) -> Mapping[str, Any]:
    """Records and scores, some recordings at a time. Only the counts are kept."""

    def some(number: int, progress: Progress) -> Mapping[str, Sequence[Any]]:
        with tempfile.TemporaryDirectory(prefix="eifel-") as place:
            folder = Path(place)
            record(folder, number * AT_A_TIME, AT_A_TIME, effort.seed)
            manifest = json.loads((folder / truth.MANIFEST).read_text(encoding="utf-8"))
            rows = [
                {**row, "tool": tool, "kernel": manifest["kernel"]}
                for tool, said in truth.TOOLS.items()
                for row in truth.score(folder, said, lambda _done, _all: None)
                if row["by"] == "all"
            ]
        progress(AT_A_TIME)
        return {name: [row[name] for row in rows] for name in ("tool", "place", "kernel", *COUNTS)}

    sizes = [AT_A_TIME] * (RECORDINGS // AT_A_TIME)
    return effort.parts("recordings", {"recordings": RECORDINGS}, sizes, some)


def _measure(_: Artefact, runs: Runs) -> list[dict[str, Mean]]:
    tools, places = np.asarray(runs["tool"]), np.asarray(runs["place"])
    return [_row(runs, (tools == tool) & (places == place)) for tool in truth.TOOLS for place in PLACES]


def _row(runs: Runs, mine: NDArray[np.bool_]) -> dict[str, Mean]:
    of = {name: int(np.asarray(runs[name])[mine].sum()) for name in COUNTS}
    found = {name: mean_interval([float(of[name])]) for name in ("true", "hidden", "invented_certain", "wrong_certain")}
    shares = {
        "missed": (of["missed"], of["true"]),
        "invented": (of["invented"], of["true"]),
        "right": (of["right"], of["decided"]),
        "undecided": (of["true"] - of["missed"] - of["decided"], of["true"]),
        "cause": (of["cause_right"], of["cause_decided"]),
    }
    return found | {name: percent_interval(part, whole) for name, (part, whole) in shares.items() if whole}


ARTEFACT = Artefact(
    id="captures.kernel",
    title="Retransmissions of a real kernel that tools for captures judge right",
    source="this project; docs/reference/captures.md",
    columns=(
        Column("true", "Retransmissions", digits=0),
        Column("hidden", "Hidden from the place", digits=0),
        Column("missed", "Missed, %", digits=2),
        Column("invented", "Invented, % of them", digits=2),
        Column("invented_certain", "Invented with certainty", digits=0),
        Column("right", "Verdict right of the decided, %", digits=2),
        Column("wrong_certain", "Wrong with certainty", digits=0),
        Column("undecided", "Verdict undecided, %", digits=1),
        Column("cause", "Cause right of the decided, %", digits=2),
    ),
    rows=tuple(Row({"tool": tool, "place": place}) for tool in truth.TOOLS for place in PLACES),
    method=Studied(
        Study(_find, {"recordings": RECORDINGS}, (_find, record, truth)), measure=_measure, long=True, live=True
    ),
    fitted=(
        Setting("recordings", "crates/live/src/truth/draw.rs", "paths, kernel settings and traffic from the seed"),
        Setting("tshark", "says nothing of a retransmission that is not spurious", "so it counts as undecided"),
    ),
    claims=(
        Claim(
            "at no place does eifel call a needed retransmission spurious with certainty, or the reverse",
            lambda m: all(m.mean("wrong_certain", tool="eifel", place=place) == 0 for place in PLACES),
        ),
        Claim(
            "at no place does eifel invent a retransmission with certainty",
            lambda m: all(m.mean("invented_certain", tool="eifel", place=place) == 0 for place in PLACES),
        ),
    ),
)
