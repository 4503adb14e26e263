"""Detectors on Linux's wire."""

import numpy as np
import pytest

from eifel import run
from eifel.papers.artefact import Measured
from eifel.reproduction import reproduce
from eifel.studies import detector_runs, wire
from eifel.studies.judged import NEEDLESS, SPURIOUS
from eifel.studies.situations import SITUATIONS


def test_the_wire_has_the_mix_s_troubles_with_linux_at_both_ends() -> None:
    assert [one.name for one in wire.WIRE] == [one.name for one in SITUATIONS]
    spike, own = wire.WIRE[0].scenario(1, 3, {"detect": "linux"}), SITUATIONS[0].scenario(1, 3, {})
    flow = spike["flow"][0]
    assert flow["profile"] == "linux" and flow["sender"]["detect"] == "linux" and "profile" not in own["flow"][0]
    # Segments of a burst leave together.
    sent = run({**spike, "duration_s": 3}, record=("transmissions",)).tables["transmissions"]
    assert len(set(sent["t_ns"].to_pylist())) * 2 < sent.num_rows


def test_side_by_side_detectors_saw_the_same_episodes() -> None:
    columns = wire.point_columns(wire.WIRE[0], 1, 0)
    of = {name: columns["detector"] == wire.CODES.index(name) for name in wire.CODES}
    for runs in wire.RUNS:
        truths = [columns["truth"][of[name]].tolist() for name in runs.detectors]
        assert truths and all(one == truths[0] for one in truths)
    assert set(detector_runs.DETECTORS) >= {wire.ORIGINAL, wire.PLAIN, wire.F_RTO, wire.SECOND_ACK, wire.DSACK}
    needless = of[wire.LINUX] & (columns["truth"] == NEEDLESS)
    assert needless.sum() > 0 and (columns["verdict"][needless] == SPURIOUS).all()


def test_the_deployable_row_is_the_union_of_its_three(monkeypatch: pytest.MonkeyPatch) -> None:
    spikes = tuple(wire.replace(one, points=2) for one in wire.WIRE[:1])

    monkeypatch.setattr(wire, "WIRE", spikes)
    rows = tuple(row for row in wire.ARTEFACT.rows if row.keys["situation"] == wire.ALL)
    measured: Measured = reproduce(wire.replace(wire.ARTEFACT, rows=rows))
    found = {name: measured.mean("found_timeouts", situation=wire.ALL, detector=name) for name in wire.DETECTORS}
    assert found[wire.DEPLOYABLE] >= max(found[wire.PLAIN], found[wire.F_RTO])
    assert found[wire.ORIGINAL] < found[wire.PLAIN] and np.isfinite(found[wire.LINUX])
