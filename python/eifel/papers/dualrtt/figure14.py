"""Figure 14: throughput by the wireless link's rate, behind a bottleneck of 1.5 Mbit/s.

From 42.8 to 200 kbit/s, Eifel is ahead of DualRTT by up to three segments in 750. There the window
is the limit, not the link. Twelve bytes of header then cost nothing, but DualRTT's needless
retransmissions do.
"""

from eifel.papers import published
from eifel.papers.artefact import Claim
from eifel.papers.dualrtt import session_figure, sessions

_PRINTED = published.numbers("dualrtt", "saturation")

ARTEFACT = session_figure.figure(
    14,
    "Segments delivered behind a bottleneck of 1.5 Mbit/s",
    1.5,
    Claim(
        "where the link is the limit, up to 31.2 kbit/s, DualRTT delivers more than Eifel",
        lambda m: all(
            (m.row(protocol="dualrtt", wireless_kbps=rate).means["over_eifel"].interval or (0, 0))[0] > 0
            for rate in (15.6, 21.4, 31.2)
        ),
    ),
    Claim("nothing falls above 200 kbit/s: losses after a spike are rare", lambda m: not sessions.falls_above(m, 200)),
    Claim(
        "the window limits Reno and DualRTT to 32.9 kbit/s, and Eifel with its timestamps to 33.6",
        lambda m: all(round(sessions.saturation_kbps(name), 1) == printed for name, printed in _PRINTED.items()),
    ),
    Claim(
        "at no rate of the link does a protocol deliver more than that",
        lambda m: all(
            row.means["segments"].mean <= sessions.saturated_segments(str(row.row.keys["protocol"]))
            for row in m.rows
            if row.row.keys["protocol"] in _PRINTED
        ),
    ),
    Claim(
        "near 31.2 kbit/s the window becomes the limit: up to there more is gained than above",
        lambda m: all(
            2 * m.mean("segments", protocol=protocol, wireless_kbps=31.2)
            > m.mean("segments", protocol=protocol, wireless_kbps=15.6)
            + m.mean("segments", protocol=protocol, wireless_kbps=1500)
            for protocol in ("eifel", "dualrtt")
        ),
    ),
)
