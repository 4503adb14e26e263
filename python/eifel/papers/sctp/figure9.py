"""Figure 9: a spike that spans two timeouts, with (a) Eifel, (b) DupTSN."""

from typing import Any

from eifel.papers.artefact import Claim
from eifel.papers.claims import count
from eifel.papers.sctp import facts, micro, settings

_BY_NUMBER = {**settings.EIFEL, "sender": {**settings.EIFEL["sender"], "respond": "by-retransmissions"}}
"""The only published response that decreases with the number of timeouts: that of the original
Eifel algorithm.
"""
_COMMON = (
    Claim("the timer expires twice", count("timeouts", 2)),
    micro.DETECTED,
    Claim("less of the window is restored than after one timeout", facts.restores_less("one timeout")),
)


def _runs(protocol: settings.Sctp, drawn: str = "drawn", other: str = "one timeout") -> dict[str, dict[str, Any]]:
    lengths = {drawn: settings.TWO_TIMEOUTS_S, other: settings.SHORT_SPIKE_S}
    return {name: micro.association(protocol, length_s) for name, length_s in lengths.items()}


FIGURE_9A = micro.figure(
    "9a",
    "A spike that spans two timeouts: Eifel (one path)",
    {**_runs(settings.EIFEL), **_runs(_BY_NUMBER, "by number", "by number, one")},
    *_COMMON,
    Claim(
        "with the response of the original Eifel algorithm the state restored is decayed: to half of it, within a "
        "tenth",
        lambda m: (
            abs(facts.restored(m.result(run="by number")) / facts.restored(m.result(run="by number, one")) - 0.5) < 0.1
        ),
    ),
)
FIGURE_9B = micro.figure("9b", "A spike that spans two timeouts: DupTSN (one path)", _runs(settings.DUP_TSN), *_COMMON)
