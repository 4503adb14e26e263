"""Figure 14 (a): the time of a download with random delay spikes over one path."""

from eifel.papers.sctp import macro

ARTEFACT = macro.satellite_figure(
    "14a",
    "one path",
    1,
    (
        "A sender without any timeout takes 150.9 s in ns-2.35. Plain SCTP takes 192.1 s there with a window of "
        "64 kB, and 181.3 s with 128 kB.",
        "That DupTSN is 20 s faster than plain SCTP contradicts figure 11 (b), where the two are nearly the same.",
    ),
)
