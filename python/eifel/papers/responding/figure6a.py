"""Figure 6 (a): the RTO of Reno without timestamps around a spike."""

from eifel.papers.artefact import Claim
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import figure, timer
from eifel.result import Result


def _returns_to_before(result: Result) -> bool:
    """Returns whether the RTO from the first sample after the spike is near the last RTO before it."""
    start, end = settings.LEVEL_S
    samples = facts.rto_samples(result)
    after = samples["rto_ns"][samples["t_ns"] > end * 1e9]
    return float(after[0]) / 1e9 < 1.5 * facts.rto_at_s(result, start)


ARTEFACT = figure(
    "6a",
    "RTO around a spurious timeout: Reno without timestamps",
    settings.level(settings.RENO_ALLOWED, eifel=False, timestamps=False),
    Claim("the timeout is spurious", facts.of(facts.first_timeout_is_spurious)),
    Claim(
        "while it goes back N no sample is taken: Karn's rule",
        facts.of(lambda result: facts.largest_gap_s(result, settings.LEVEL_S[0] - 4) > 12),
    ),
    Claim("TCP learns little: the RTO is back near its level before the spike", facts.of(_returns_to_before)),
    draw=timer,
)
