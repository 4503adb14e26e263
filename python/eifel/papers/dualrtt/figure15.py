"""Figure 15: throughput by the bottleneck's rate, averaged over all rates of the wireless link."""

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
    known=(
        "At 0.2 Mbit/s DualRTT's mean is above Eifel's, but with 1000 and 1500 kbit/s chance decides what the "
        "bottleneck drops behind a spike, and 50 sessions leave 0.8 segments with an interval of 3.6 to each side. "
        "With wireless links up to 360 kbit/s, where hardly anything is, it is 1.6 with 0.4 to each side.",
    ),
)
