"""Figure 5 (b): option 3 restores too little of the congestion control state."""

from eifel.papers.artefact import Claim
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import figure

ARTEFACT = figure(
    "5b",
    "Congestion control restored by option 3",
    settings.slow_link("reno-sack", restore="option-3"),
    Claim("the timeout is spurious, and told to be", facts.number("detected_spurious", lambda count: count >= 1)),
    Claim(
        "the sender cannot send on the first original ACKs, as flight exceeds the window",
        facts.of(lambda result: facts.silence_after_verdict_s(result) > settings.PACKET_TIME_S),
    ),
    Claim("the congestion window is not restored", facts.of(lambda result: not facts.restores_window(result))),
)
