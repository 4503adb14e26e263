"""Figure 14 (a): the time of a download with random delay spikes over one path."""

from eifel.papers.sctp import macro

ARTEFACT = macro.satellite_figure(
    "14a",
    "one path",
    1,
    (
        "A sender without any timeout takes 150.9 s in ns-2.35. Plain SCTP takes 192.1 s there with a window of "
        "64 kB, and 181.3 s with 128 kB.",
        "35 s are not gained with any window, place of the spikes or first spike that was tried: 25 s at most, with a "
        "window of 128 kB and the first spike at 10 s (sctp.left_open). With 64 kB it is 22 s, and plain SCTP takes "
        "193 s, where the paper's 18 % imply 194.",
        "That DupTSN is 20 s faster than plain SCTP contradicts figure 11 (b), where the two are nearly the same. "
        "Measured, it is 2 to 3 s faster here.",
    ),
)
