"""Figure 5: DualRTT detects the spurious timeout with the second ACK, without options.

This run is without the bugfix. The needless retransmissions of 131 (twice), 132 and 133 cause four
duplicate ACKs. These still cause a spurious fast retransmit of 151, which the paper does not
mention.
"""

from eifel.papers.artefact import Claim
from eifel.papers.dualrtt import figure as of
from eifel.papers.dualrtt import settings
from eifel.papers.responding import facts

ARTEFACT = of.figure(
    5,
    "Detection of a spurious timeout by DualRTT",
    settings.spike(settings.dual_rtt()),
    Claim("the timeout is told to be spurious at 43.004 s", of.at(of.verdicts_s, 43.004)),
    Claim("one ACK earlier 132 and 133 have been sent again, and nothing else but 131", of.segments(131, 133)),
    Claim("transmission resumes with new data", facts.of(facts.resumes_with_new_data)),
    Claim("the congestion window is what it was before", facts.of(facts.restores_window)),
)
