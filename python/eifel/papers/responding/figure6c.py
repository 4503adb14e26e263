"""Figure 6 (c): the RTO of Reno with timestamps and Eifel around a spike."""

from eifel.papers.artefact import Claim
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import figure, timer

_LATER_S = settings.LEVEL_S[1] + 16

ARTEFACT = figure(
    "6c",
    "RTO around a spurious timeout: Reno with timestamps and Eifel",
    settings.level(settings.RENO_ALLOWED),
    Claim("the timeout is spurious, and told to be", facts.number("detected_spurious", lambda count: count >= 1)),
    Claim(
        "there is no idle period in the updates: the longest is shorter than without Eifel",
        lambda m: (
            facts.largest_gap_s(m.result(), settings.LEVEL_S[1] + 0.5)
            < facts.largest_gap_s(m.result(run="without eifel"), settings.LEVEL_S[1] + 0.5)
        ),
    ),
    Claim(
        "once it has come down it is higher than without Eifel: more is outstanding, and the round trip is longer",
        lambda m: facts.rto_at_s(m.result(), _LATER_S) >= facts.rto_at_s(m.result(run="without eifel"), _LATER_S),
    ),
    draw=timer,
    beside={"without eifel": settings.level(settings.RENO_ALLOWED, eifel=False)},
)
