"""Figure 11: figure 4 as a time line. The timestamp echoed by the first ACK decides."""

from eifel.papers import rfc3522
from eifel.papers.artefact import Claim
from eifel.papers.dualrtt import figure as of
from eifel.papers.dualrtt import figure10, settings

ARTEFACT = of.drawn(
    "figure11",
    "Time line of the detection of a spurious timeout by Eifel",
    settings.spike(dict(rfc3522.PLAIN), timestamps=True),
    Claim(
        "the timeout is told to be spurious at the first ACK",
        lambda m: of.verdicts_s(m.result()) == of.first_ack_s(m.result()),
    ),
    Claim("nothing but the first segment that was held is sent again", lambda m: len(of.sent_again(m.result())) == 1),
    source="figure 11",
    draw=figure10.draw,
    chart=False,
)
