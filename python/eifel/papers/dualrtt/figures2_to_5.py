"""Figures 2 to 5: a spurious timeout in Reno, with the bugfix of RFC 2582, with Eifel, and with DualRTT."""

from eifel.papers import rfc3522
from eifel.papers.artefact import Claim
from eifel.papers.claims import of
from eifel.papers.dualrtt import figure, settings
from eifel.papers.responding import facts

_RESTORED = (
    Claim("transmission resumes with new data", of(facts.resumes_with_new_data)),
    Claim("the congestion window is what it was before", of(facts.restores_window)),
)
FIGURE_2 = figure.figure(
    2,
    "Spurious retransmission and spurious fast retransmission in TCP Reno",
    settings.spike(),
    Claim(f"the timer expires at 34.54 and 42.14 s, each {figure.WITHIN}", figure.at(figure.timeouts_s, 34.54, 42.14)),
    Claim(
        f"the second timeout comes 7.6 s after the first, {figure.WITHIN}",
        lambda m: figure.near(figure.timeouts_s(m.result())[1] - figure.timeouts_s(m.result())[0], 7.6),
    ),
    Claim(
        f"the ACK for the original of segment 131 comes at 42.89 s, {figure.WITHIN}",
        figure.at(figure.first_ack_s, 42.89),
    ),
    Claim("131 to 150 are retransmitted, needlessly", figure.segments(131, 150)),
    Claim("the third duplicate causes a fast retransmit of 151", figure.segments(151, 151, "fast-retransmit")),
)
FIGURE_3 = figure.figure(
    3,
    "TCP Reno with the bugfix of RFC 2582",
    settings.spike(bugfix=True),
    Claim("131 to 150 are retransmitted, needlessly", figure.segments(131, 150)),
    Claim("no segment is retransmitted by a fast retransmit", lambda m: figure.fast_retransmits_s(m.result()) == []),
    Claim(
        f"the duplicates that would have caused one come at 45.8 s, {figure.WITHIN}",
        lambda m: figure.near(figure.third_duplicate_s(m), 45.8),
    ),
)
FIGURE_4 = figure.figure(
    4,
    "Detection of a spurious timeout by Eifel",
    settings.spike(dict(rfc3522.PLAIN), timestamps=True),
    Claim(f"the timer expires at 34.1 and 40.5 s, each {figure.WITHIN}", figure.at(figure.timeouts_s, 34.1, 40.5)),
    Claim(f"the timeout is detected as spurious at 42.9 s, {figure.WITHIN}", figure.at(figure.verdicts_s, 42.9)),
    Claim(
        "of 132 to 150 none is retransmitted", lambda m: not {*range(132, 151)} & {*figure.retransmitted(m.result())}
    ),
    *_RESTORED,
    Claim("there is no fast retransmit", lambda m: figure.fast_retransmits_s(m.result()) == []),
    *figure.DECIDES,
    Claim(
        f"... then the timer expires at 34.1 and 40.5 s too, each {figure.WITHIN}",
        figure.at(figure.timeouts_s, 34.1, 40.5, run=settings.NOT_CARRIED),
    ),
    timestamps=True,
)
"""Twelve more bytes per segment delay the segment before 131 by 5 ms, so that the spike holds it first."""
FIGURE_5 = figure.figure(
    5,
    "Detection of a spurious timeout by DualRTT",
    settings.spike(settings.dual_rtt()),
    Claim(f"the timeout is detected as spurious at 43.004 s, {figure.WITHIN}", figure.at(figure.verdicts_s, 43.004)),
    Claim("one ACK earlier 132 and 133 have been retransmitted, and nothing else but 131", figure.segments(131, 133)),
    *_RESTORED,
)
"""The run is without the bugfix. The needless retransmissions of 131 (twice), 132 and 133 cause four
duplicate ACKs, which still cause a spurious fast retransmit of 151. The paper does not mention it.
"""
