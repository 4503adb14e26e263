"""Fixtures: the fake engine, a scenario, and artefacts of the papers."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import eifel
import fake_engine
from eifel import store

# A property must not fail because the machine is busy.
settings.register_profile("eifel", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("eifel")


BEGIN_FIRST = (
    "test_wire_decisions",
    "test_wire",
    "test_drag",
    "test_golden",
    "test_golden_tables",
    "test_web",
    "test_claims",
    "test_bad_input",
    "test_wheel",
    "test_wireshark",
)
"""Files whose tests take longest: at the end, the other workers would wait for them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts tests that are marked `alone` at the end: no other waits for them, nor they for a long one."""
    order = {name: place for place, name in enumerate(BEGIN_FIRST)}
    alone = {item.path for item in items if item.get_closest_marker("alone")}
    items.sort(key=lambda item: (item.path in alone, order.get(item.path.stem, len(order))))


@pytest.fixture(autouse=True)
def _beside_others(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Lets a test that is marked `alone` wait for those of other workers, and keeps them waiting while it runs."""
    marks = {mark.name for mark in request.node.iter_markers()}
    if "PYTEST_XDIST_WORKER" not in os.environ or "idle" in marks:
        yield
        return
    alone = "alone" in marks
    folder = tmp_path_factory.getbasetemp().parent
    with (folder / "running.lock").open("w") as running, (folder / "next.lock").open("w") as next_one:
        # Who waits for the machine holds this one, so that nobody overtakes.
        fcntl.flock(next_one, fcntl.LOCK_EX)
        fcntl.flock(running, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(next_one, fcntl.LOCK_UN)
        yield


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch):
    """Replaces the engine by the fake for one test."""
    monkeypatch.setitem(sys.modules, "eifel._engine", fake_engine)
    monkeypatch.setattr(eifel, "_engine", fake_engine, raising=False)
    _forget()
    yield fake_engine
    _forget()


def _forget() -> None:
    """Drops what the package has cached of the engine."""
    store.engine_build.cache_clear()
    vars(eifel).pop("ScenarioError", None)


SCENARIO = """\
seed = 3
repetitions = 4
duration_s = 100
point_to_point = { rate_bps = 1_100_000, delay_ms = 50 }

[[spike]]
links = ["bottleneck"]
holds = "sending"
first_s = { uniform = [1, 3] }
length_s = { uniform = [1, 2] }
interval_s = 10
interval = "end-to-start"

[[flow]]
name = "main"
from = "sender"
to = "receiver"
application = { kind = "bulk", bytes = 5_000_000 }
[flow.sender]
detect = "eifel-timestamps"
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """Writes a scenario file."""
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO)
    return file
