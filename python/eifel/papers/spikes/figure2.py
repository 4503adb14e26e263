"""Figure 2: Reno goes back N after a spurious timeout, and its duplicates cause a spurious fast retransmit."""

from eifel.papers.artefact import Claim
from eifel.papers.dualrtt import figure as dualrtt
from eifel.papers.spikes import drawn

ARTEFACT = drawn.figure(
    2,
    "Spurious retransmission and spurious fast retransmission in TCP Reno",
    {"drawn": drawn.lossless("reno", bugfix=False), "bugfix": drawn.lossless("reno", bugfix=True)},
    Claim("the delay spike causes two timeouts", lambda m: m.mean("timeouts", run="drawn") == 2),
    Claim(
        "a spurious go-back-N retransmission of segments 132-150",
        lambda m: dualrtt.sent_again(m.results[0])[1:] == [*range(132, 151)],
    ),
    Claim(
        "a spurious fast retransmission of segment 151",
        lambda m: dualrtt.sent_again(m.results[0], "fast-retransmit") == [151],
    ),
    Claim(
        'the fast retransmission can be eliminated by the "bug fix" of RFC 2582',
        lambda m: m.mean("fast_retransmits", run="bugfix") == 0,
    ),
)
