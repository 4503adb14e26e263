"""Figure 8: Eifel over a spike with losses. The lost segments wait for a timeout of 30 s."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eifel.papers.artefact import Claim
from eifel.papers.responding import facts as of
from eifel.papers.sctp import facts
from eifel.papers.spikes import drawn

if TYPE_CHECKING:
    from eifel.result import Result


def _largest_rto_s(result: Result) -> float:
    """Returns the largest RTO before the sender falls silent, in seconds."""
    timer = result.of("timer")
    return float(timer["rto_ns"][timer["t_ns"] <= drawn.stall_s(result)[0] * 1e9].max()) / 1e9


ARTEFACT = drawn.figure(
    8,
    "Eifel in a delay spike with packet loss (bug fix off)",
    {"drawn": drawn.lossy("eifel"), "reno": drawn.lossy("reno")},
    Claim("at the end of the spike 60 segments are released", facts.of(lambda result: drawn.held(result) == 60)),
    Claim("10 segments are dropped by the queue", facts.number("drops", lambda count: count == 10)),
    Claim(
        "Eifel detects the spurious timeout, and resumes transmitting new segments",
        of.of(of.resumes_with_new_data),
    ),
    Claim(
        "the sender fast retransmits segment 257",
        facts.of(lambda result: drawn.again(result, cause="fast-retransmit")["segment"][0] == 257),
    ),
    Claim(
        "the rest of the lost segments cannot be retransmitted until a timeout",
        facts.of(
            lambda result: (
                {*result.of("transmissions").where(fate="dropped")["segment"].tolist()[1:]}
                <= {*drawn.again(result, cause="timeout")["segment"].tolist()}
            )
        ),
    ),
    Claim(
        "the RTO is increased to 30.2 s: by one second at most it is another",
        facts.of(lambda result: abs(_largest_rto_s(result) - 30.2) <= 1),
    ),
    Claim(
        "from t = 47.8 s transmission stalls for about 30 s: by 3 s at most another time",
        facts.of(
            lambda result: (
                abs(drawn.stall_s(result)[0] - 47.8) <= 1
                and abs(drawn.stall_s(result)[1] - drawn.stall_s(result)[0] - 30.2) <= 3
            )
        ),
    ),
    Claim("Eifel delivers less than Reno", lambda m: m.mean("segments", run="drawn") < m.mean("segments", run="reno")),
    known=(
        "61 segments are released and 11 dropped: the retransmission of the timeout is one of them. It takes 12 bytes "
        "of timestamps more a segment than Reno, so that 255 is the first that is lost.",
    ),
)
