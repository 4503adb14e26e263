"""Figure 13: throughput by the wireless link's rate, behind a bottleneck of 0.2 Mbit/s.

Behind a faster wireless link what a spike has held arrives at the bottleneck all at once, and some of it is lost.
Eifel and DualRTT lose by that, as the paper says. The bottleneck's queue was fitted to the fall: of 21 or 22 packets
Eifel and DualRTT deliver less and still more than Reno, of 23 and more nothing is lost, and of 20 and fewer they lose
with 1000 kbit/s and more all that they had gained.
"""

from eifel.papers.artefact import Claim
from eifel.papers.dualrtt import session_figure, sessions

ARTEFACT = session_figure.figure(
    13,
    "Segments delivered behind a bottleneck of 0.2 Mbit/s",
    0.2,
    Claim("DualRTT delivers at least what Eifel does", lambda m: sessions.not_below(m, "eifel", "dualrtt")),
    Claim("above 200 kbit/s Eifel's and DualRTT's falls", lambda m: sessions.falls_above(m, 200)),
)
