"""Figure 13 (b): unnecessary retransmissions with random delay spikes over one path."""

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts, macro, pictures, settings

ARTEFACT = macro.figure(
    "13b",
    "Unnecessary retransmissions in 200 s with a delay spike of 3 to 10 s now and then (one path)",
    macro.by_interval(1),
    (macro.NEEDLESS,),
    Claim(
        "Eifel reduces the number of unnecessary retransmissions significantly: to a quarter at most",
        lambda m: all(
            facts.share(m, "spurious_retransmissions", "plain", spikes=f"{low}-{high} s") < -0.75
            for low, high in settings.SPIKE_INTERVALS_S
        ),
    ),
    Claim(
        "DupTSN is unable to avoid them: nine in ten at least are sent",
        lambda m: all(
            facts.share(m, "spurious_retransmissions", "plain", "dup-tsn", spikes=f"{low}-{high} s") > -0.1
            for low, high in settings.SPIKE_INTERVALS_S
        ),
    ),
    draw=pictures.BY_INTERVAL,
)
