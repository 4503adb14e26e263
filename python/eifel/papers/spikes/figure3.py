"""Figure 3: Eifel detects the spurious timeout with the first ACK."""

from eifel.papers.artefact import Claim
from eifel.papers.dualrtt import figure as dualrtt
from eifel.papers.spikes import drawn


def _oldest(number: int) -> Claim:
    return Claim(
        f"the ACK for the original segment {number} tells it",
        lambda m: dualrtt.sent_again(m.results[0]) == [number],
    )


ARTEFACT = drawn.figure(
    3,
    "Detecting a spurious timeout with Eifel",
    {"drawn": drawn.lossless("eifel")},
    Claim(
        "at t = 42.9 s it detects the spurious timeout",
        lambda m: dualrtt.near(dualrtt.verdicts_s(m.results[0])[0], 42.9),
    ),
    _oldest(131),
    Claim(
        "segments 132-150 are not retransmitted",
        lambda m: not {*range(132, 151)} & {*dualrtt.sent_again(m.results[0])},
    ),
    Claim(
        "no duplicate ACK causes a spurious fast retransmit",
        lambda m: m.mean("fast_retransmits", run="drawn") == 0,
    ),
    known=(
        "It is the ACK for segment 130: with its timestamps a segment takes 12 bytes more than Reno's of figure 2, "
        "and so the one before 131 comes to the link 5 ms too late.",
    ),
)
