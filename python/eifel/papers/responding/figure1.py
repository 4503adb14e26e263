"""Figure 1: a spurious timeout without Eifel: (a) a delay spike, (b) a bottleneck that falls from 300 to 10 kbps."""

from eifel.papers.artefact import Claim
from eifel.papers.claims import number, of
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import figure
from eifel.result import Result

CHANGE_S = 6.0
SEGMENT_BYTES, WINDOW = 1460, 10
"""At 10 kbps a segment of 1000 bytes takes 0.8 s, less than the minimum RTO, so each ACK would
restart the timer in time. This window just fills the path at 300 kbps, so the RTO is at its minimum
when the rate falls.
"""
_NOTHING_LOST = Claim("the timeout is spurious: nothing was lost", of(facts.first_timeout_is_spurious))


def _at_twice_the_rate(result: Result) -> bool:
    """Returns whether retransmissions leave twice as fast as the originals drain at the link's rate."""
    again = facts.retransmissions(result, needed="spurious", cause="timeout")
    instants = again["t_ns"][1:]  # without the timeout's own
    rate = float(again["len"][1:].sum()) * 8e9 / float(instants[-1] - instants[0])
    return rate > 1.5 * settings.SLOW_BPS


def _rtt_stays_high(result: Result) -> bool:
    samples = facts.rto_samples(result)
    before = samples["rtt_ns"][samples["t_ns"] < CHANGE_S * 1e9]
    return float(samples["rtt_ns"][-1]) > 3 * float(before.max())


FIGURE_1A = figure(
    "1a",
    "A delay spike triggers a spurious timeout (Reno-SACK, timestamps, no Eifel)",
    settings.slow_link(settings.SPURIOUS_FAST_RETRANSMIT, eifel=False),
    _NOTHING_LOST,
    Claim("everything outstanding is retransmitted, needlessly: go-back-N", of(facts.goes_back_n)),
    Claim(
        "the duplicate ACKs of the duplicates trigger a spurious fast retransmit",
        number("spurious_fast_retransmits", lambda count: count >= 1),
    ),
    Claim("retransmissions leave at about twice the link's rate", of(_at_twice_the_rate)),
)
FIGURE_1B = figure(
    "1b",
    "A bandwidth change triggers a spurious timeout (Reno-SACK, timestamps, no Eifel)",
    settings.slow_link(
        settings.SPURIOUS_FAST_RETRANSMIT,
        eifel=False,
        spike_s=None,
        rate_bps=300_000,
        rate_changes=[{"at_s": CHANGE_S, "rate_bps": 10_000}],
        data_bytes=200 * SEGMENT_BYTES,
        payload_bytes=SEGMENT_BYTES,
        window_segments=WINDOW,
    ),
    _NOTHING_LOST,
    Claim("the response is the same go-back-N as after a spike", of(facts.goes_back_n)),
    Claim("the round trip time stays several times higher", of(_rtt_stays_high)),
)
