"""Figure 3: the bugfix of RFC 2582 prevents the spurious fast retransmit, but not the go-back-N."""

from eifel.papers.artefact import Claim
from eifel.papers.dualrtt import figure as of
from eifel.papers.dualrtt import settings

ARTEFACT = of.figure(
    3,
    "TCP Reno with the bugfix of RFC 2582",
    settings.spike(bugfix=True),
    Claim("131 to 150 are sent again, needlessly", of.segments(131, 150)),
    Claim("no segment is sent again by a fast retransmit", lambda m: of.fast_retransmits_s(m.result()) == []),
    Claim("the duplicates that would have caused one come at 45.8 s", lambda m: of.near(of.third_duplicate_s(m), 45.8)),
)
