"""Compares the senders with ns-2, an independent implementation."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benches" / "ns2"))

import agree
import sctp

from eifel.papers.sctp import settings

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


@pytest.mark.parametrize("interval_s", [(10, 20), (70, 80), None], ids=str)
@pytest.mark.parametrize("paths", [1, 2])
def test_plain_sctp_comes_as_far_as_ns_2_s(paths: int, interval_s: tuple[int, int] | None) -> None:
    theirs, ours, _ = sctp.highest(interval_s, 2, paths)
    assert ours.mean == pytest.approx(theirs.mean, rel=sctp.SHARE)


COUNTS = (((1, 44), (1, 44)), ((1, 35), (4, 45)), ((1, 44), (4, 45)), ((1, 35), (4, 39)), ((1, 35), (4, 39)))
"""Retransmissions at the timeout and in total: ns-2's and ours by RFC 2960, and ours by RFC 9260."""


@pytest.mark.parametrize(
    ("case", "counts"), [*zip(sctp.FIGURES, COUNTS, strict=True)], ids=lambda value: str(value)[:24]
)
def test_sctp_retransmits_after_one_spike_the_number_in_ns2_md(
    case: sctp.Case, counts: tuple[tuple[int, int], ...]
) -> None:
    old, today = counts
    sides = (
        (sctp.on_ns2(case), old),
        (sctp.on_eifel(case, settings.NS_2), old),
        (sctp.on_eifel(case, settings.RFC_9260), today),
    )
    for side, (with_the_timeout, in_all) in sides:
        again = side.time_s[side.again()]
        assert (int((again < again[0] + 0.01).sum()), len(again)) == (with_the_timeout, in_all)
        # The first of 45 outstanding chunks is the first retransmission.
        assert int(np.ptp(side.tsn[side.again()])) == 44


def test_the_comparison_notices_another_rule_at_a_further_timeout() -> None:
    theirs, ours, source = sctp.highest((10, 20), 2)
    assert abs(ours.mean - theirs.mean) < abs(source.mean - theirs.mean) / 4
