"""The senders against ns-2, which nobody here wrote."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benches" / "ns2"))

import agree

pytestmark = pytest.mark.skipif(
    shutil.which("ns") is None, reason="SKIPPED: ns-2 (Debian: ns2) is not installed, so nothing was compared with it"
)


@pytest.mark.parametrize("sender", agree.SENDERS)
@pytest.mark.parametrize("case", agree.CASES, ids=lambda case: case.name)
def test_the_same_segments_leave_in_the_same_order(case: agree.Case, sender: str) -> None:
    theirs, ours = agree.on_ns2(sender, case), agree.on_eifel(sender, case, "ns-2")
    apart = agree.distance_s(theirs, ours)
    assert apart is not None
    assert apart < (1.1 if case.spikes else 0.1)
    assert theirs.again() > 0 or not (case.spikes or case.drops or "overflow" in case.name)


def test_the_comparison_notices_a_sender_that_follows_its_source() -> None:
    lost = next(case for case in agree.CASES if case.name == "1 lost")
    theirs = agree.on_ns2("newreno", lost)
    assert agree.distance_s(theirs, agree.on_eifel("newreno", lost, "source")) is None
    assert agree.distance_s(theirs, agree.on_eifel("newreno", replace(lost, drops=(201,)), "ns-2")) is None


@pytest.mark.parametrize(("case", "as_the_rfc"), agree.F_RTO, ids=lambda value: getattr(value, "name", ""))
def test_f_rto_is_ns_2s_where_that_follows_the_rfc(case: agree.Case, as_the_rfc: bool) -> None:
    theirs, ours = agree.on_ns2("newreno", case), agree.on_eifel("newreno", case, "ns-2")
    apart = agree.distance_s(theirs, ours)
    assert (apart is not None and apart < agree.CLOSE_S) == as_the_rfc
    assert ours.again() <= theirs.again()
