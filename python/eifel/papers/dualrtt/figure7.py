"""Figure 7: the faster the link, the closer together the ACKs, and the smaller tau may be."""

import numpy as np

from eifel.papers.artefact import Claim
from eifel.papers.dualrtt import relation

ARTEFACT = relation.figure(
    7,
    "B",
    "rate_bps",
    [{"delay_ms": delay, "mtu_bytes": mtu} for delay in (200, 800) for mtu in (576, 1500)],
    Claim("tau falls as B rises", relation.falls("rate_bps")),
    Claim(
        "it follows the logarithm of B more closely than B",
        lambda m: relation.residual(m, "rate_bps", np.log) < relation.residual(m, "rate_bps", np.array),
    ),
)
