"""Figure 14 (b): the time of a download with random delay spikes over two paths."""

from eifel.papers.sctp import macro

ARTEFACT = macro.satellite_figure(
    "14b",
    "two paths",
    2,
    (
        "A sender without any timeout takes 150.7 s in ns-2.35. Plain SCTP takes 180.4 s there with a window of "
        "64 kB, and 167.4 s with 128 kB.",
        "Figure 13 (a) sees no benefit of Eifel over two paths.",
    ),
)
