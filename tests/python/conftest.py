"""Fixtures: the engine's stand-in, a scenario, and artefacts of the papers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import eifel
import fake_engine
from eifel import store

# A property holds or not, however busy the machine is.
settings.register_profile("eifel", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("eifel")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch):
    """Puts the stand-in in the engine's place for one test."""
    monkeypatch.setitem(sys.modules, "eifel._engine", fake_engine)
    monkeypatch.setattr(eifel, "_engine", fake_engine, raising=False)
    _forget()
    yield fake_engine
    _forget()


def _forget() -> None:
    """What the package keeps of the engine that it saw first."""
    store.engine_build.cache_clear()
    vars(eifel).pop("ScenarioError", None)


SCENARIO = """\
seed = 3
repetitions = 4
duration_s = 100

[[flow]]
name = "main"
from = "sender"
to = "receiver"
[flow.sender]
detect = "eifel-timestamps"
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A scenario file."""
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO)
    return file
