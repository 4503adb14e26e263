"""Figure 2: Reno goes back N after a spurious timeout, and its duplicates cause a spurious fast retransmit."""

from eifel.papers.artefact import Claim
from eifel.papers.dualrtt import figure as of
from eifel.papers.dualrtt import settings

ARTEFACT = of.figure(
    2,
    "Spurious retransmission and spurious fast retransmission in TCP Reno",
    settings.spike(),
    Claim("the timer expires at 34.54 and 42.14 s", of.at(of.timeouts_s, 34.54, 42.14)),
    Claim(
        "the second timeout comes 7.6 s after the first",
        lambda m: of.near(of.timeouts_s(m.result())[1] - of.timeouts_s(m.result())[0], 7.6),
    ),
    Claim("the ACK for the original of segment 131 comes at 42.89 s", of.at(of.first_ack_s, 42.89)),
    Claim("131 to 150 are sent again, needlessly", of.segments(131, 150)),
    Claim("the third duplicate causes a fast retransmit of 151", of.segments(151, 151, "fast-retransmit")),
)
