"""Figure 14 (b): the time of a download with random delay spikes over two paths."""

from eifel.papers.sctp import macro

ARTEFACT = macro.satellite_figure(
    "14b",
    "two paths",
    2,
    (
        "A sender without any timeout takes 150.7 s in ns-2.35. Plain SCTP takes 180.4 s there with a window of "
        "64 kB, and 167.4 s with 128 kB.",
        "Eifel has no gain over DupTSN, because it has to fall back on it: a spike of 3 to 10 s outlasts the timeout, "
        "and the way there over the alternate, nearly always (sctp.condition).",
        "Figure 13 (a) sees no benefit of Eifel over two paths.",
    ),
)
