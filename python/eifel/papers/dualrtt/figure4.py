"""Figure 4: Eifel detects the spurious timeout with the first ACK.

Twelve more bytes per segment delay the segment before 131 by 5 ms, so that the spike holds it
first.
"""

from eifel.papers import rfc3522
from eifel.papers.artefact import Claim
from eifel.papers.dualrtt import figure as of
from eifel.papers.dualrtt import settings
from eifel.papers.responding import facts

ARTEFACT = of.figure(
    4,
    "Detection of a spurious timeout by Eifel",
    settings.spike(dict(rfc3522.PLAIN), timestamps=True),
    Claim("the timer expires at 34.1 and 40.5 s", of.at(of.timeouts_s, 34.1, 40.5)),
    Claim("the timeout is told to be spurious at 42.9 s", of.at(of.verdicts_s, 42.9)),
    Claim("of 132 to 150 none is sent again", lambda m: not {*range(132, 151)} & {*of.sent_again(m.result())}),
    Claim("transmission resumes with new data", facts.of(facts.resumes_with_new_data)),
    Claim("the congestion window is what it was before", facts.of(facts.restores_window)),
    Claim("there is no fast retransmit", lambda m: of.fast_retransmits_s(m.result()) == []),
)
