"""Figure 6: throughput by bandwidth, small window."""

from eifel.papers.artefact import Claim
from eifel.papers.spikes import settings, throughput

ARTEFACT = throughput.figure(
    6,
    "small",
    "spike",
    Claim(
        "spurious timeouts always happen, at 46.8 kbit/s and above",
        lambda m: all(
            m.mean("spurious_timeouts", kbps=kbps, sender=sender) >= 1
            for kbps in settings.HIGH_KBPS
            for sender in settings.PAPERS
        ),
    ),
    Claim(
        "Eifel achieves the highest throughput of the three at each of these",
        lambda m: all(
            throughput.delivered(m, kbps, "eifel") > throughput.delivered(m, kbps, other)
            for kbps in settings.HIGH_KBPS
            for other in ("reno", "sctp")
        ),
    ),
)
