"""The plain sender against ns-2, which nobody here wrote."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benches" / "ns2"))

import agree

pytestmark = pytest.mark.skipif(
    shutil.which("ns") is None, reason="SKIPPED: ns-2 (Debian: ns2) is not installed, so nothing was compared with it"
)


@pytest.mark.parametrize("agent", agree.SENDERS)
def test_without_a_spike_every_segment_leaves_within_a_packets_time(agent: str) -> None:
    theirs, ours = agree.on_ns2(agent, ()), agree.on_eifel(agree.SENDERS[agent], ())
    assert theirs.segment.tolist() == ours.segment.tolist()
    assert abs(theirs.time_s - ours.time_s).max() < agree.PACKET_TIME_S


@pytest.mark.parametrize("agent", agree.SENDERS)
@pytest.mark.parametrize("spikes", [spikes for spikes in agree.SPIKES if spikes], ids=str)
def test_with_a_spike_the_same_segments_are_retransmitted(agent: str, spikes: tuple[tuple[float, float], ...]) -> None:
    theirs, ours = agree.on_ns2(agent, spikes), agree.on_eifel(agree.SENDERS[agent], spikes)
    assert len(theirs.retransmissions()) > 100
    assert theirs.retransmissions() == ours.retransmissions()
