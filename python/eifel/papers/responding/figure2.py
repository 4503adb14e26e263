"""Figure 2: the response with Eifel (option 1)."""

from eifel.papers.artefact import Claim
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import figure

ARTEFACT = figure(
    "2",
    "Response to a spurious timeout with Eifel (Reno-SACK, option 1)",
    settings.slow_link("reno-sack"),
    Claim("the timeout is spurious, and told to be", facts.number("detected_spurious", lambda count: count >= 1)),
    Claim("transmission resumes with the next unsent segment", facts.of(facts.resumes_with_new_data)),
    Claim("nothing but the oldest segment is sent again", facts.of(facts.only_first_is_sent_again)),
    Claim("the congestion window is what it was before", facts.of(facts.restores_window)),
    Claim("no fast retransmit follows", facts.number("fast_retransmits", lambda count: count == 0)),
)
