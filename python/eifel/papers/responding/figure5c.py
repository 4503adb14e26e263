"""Figure 5 (c): option 4 restores the window, and also sets the slow start threshold to it."""

from eifel.papers.artefact import Claim
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import figure
from eifel.result import Result


def _threshold_is_old_window(result: Result) -> bool:
    episode = facts.timeout_episodes(result).where(verdict="spurious")
    before = facts.window_at(result, int(episode["opened_ns"][0]))
    return facts.window_after(result, int(episode["verdict_ns"][0]), "ssthresh") == before


ARTEFACT = figure(
    "5c",
    "Congestion control restored by option 4",
    settings.slow_link("reno-sack", restore="option-4"),
    Claim("the timeout is spurious, and told to be", facts.number("detected_spurious", lambda count: count >= 1)),
    Claim(
        "transmission resumes on the ACKs at once",
        facts.of(lambda result: facts.silence_after_verdict_s(result) < settings.PACKET_TIME_S),
    ),
    Claim("the congestion window is what it was before", facts.of(facts.restores_window)),
    Claim("the slow start threshold is the old congestion window", facts.of(_threshold_is_old_window)),
)
