"""Every artefact that is measured on the wire: in real time, which CI shows in target/live.

`test_wire_decisions` has the longest of them, so that two workers share the time.
"""

from pathlib import Path

import pytest

from eifel import live, store
from eifel.cli import main
from eifel.papers import artefacts
from eifel.papers.live import wire

LONGEST = "live.decisions"
TOO_LONG = "live.undo"
"""It takes longer than all others together. Its parts have tests: `test_live_undo`, and those of `eifel live undo`."""
OTHERS = sorted(name for name in artefacts() if name.startswith("live.") and name not in (LONGEST, TOO_LONG))

pytestmark = [
    pytest.mark.idle,
    pytest.mark.skipif(bool(live.missing()), reason=live.missing() or "none"),
]


@pytest.mark.parametrize("name", OTHERS)
def test_an_artefact_is_measured_on_the_wire(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    measure(name, monkeypatch)


def measure(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measures an artefact. Its claims depend on the machine's load, and are not judged here.

    So late runs are not repeated (`test_golden_wire` tests that).
    """
    monkeypatch.setattr(wire, "TRIES", 1)
    out = Path(__file__).parents[2] / "target" / "live"
    assert main(["reproduce", name, "--fresh", "--out", str(out)]) == 0
    measured = store.read(out, artefacts()[name])
    assert measured is not None
    assert len(measured.rows) == len(artefacts()[name].rows)
    assert measured.claims()
