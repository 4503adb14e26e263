"""Figure 12: the time of a download with 1 % of the packets reordered."""

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts, macro, settings

_LATE = {"reorder": {"rate": 0.01, "length": settings.REORDERED_BY}}

FIGURE_12 = macro.figure(
    "12",
    "Time of a download of 4 MB with 1 % of the packets reordered (one path)",
    [
        ({"sender": name}, settings.scenario(protocol, macro.DOWNLOAD, macro.LATEST_S, forward=_LATE))
        for name, protocol in settings.SENDERS.items()
    ],
    (macro.TIME, macro.NEEDLESS),
    Claim("even with timestamp chunks Eifel is faster than plain SCTP", lambda m: facts.gain(m, "time_s", "plain") < 0),
    Claim(
        "Eifel and DupTSN take nearly the same time, within 5 %",
        lambda m: abs(facts.share(m, "time_s", "dup-tsn")) < 0.05,
    ),
    Claim(
        "the retransmit bit may be faster yet: it saves the chunk of 12 bytes",
        lambda m: facts.gain(m, "time_s", "eifel", "eifel-bit") < 0,
    ),
)
