"""Figure 13: throughput by the wireless link's rate, behind a bottleneck of 0.2 Mbit/s.

Behind a faster wireless link, the segments held by a spike reach the bottleneck all at once, and
some are lost. This costs Eifel and DualRTT, as the paper says. The bottleneck's queue was fitted to
that fall. With 21 or 22 packets, Eifel and DualRTT deliver less, but still more than Reno. With 23
and more, nothing is lost. With 20 and fewer, they lose their whole gain at 1000 kbit/s and more.
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
