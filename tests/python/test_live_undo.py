"""The artefact that compares undos of this kernel, without a kernel."""

from pathlib import Path

import numpy as np
import pytest

from eifel.papers.live import undo
from eifel.papers.live.undo import Cell
from eifel.papers.study import Effort


def row(way: str, t_in: float, t_out: float | None, **numbers: int) -> dict[str, str]:
    out = "" if t_out is None else str(t_out)
    due = str(t_in + 0.1 if t_out is None else t_out - 0.001)
    words = {name: str(value) for name, value in {"seq": 0, "ack": 0, "len": 0, **numbers}.items()}
    return {"dir": way, "t_in": str(t_in), "t_out": out, "t_due": due, **words}


START = 2**32 - 100
"""The sequence numbers wrap within the transfer."""


def sent(at: float, position: int, lost: bool = False) -> dict[str, str]:
    return row("A", at, None if lost else at + 0.1, seq=(START + position) % 2**32, len=100)


def acked(at: float, position: int) -> dict[str, str]:
    return row("B", at - 0.1, at, ack=(START + position) % 2**32)


PATH = [
    row("A", 0.0, 0.1, seq=(START - 1) % 2**32),
    sent(1.0, 0),
    sent(1.05, 100),
    # The undo at 1.5: everything below 200 is sent, and acknowledged at 2.0.
    sent(1.6, 200, lost=True),
    acked(1.2, 0),
    acked(1.9, 100),
    acked(2.0, 200),
    sent(1.8, 300),
    # The second round trip ends with the ACK of 400 at 3.0.
    sent(2.5, 400, lost=True),
    acked(3.0, 400),
    sent(3.1, 500, lost=True),
    row("A", 3.2, None, seq=0),
]


def test_losses_are_counted_until_two_round_trips_after_an_undo() -> None:
    counts = undo.counted(PATH, [1.5])
    assert (counts["undos"], counts["lost"], counts["after"]) == (1, 3, 2)
    assert counts["late_us"] == pytest.approx(1000)
    # The packets are counted once, in whatever order the box wrote them.
    assert undo.counted(PATH[::-1], [1.5, 1.55])["after"] == 2
    assert undo.counted(PATH, [])["after"] == 0
    # Nothing that is sent after 2.8 is acknowledged: the round trip lasts to the end.
    assert undo.counted(PATH, [2.8])["after"] == 1


def test_a_path_is_the_same_under_each_rule_and_another_in_each_run() -> None:
    one, other = undo.scenario("mixed", 32, 7), undo.scenario("mixed", 32, 8)
    assert one == undo.scenario("mixed", 32, 7) and one["spike"] != other["spike"]
    assert "spike" not in undo.scenario("reordering", 4, 1)
    spike = undo.scenario("spike", 4, 1)["point_to_point"]
    assert "reorder" not in spike and "loss" not in spike and spike["queue"]["packets"] == 4


def test_times_are_compared_with_linux_run_by_run() -> None:
    linux, other = Cell("spike", 4, "full"), Cell("spike", 4, "none")
    columns = {
        "path": ["spike"] * 6,
        "rule": ["full", "none"] * 3,
        "queue": [4] * 6,
        "run": [0, 2, 1, 1, 2, 0],
        "seconds": [1.0, 3.5, 2.0, 2.5, 3.0, 1.5],
        "undos": [1.0] * 6,
        "after": [0.0] * 6,
        "lost": [2.0] * 6,
        "late_us": [9.0] * 6,
    }
    there = {name: np.array(values) for name, values in columns.items()}
    found = undo.row_of(there, other)
    # Each run takes half a second more, so the interval has no width though the times differ by seconds.
    assert (found["against"].mean, found["against"].half_width) == (0.5, 0)
    assert found["seconds"].mean == pytest.approx(2.5) and "against" not in undo.row_of(there, linux)


def test_each_run_is_made_under_each_rule_and_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[tuple[Cell, int, int]] = []

    def measured(cell: Cell, run: int, seed: int) -> dict[str, object]:
        asked.append((cell, run, seed))
        numbers = dict.fromkeys(undo.NUMBERS, 1.0)
        return {"path": cell.path, "rule": cell.rule, **numbers, "queue": cell.queue, "run": run}

    monkeypatch.setattr(undo, "measured", measured)
    effort = Effort(seed=3, repetitions=1, threads=1, folder=tmp_path)
    found = undo.find(effort)
    assert len(asked) == len(found["run"]) == undo.RUNS * len(undo.CELLS)
    assert set(asked) == {(cell, run, 3) for cell in undo.CELLS for run in range(undo.RUNS)}
    undo.find(effort)
    assert len(asked) == undo.RUNS * len(undo.CELLS)


def test_a_refusal_is_an_error_with_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    class Done:
        returncode = 1
        stderr = "more\neifel live: load the BPF programs: no\n"

    monkeypatch.setattr("subprocess.run", lambda *_, **__: Done())
    with pytest.raises(OSError, match="load the BPF programs: no"):
        undo.measured(undo.CELLS[0], 0, 1)
