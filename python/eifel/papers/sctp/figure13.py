"""Figure 13: random delay spikes: (a) goodput over two paths, (b) unnecessary retransmissions over one."""

from eifel.papers.sctp import facts, macro, pictures

FIGURE_13A = macro.figure(
    "13a",
    "Goodput in 200 s with a delay spike of 3 to 10 s now and then (two paths)",
    macro.by_interval(2),
    (macro.HIGHEST, macro.GOODPUT, macro.NEEDLESS),
    macro.everywhere(
        "Eifel and DupTSN exhibit similar performance: within 3 %",
        lambda m, spikes: abs(facts.share(m, "highest_tsn", "dup-tsn", spikes=spikes)) < 0.03,
    ),
    macro.everywhere(
        "neither has a noticeable benefit over plain SCTP: within 3 %",
        lambda m, spikes: all(
            abs(facts.share(m, "highest_tsn", "plain", sender, spikes=spikes)) < 0.03 for sender in ("eifel", "dup-tsn")
        ),
    ),
    draw=pictures.BY_INTERVAL,
)
FIGURE_13B = macro.figure(
    "13b",
    "Unnecessary retransmissions in 200 s with a delay spike of 3 to 10 s now and then (one path)",
    macro.by_interval(1),
    (macro.NEEDLESS,),
    macro.everywhere(
        "Eifel reduces the number of unnecessary retransmissions significantly: to a quarter at most",
        lambda m, spikes: facts.share(m, "spurious_retransmissions", "plain", spikes=spikes) < -0.75,
    ),
    macro.everywhere(
        "DupTSN is unable to avoid them: nine in ten at least are sent",
        lambda m, spikes: facts.share(m, "spurious_retransmissions", "plain", "dup-tsn", spikes=spikes) > -0.1,
    ),
    draw=pictures.BY_INTERVAL,
)
