"""The artefact that compares the kernel's undos with the model's, without a kernel."""

from pathlib import Path

import numpy as np
import pytest

from eifel.papers.live import decisions
from eifel.papers.study import Effort
from eifel.reproduction import reproduce

HEAD = "recording,class,congestion,begins_s,signal,kernel,model,when,kernel_cwnd,model_cwnd\n"
ROWS = (
    "0000-spike,spike,cubic,0,timeout,TCPLossUndo,TCPLossUndo,same,10,12\n"
    "0000-spike,spike,cubic,1,timeout,TCPLossUndo,TCPSpuriousRTOs,same,10,13\n"
    "0000-spike,spike,cubic,2,fast retransmit,TCPFullUndo,none,other,,\n"
    "0000-spike,spike,cubic,3,fast retransmit,none,TCPDSACKUndo,other,,\n"
    "0000-spike,spike,bbr,4,fast retransmit,TCPFullUndo,TCPFullUndo,other,,\n"
)
LOSS = "0001-loss,loss,reno,0,fast retransmit,none,none,same,,\n"


class Done:
    returncode = 0
    stderr = ""


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Replaces the recordings by two tables and a refusal in each part."""
    asked: list[list[str]] = []

    def run(command: list[str], **_: object) -> Done:
        asked.append(command)
        folder = Path(command[-1])
        folder.mkdir(parents=True)
        (folder / "0000-spike.csv").write_text(HEAD + ROWS)
        (folder / "0001-loss.csv").write_text(HEAD + LOSS)
        (folder / "0002-mixed.refused").write_text("two sockets had this port\n")
        return Done()

    monkeypatch.setattr(decisions.subprocess, "run", run)
    return asked


def test_each_kind_of_disagreement_is_counted(recorded: list[list[str]], tmp_path: Path) -> None:
    found = decisions.rows(tmp_path / "part", 40, 7)
    call = [
        "decisions",
        "--first",
        "40",
        "--count",
        str(decisions.PART),
        "--seed",
        "7",
        "--at-once",
        "3",
        str(tmp_path / "part"),
    ]
    assert recorded[0][-len(call) :] == call and len(found["class"]) == 7
    counted = found["when"] != "refused"
    of = {name: mean.mean for name, mean in decisions.counts(found, counted).items()}
    assert of == {
        "episodes": 6,
        "undone": 4,
        "alike": pytest.approx(100 * 2 / 6),
        "kernel_alone": 1,
        "model_alone": 1,
        "other_evidence": 1,
        "other_time": 1,
        "windows": 2,
        "near": 50,
    }
    of = {name: mean.mean for name, mean in decisions.counts(found, counted & (found["class"] == "loss")).items()}
    assert (of["episodes"], of["alike"], "near" in of) == (1, 100, False)


def test_parts_are_recorded_anew_and_kept(recorded: list[list[str]], tmp_path: Path) -> None:
    effort = Effort(seed=1, repetitions=1, threads=1, folder=tmp_path)
    found = decisions.find(effort)
    parts = decisions.DRAWS // decisions.PART
    assert len(recorded) == parts and len(found["when"]) == 7 * parts
    firsts = [int(command[command.index("--first") + 1]) for command in recorded]
    assert firsts == list(range(0, decisions.DRAWS, decisions.PART))
    again = decisions.find(effort)
    assert len(recorded) == parts and np.array_equal(again["kernel"], found["kernel"])


@pytest.mark.usefixtures("recorded")
def test_claims_fail_where_the_model_decides_otherwise() -> None:
    claims = [claim["holds"] for claim in reproduce(decisions.ARTEFACT).claims()]
    assert claims == [False, False, False]
