"""Figure 6 (b): the RTO of Reno with timestamps around a spike."""

from eifel.papers.artefact import Claim
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import figure, timer
from eifel.result import Result


def _peak_s(result: Result) -> float:
    timer = facts.rto_samples(result)
    return float(timer["rto_ns"][timer["t_ns"] > settings.LEVEL_S[1] * 1e9].max()) / 1e9


ARTEFACT = figure(
    "6b",
    "RTO around a spurious timeout: Reno with timestamps",
    settings.level(settings.RENO_ALLOWED, eifel=False),
    Claim("the timeout is spurious", facts.of(facts.first_timeout_is_spurious)),
    Claim(
        "the original ACKs after the spike make the RTO very high",
        facts.of(lambda result: _peak_s(result) > 3 * facts.rto_at_s(result, settings.LEVEL_S[0])),
    ),
    Claim(
        "then duplicate ACKs give no samples for more than a second",
        facts.of(lambda result: facts.largest_gap_s(result, settings.LEVEL_S[1] + 0.5) > 1),
    ),
    Claim(
        "it is more conservative than without timestamps",
        lambda m: _peak_s(m.result()) > _peak_s(m.result(run="without timestamps")),
    ),
    draw=timer,
    beside={"without timestamps": settings.level(settings.RENO_ALLOWED, eifel=False, timestamps=False)},
)
