"""Figure 8: the longer the path, the larger MinRTT, and the smaller tau may be."""

import numpy as np

from eifel.papers.artefact import Claim
from eifel.papers.dualrtt import relation

ARTEFACT = relation.figure(
    8,
    "D",
    "delay_ms",
    [{"rate_bps": rate, "mtu_bytes": mtu} for rate in (62_400, 130_000) for mtu in (576, 1500)],
    Claim("tau falls as D rises", relation.falls("delay_ms")),
    Claim(
        "it follows the logarithm of D more closely than D",
        lambda m: relation.residual(m, "delay_ms", np.log) < relation.residual(m, "delay_ms", np.array),
    ),
)
