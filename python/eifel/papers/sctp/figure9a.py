"""Figure 9 (a): Eifel on a spike that spans two timeouts."""

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts, micro, settings

ARTEFACT = micro.figure(
    "9a",
    "A spike that spans two timeouts: Eifel (one path)",
    {
        "drawn": micro.association(settings.EIFEL, settings.TWO_TIMEOUTS_S),
        "one timeout": micro.association(settings.EIFEL, settings.SHORT_SPIKE_S),
    },
    Claim("the timer expires twice", facts.number("timeouts", lambda count: count == 2)),
    Claim("the timeout is told to be spurious", facts.number("detected_spurious", lambda count: count == 1)),
    Claim(
        "less of the window is restored than after one timeout",
        lambda m: facts.restored(m.result(run="drawn")) < facts.restored(m.result(run="one timeout")),
    ),
    known=(
        "The paper's response is a draft that decays what is restored; RFC 4015, which the draft became, restores the "
        "flight whatever the number of timeouts.",
    ),
)
