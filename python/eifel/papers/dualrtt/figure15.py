"""Figure 15: throughput by the bottleneck's rate, the mean over all rates of the wireless link."""

from eifel.papers.artefact import Claim
from eifel.papers.dualrtt import session_figure, sessions

ARTEFACT = session_figure.figure(
    15,
    "Segments delivered behind different bottlenecks",
    None,
    Claim("DualRTT delivers at least what Eifel does", lambda m: sessions.not_below(m, "eifel", "dualrtt")),
    Claim(
        "below 1 Mbit/s DualRTT delivers more than Eifel",
        lambda m: all(
            (m.row(protocol="dualrtt", bottleneck_mbps=rate).means["over_eifel"].interval or (0, 0))[0] > 0
            for rate in (0.2, 0.5)
        ),
    ),
)
