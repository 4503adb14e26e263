"""Figure 13 (a): goodput with random delay spikes over two paths."""

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts, macro, pictures, settings

ARTEFACT = macro.figure(
    "13a",
    "Goodput in 200 s with a delay spike of 3 to 10 s now and then (two paths)",
    macro.by_interval(2),
    (macro.HIGHEST, macro.GOODPUT, macro.NEEDLESS),
    Claim(
        "Eifel and DupTSN exhibit similar performance: within 3 %",
        lambda m: all(
            abs(facts.share(m, "highest_tsn", "dup-tsn", spikes=f"{low}-{high} s")) < 0.03
            for low, high in settings.SPIKE_INTERVALS_S
        ),
    ),
    Claim(
        "neither has a noticeable benefit over plain SCTP: within 3 %",
        lambda m: all(
            abs(facts.share(m, "highest_tsn", "plain", sender, spikes=f"{low}-{high} s")) < 0.03
            for low, high in settings.SPIKE_INTERVALS_S
            for sender in ("eifel", "dup-tsn")
        ),
    ),
    draw=pictures.BY_INTERVAL,
)
