"""Figure 1 (a): the effect of a delay spike on Reno-SACK with timestamps, over 30 kbps."""

from eifel.papers.artefact import Claim
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import figure
from eifel.result import Result


def _at_twice_the_rate(result: Result) -> bool:
    """Returns whether retransmissions leave twice as fast as the originals drain at the link's rate."""
    again = facts.retransmissions(result, needed="spurious", cause="timeout")
    instants = again["t_ns"][1:]  # without the timeout's own
    rate = float(again["len"][1:].sum()) * 8e9 / float(instants[-1] - instants[0])
    return rate > 1.5 * settings.SLOW_BPS


ARTEFACT = figure(
    "1a",
    "A delay spike triggers a spurious timeout (Reno-SACK, timestamps, no Eifel)",
    settings.slow_link(settings.SPURIOUS_FAST_RETRANSMIT, eifel=False),
    Claim("the timeout is spurious: nothing was lost", facts.of(facts.first_timeout_is_spurious)),
    Claim("everything outstanding is sent again, needlessly: go-back-N", facts.of(facts.goes_back_n)),
    Claim(
        "the duplicate ACKs of the duplicates trigger a spurious fast retransmit",
        facts.number("spurious_fast_retransmits", lambda count: count >= 1),
    ),
    Claim("retransmissions leave at about twice the link's rate", facts.of(_at_twice_the_rate)),
)
