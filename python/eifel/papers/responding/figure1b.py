"""Figure 1 (b): a spurious timeout because the bottleneck falls from 300 to 10 kbps."""

from eifel.papers.artefact import Claim
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import figure
from eifel.result import Result

CHANGE_S = 6.0
SEGMENT_BYTES, WINDOW = 1460, 10
"""At 10 kbps a segment of 1000 bytes takes 0.8 s, less than the minimum RTO, so each ACK would
restart the timer in time. This window just fills the path at 300 kbps, so the RTO is at its minimum
when the rate falls.
"""


def _rtt_stays_high(result: Result) -> bool:
    samples = facts.rto_samples(result)
    before = samples["rtt_ns"][samples["t_ns"] < CHANGE_S * 1e9]
    return float(samples["rtt_ns"][-1]) > 3 * float(before.max())


ARTEFACT = figure(
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
    Claim("the timeout is spurious: nothing was lost", facts.of(facts.first_timeout_is_spurious)),
    Claim("the response is the same go-back-N as after a spike", facts.of(facts.goes_back_n)),
    Claim("the round trip time stays several times higher", facts.of(_rtt_stays_high)),
)
