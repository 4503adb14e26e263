"""Figure 9: the larger the segments, the further apart the ACKs, and the larger tau has to be.

The time between two ACKs grows with M, so tau should be a line through zero. But there are only
seven values of tau, on a nearly logarithmic scale, and four of M, three of them close together. The
result looks like a curve.
"""

import numpy as np

from eifel.papers.artefact import Claim
from eifel.papers.dualrtt import relation

ARTEFACT = relation.figure(
    9,
    "M",
    "mtu_bytes",
    [{"rate_bps": rate, "delay_ms": delay} for rate in (130_000, 360_000) for delay in (200, 800)],
    Claim("tau rises with M", relation.rises("mtu_bytes")),
    Claim(
        "it follows M more closely than the logarithm of M",
        lambda m: relation.residual(m, "mtu_bytes", np.array) < relation.residual(m, "mtu_bytes", np.log),
    ),
    known=(
        "The seven values of tau bend it. With 40 values from 0.008 to 0.6 the best ones at 360 kbit/s are 0.030, "
        "0.053, 0.082 and 0.198 (200 ms), and 0.008, 0.014, 0.022 and 0.059 (800 ms): a line leaves sums of squares of "
        "0.00007 and 0.000002 unexplained, a logarithm 0.00064 and 0.00008 (40 spikes a setting).",
    ),
)
