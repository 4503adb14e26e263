"""The files of a public forge: they are as thin as a call of make, and the action's line judges a capture."""

import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
HELD = ROOT / "crates/capture/tests/faults/ack_at_once_nots.pcap"


def document(name: str) -> dict[str, Any]:
    # It has no types.
    yaml = importlib.import_module("yaml")
    found: dict[str, Any] = yaml.safe_load((ROOT / name).read_text())
    return found


@pytest.mark.parametrize("name", ["test", "release"])
def test_a_workflow_calls_what_the_repository_has(name: str) -> None:
    steps = [step for job in document(f".github/workflows/{name}.yml")["jobs"].values() for step in job["steps"]]
    lines = [step["run"] for step in steps if "run" in step]
    assert lines
    for line in lines:
        own = [word for word in line.split() if word.startswith(".ci/") or word.endswith(".md")]
        assert all((ROOT / word).is_file() for word in own), line
        assert own or line == "make release", line


@pytest.mark.parametrize(
    ("captures", "fail_if", "code"),
    [("*_nots.pcap", "", 0), ("*_nots.pcap", "spurious>5", 1), ("*_nots.pcap", "needed>5", 0), ("no.pcap", "", 2)],
)
def test_the_action_judges_captures(tmp_path: Path, captures: str, fail_if: str, code: int) -> None:
    (tmp_path / "one_nots.pcap").write_bytes(HELD.read_bytes())
    step = document("action.yml")["runs"]["steps"][-1]
    assert set(step["env"]) == {"CAPTURES", "FAIL_IF"}
    environment = os.environ | {"CAPTURES": captures, "FAIL_IF": fail_if}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    done = subprocess.run(["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=environment, check=False)
    assert done.returncode == code
