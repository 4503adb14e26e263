"""Figure 9 (a): Eifel on a spike that spans two timeouts."""

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts, micro, settings

_BY_NUMBER = {**settings.EIFEL, "sender": {**settings.EIFEL["sender"], "respond": "by-retransmissions"}}
"""The only published response that decreases with the number of timeouts: that of the original
Eifel algorithm.
"""

ARTEFACT = micro.figure(
    "9a",
    "A spike that spans two timeouts: Eifel (one path)",
    {
        "drawn": micro.association(settings.EIFEL, settings.TWO_TIMEOUTS_S),
        "one timeout": micro.association(settings.EIFEL, settings.SHORT_SPIKE_S),
        "by number": micro.association(_BY_NUMBER, settings.TWO_TIMEOUTS_S),
        "by number, one": micro.association(_BY_NUMBER, settings.SHORT_SPIKE_S),
    },
    Claim("the timer expires twice", facts.number("timeouts", lambda count: count == 2)),
    Claim("the timeout is told to be spurious", facts.number("detected_spurious", lambda count: count == 1)),
    Claim(
        "less of the window is restored than after one timeout",
        lambda m: facts.restored(m.result(run="drawn")) < facts.restored(m.result(run="one timeout")),
    ),
    Claim(
        "with the response of the original Eifel algorithm the state restored is decayed: to half of it, within a "
        "tenth",
        lambda m: (
            abs(facts.restored(m.result(run="by number")) / facts.restored(m.result(run="by number, one")) - 0.5) < 0.1
        ),
    ),
    known=(
        "The paper writes its response out: cwnd = FlightSize + min(bytes acked, IW), ssthresh = pipe_prev, as RFC "
        "4015 has it. Nothing in it decays: pipe_prev is set before the first timeout, and nothing leaves between two "
        "timeouts. So the same 66 056 bytes are restored after one timeout and after two. The decay is in the draft "
        "that it cites.",
    ),
)
