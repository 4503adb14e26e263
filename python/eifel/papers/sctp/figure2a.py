"""Figure 2 (a): a spurious fast retransmit."""

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts, micro, settings

ARTEFACT = micro.figure(
    "2a",
    "A packet is reordered, and retransmitted needlessly (plain SCTP, one path)",
    {"drawn": micro.reordered(settings.PLAIN)},
    Claim(
        "sequence number 21 is retransmitted, and nothing else",
        facts.of(lambda result: facts.again(result)["start"].tolist() == [settings.REORDERED_CHUNK - 1]),
    ),
    Claim("it was not lost", facts.of(facts.all_needless)),
    Claim(
        "the sender cuts its window and its threshold",
        facts.of(lambda result: facts.cwnd(result, facts.PRIMARY)["ssthresh"][-1] > 0),
    ),
)
