"""Figure 10: throughput by bandwidth with losses, large window."""

from eifel.papers.artefact import Claim
from eifel.papers.spikes import settings, throughput

_ALL = (*settings.LOW_KBPS, *settings.HIGH_KBPS)

ARTEFACT = throughput.figure(
    10,
    "large",
    "spike+loss",
    Claim(
        "Eifel has the worst performance of the three at every bandwidth",
        lambda m: all(
            throughput.delivered(m, kbps, "eifel") < throughput.delivered(m, kbps, other)
            for kbps in _ALL
            for other in ("reno", "sctp")
        ),
    ),
    Claim(
        "Eifel with today's recovery does not: it delivers more than Reno at 46.8 kbit/s and above",
        lambda m: all(
            throughput.delivered(m, kbps, today) > throughput.delivered(m, kbps, "reno")
            for kbps in settings.HIGH_KBPS
            for today in ("rfc6675+eifel", "rack+eifel")
        ),
    ),
    known=(
        "At 15.6 and 21.4 kbit/s nothing times out in the spike. Then Eifel and Reno wait for the same genuine "
        "timeout, and deliver the same within their intervals.",
        "At 62.4 and 78 kbit/s Reno delivers 1 to 2 % more than today's TCP with Eifel: its segments carry no "
        "timestamps, and one timeout costs it little.",
    ),
)
