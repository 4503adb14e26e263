"""Figure 2 (b): a spurious timeout."""

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts, micro, settings

ARTEFACT = micro.figure(
    "2b",
    "A delay spike makes the timer expire (plain SCTP, one path)",
    {"drawn": micro.association(settings.PLAIN, settings.SHORT_SPIKE_S)},
    Claim("the timer expires once, needlessly", facts.number("spurious_timeouts", lambda count: count == 1)),
    Claim("the N chunks outstanding are sent again, needlessly", facts.of(facts.window_sent_again)),
    Claim(
        "ns-2.35's SCTP sends 44 again in this setting",
        facts.number("retransmissions", lambda count: count == 44),
    ),
)
