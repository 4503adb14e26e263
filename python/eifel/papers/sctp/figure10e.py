"""Figure 10 (e): a short spike over two paths: DupTSN."""

from eifel.papers.artefact import Claim
from eifel.papers.sctp import facts, micro, settings

ARTEFACT = micro.figure(
    "10e",
    "A short spike over two paths: DupTSN",
    {
        "drawn": micro.association(settings.DUP_TSN, settings.SHORT_SPIKE_S, paths=2),
        "a round trip": micro.association({"sender": {"detect": "dsack"}}, settings.SHORT_SPIKE_S, paths=2),
    },
    Claim("the timeout is told to be spurious", facts.number("detected_spurious", lambda count: count == 1)),
    Claim("go-back-N is not avoided", facts.of(facts.window_sent_again)),
    Claim(
        "it tells nothing if it waits for duplicates for a round trip only, as a sender with one path may",
        lambda m: m.mean("detected_spurious", run="a round trip") == 0,
    ),
    known=(
        "New data on the primary path overtakes what waits on the alternate. A detector that calls the episode "
        "genuine when later data are acknowledged, and duplicates are missing a round trip later, is too early here.",
    ),
)
