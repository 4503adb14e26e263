"""Responses, grants and timers that are classes of Python: the same as the registry's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import eifel
from eifel import _engine
from eifel.runs import run
from eifel.scenario import Source, load, override
from own_senders import SAME, Failing, NoWindow, OnceARoundTrip, Rfc4015, Rfc6298, Unfinished

SPIKE = Path(__file__).parents[2] / "examples" / "spike.toml"
DRAWN = int(os.environ.get("EIFEL_DRAWN", "24"))
"""The drawn runs in which each class is compared with the registry's algorithm."""
TABLES = ("transmissions", "arrivals", "acks", "drops", "window", "timer", "episodes", "verdicts", "spikes")
SPIKES: dict[str, Any] = {
    "duration_s": 60,
    "point_to_point": {"rate_bps": 2_000_000, "delay_ms": 40, "loss": {"kind": "random", "rate": 0.005}},
    "spike": [
        {
            "links": ["bottleneck"],
            "holds": "arriving",
            "first_s": 3,
            "length_s": {"exponential": 1.5},
            "interval_s": {"exponential": 5},
            "interval": "end-to-start",
        }
    ],
    "flow": [
        {
            "name": "main",
            "from": "sender",
            "to": "receiver",
            "application": {"kind": "bulk", "endless": True},
            "sender": {"detect": "eifel-timestamps", "respond": "rfc4015", "congest": "cubic", "recover": "rack-tlp"},
        }
    ],
}


def _scenarios() -> list[Source]:
    drawn = [load(_engine.captured(seed)[0]) for seed in range(DRAWN)]
    return [*drawn, *(override(load(SPIKES), {"seed": seed}) for seed in range(1, 5))]


@pytest.mark.parametrize("seam", SAME)
def test_classes_act_as_the_same_algorithms_of_the_registry_segment_by_segment(seam: str) -> None:
    acted = dict.fromkeys(SAME[seam], 0)
    for number, scenario in enumerate(_scenarios()):
        for name, of_registry in SAME[seam].items():
            ours, theirs = (
                run(override(scenario, {f"flow.{flow}.sender.{seam}": one for flow in range(len(scenario.flows))}))
                for one in (name, of_registry)
            )
            assert ours.flows == theirs.flows, (number, name)
            for table in TABLES:
                assert ours.tables[table].equals(theirs.tables[table]), (number, name, table)
            acted[name] += sum(flow["undos"] + flow["timeouts"] for flow in ours.flows)
    # Otherwise nothing was compared.
    assert all(count > DRAWN for count in acted.values()), acted


def test_they_are_given_by_object_with_parameters_and_run_in_processes() -> None:
    def ran(**of: Any) -> eifel.Runs:
        settings = {f"flow.main.sender.{seam}": one for seam, one in of.items()}
        return eifel.run_many([SPIKES], repetitions=4, settings=settings)

    ours = ran(respond=Rfc4015, grant=OnceARoundTrip(), rto=Rfc6298(k=4))
    theirs = ran(respond="rfc4015", grant="once-a-round-trip", rto="rfc6298")
    for name in theirs.columns:
        assert (ours[name] == theirs[name]).all(), name
    slower = ran(respond=Rfc4015, grant=OnceARoundTrip(), rto=Rfc6298(k=40))
    assert (slower["timeouts"] < theirs["timeouts"]).any()


def test_limits_are_those_of_the_class() -> None:
    class Patient(Rfc6298):
        """Never less than three seconds."""

        minimum_ms = 3000

    ours, theirs = (
        eifel.run(SPIKES, settings={"flow.main.sender.rto": one})
        for one in (Patient, {"name": "rfc6298", "minimum_ms": 3000})
    )
    assert ours.flows == theirs.flows


@pytest.mark.parametrize(
    ("seam", "own", "expected"),
    [
        ("respond", Failing, "own_senders.py:{line}: AttributeError: 'Episode' object has no attribute 'cwnd'"),
        ("respond", NoWindow, "TypeError: respond returned 7; expected a Window (during responded)"),
        ("grant", Unfinished, "does not define grants(self, opened_ns, now_ns, srtt_ns)"),
        ("grant", Rfc4015, "a class for respond, and not for grant"),
        ("recover", Rfc4015, "a class of Python can detect, respond, grant or be a timer, and not recover"),
    ],
)
def test_an_error_is_one_line_with_its_place(seam: str, own: type[Any], expected: str) -> None:
    with pytest.raises((eifel.RunError, eifel.ScenarioError)) as raised:
        eifel.run(SPIKE, settings={f"flow.main.sender.{seam}": own})
    line = Failing.respond.__code__.co_firstlineno + 1
    assert expected.format(line=line) in str(raised.value)
    assert "\n" not in str(raised.value)
