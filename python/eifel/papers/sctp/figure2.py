"""Figure 2: (a) a spurious fast retransmit, (b) a spurious timeout."""

from eifel.papers.artefact import Claim
from eifel.papers.claims import count, of
from eifel.papers.sctp import facts, micro, settings

FIGURE_2A = micro.figure(
    "2a",
    "A packet is reordered, and retransmitted needlessly (plain SCTP, one path)",
    {"drawn": micro.reordered(settings.PLAIN)},
    Claim(
        "sequence number 21 is retransmitted, and nothing else",
        of(lambda result: facts.again(result)["start"].tolist() == [settings.REORDERED_CHUNK - 1]),
    ),
    Claim("it was not lost", of(facts.all_needless)),
    Claim(
        "the sender cuts its window and its threshold",
        of(lambda result: facts.cwnd(result, facts.PRIMARY)["ssthresh"][-1] > 0),
    ),
)
FIGURE_2B = micro.figure(
    "2b",
    "A delay spike makes the timer expire (plain SCTP, one path)",
    {"drawn": micro.association(settings.PLAIN, settings.SHORT_SPIKE_S)},
    Claim("the timer expires once, needlessly", count("spurious_timeouts", 1)),
    Claim("the N chunks outstanding are retransmitted, needlessly", of(facts.window_retransmitted)),
    Claim("ns-2.35's SCTP retransmits 44 in this setting", count("retransmissions", 44)),
)
