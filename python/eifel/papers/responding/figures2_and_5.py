"""Figures 2 and 5: the congestion control state that options 1 to 4 of the response restore."""

from eifel.papers.artefact import Artefact, Claim
from eifel.papers.claims import count, of
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import DETECTED, figure
from eifel.result import Result

_RESTORED = Claim("the congestion window is what it was before", of(facts.restores_window))


def _threshold_is_old_window(result: Result) -> bool:
    episode = facts.timeout_episodes(result).where(verdict="spurious")
    before = facts.window_at(result, int(episode["opened_ns"][0]))
    return facts.window_after(result, int(episode["verdict_ns"][0]), "ssthresh") == before


def _restores_too_little(part: str, option: int) -> Artefact:
    return figure(
        f"5{part}",
        f"Congestion control restored by option {option}",
        settings.slow_link("reno-sack", restore=f"option-{option}"),
        DETECTED,
        Claim(
            "the sender cannot send on the first original ACKs, as flight exceeds the window",
            of(lambda result: facts.silence_after_verdict_s(result) > settings.PACKET_TIME_S),
        ),
        Claim("the congestion window is not restored", of(lambda result: not facts.restores_window(result))),
    )


FIGURE_2 = figure(
    "2",
    "Response to a spurious timeout with Eifel (Reno-SACK, option 1)",
    settings.slow_link("reno-sack"),
    DETECTED,
    Claim("transmission resumes with the next unsent segment", of(facts.resumes_with_new_data)),
    Claim("nothing but the oldest segment is retransmitted", of(facts.only_first_is_retransmitted)),
    _RESTORED,
    Claim("no fast retransmit follows", count("fast_retransmits", 0)),
)
FIGURE_5A = _restores_too_little("a", 2)
FIGURE_5B = _restores_too_little("b", 3)
FIGURE_5C = figure(
    "5c",
    "Congestion control restored by option 4",
    settings.slow_link("reno-sack", restore="option-4"),
    DETECTED,
    Claim(
        "transmission resumes on the ACKs at once",
        of(lambda result: facts.silence_after_verdict_s(result) < settings.PACKET_TIME_S),
    ),
    _RESTORED,
    Claim("the slow start threshold is the old congestion window", of(_threshold_is_old_window)),
)
