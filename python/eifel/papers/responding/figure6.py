"""Figure 6: the RTO of Reno around a spike: (a) without timestamps, (b) with them, (c) with Eifel too."""

from eifel.papers.artefact import Claim
from eifel.papers.claims import of
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import DETECTED, figure, timer
from eifel.result import Result

_SPURIOUS = Claim("the timeout is spurious", of(facts.first_timeout_is_spurious))
_WITHOUT_TIMESTAMPS = settings.level(settings.RENO_ALLOWED, eifel=False, timestamps=False)
_WITHOUT_EIFEL = settings.level(settings.RENO_ALLOWED, eifel=False)
_LATER_S = settings.LEVEL_S[1] + 16


def _returns_to_before(result: Result) -> bool:
    """Returns whether the RTO from the first sample after the spike is near the last RTO before it."""
    start, end = settings.LEVEL_S
    samples = facts.rto_samples(result)
    after = samples["rto_ns"][samples["t_ns"] > end * 1e9]
    return float(after[0]) / 1e9 < 1.5 * facts.rto_at_s(result, start)


def _peak_s(result: Result) -> float:
    timer = facts.rto_samples(result)
    return float(timer["rto_ns"][timer["t_ns"] > settings.LEVEL_S[1] * 1e9].max()) / 1e9


def _gap_s(result: Result) -> float:
    """Returns the longest time without a sample after the spike, in seconds."""
    return facts.largest_gap_s(result, settings.LEVEL_S[1] + 0.5)


FIGURE_6A = figure(
    "6a",
    "RTO around a spurious timeout: Reno without timestamps",
    _WITHOUT_TIMESTAMPS,
    _SPURIOUS,
    Claim(
        "while it goes back N no sample is taken: Karn's rule",
        of(lambda result: facts.largest_gap_s(result, settings.LEVEL_S[0] - 4) > 12),
    ),
    Claim("TCP learns little: the RTO is back near its level before the spike", of(_returns_to_before)),
    draw=timer,
)
FIGURE_6B = figure(
    "6b",
    "RTO around a spurious timeout: Reno with timestamps",
    _WITHOUT_EIFEL,
    _SPURIOUS,
    Claim(
        "the original ACKs after the spike make the RTO very high",
        of(lambda result: _peak_s(result) > 3 * facts.rto_at_s(result, settings.LEVEL_S[0])),
    ),
    Claim("then duplicate ACKs give no samples for more than a second", of(lambda result: _gap_s(result) > 1)),
    Claim(
        "it is more conservative than without timestamps",
        lambda m: _peak_s(m.result()) > _peak_s(m.result(run="without timestamps")),
    ),
    draw=timer,
    beside={"without timestamps": _WITHOUT_TIMESTAMPS},
)
FIGURE_6C = figure(
    "6c",
    "RTO around a spurious timeout: Reno with timestamps and Eifel",
    settings.level(settings.RENO_ALLOWED),
    DETECTED,
    Claim(
        "there is no idle period in the updates: the longest is shorter than without Eifel",
        lambda m: _gap_s(m.result()) < _gap_s(m.result(run="without eifel")),
    ),
    Claim(
        "once it has come down it is higher than without Eifel: more is outstanding, and the round trip is longer",
        lambda m: facts.rto_at_s(m.result(), _LATER_S) >= facts.rto_at_s(m.result(run="without eifel"), _LATER_S),
    ),
    draw=timer,
    beside={"without eifel": _WITHOUT_EIFEL},
)
