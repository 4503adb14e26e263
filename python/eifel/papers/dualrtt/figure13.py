"""Figure 13: throughput by the wireless link's rate, behind a bottleneck of 0.2 Mbit/s.

The paper's Eifel and DualRTT lose by a faster wireless link here, because packets are lost behind a spike. The cross
traffic chosen here, two windows of 20, hardly ever makes the queue of 50 drop what is let go at once.
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
