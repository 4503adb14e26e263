"""Figures 1 to 6: timeouts over a slow link, without Eifel, with each response, with losses, and the timer."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from eifel.papers.artefact import Artefact, Claim, Measured
from eifel.papers.claims import count, less, number, of
from eifel.papers.responding import facts, settings
from eifel.papers.responding.figure import DETECTED, figure, timer
from eifel.result import Result

CHANGE_S = 6.0
SEGMENT_BYTES, WINDOW = 1460, 10
"""At 10 kbps a segment of 1000 bytes takes 0.8 s, less than the minimum RTO, so each ACK would
restart the timer in time. This window just fills the path at 300 kbps, so the RTO is at its minimum
when the rate falls.
"""
_NOTHING_LOST = Claim("the timeout is spurious: nothing was lost", of(facts.first_timeout_is_spurious))


def _at_twice_the_rate(result: Result) -> bool:
    """Returns whether retransmissions leave twice as fast as the originals drain at the link's rate."""
    again = facts.retransmissions(result, needed="spurious", cause="timeout")
    instants = again["t_ns"][1:]  # without the timeout's own
    rate = float(again["len"][1:].sum()) * 8e9 / float(instants[-1] - instants[0])
    return rate > 1.5 * settings.SLOW_BPS


def _duplicates_trigger_fast_retransmit(result: Result) -> bool:
    """Returns whether a needless fast retransmit leaves on a third duplicate ACK, though nothing was lost before it."""
    at_ns = int(facts.retransmissions(result, cause="fast-retransmit", needed="spurious")["t_ns"][0])
    duplicates = result.of("acks", facts.FLOW).where(duplicate=True)["t_ns"]
    before = result.of("transmissions", facts.FLOW)
    lost = before.rows(before["t_ns"] <= at_ns).where(fate="dropped")
    return at_ns in duplicates and int((duplicates <= at_ns).sum()) >= 3 and len(lost) == 0


def _rtt_stays_high(result: Result) -> bool:
    samples = facts.rto_samples(result)
    before = samples["rtt_ns"][samples["t_ns"] < CHANGE_S * 1e9]
    return float(samples["rtt_ns"][-1]) > 3 * float(before.max())


def _changes(**more: int) -> dict[str, Any]:
    """Returns a transfer over a link whose rate falls."""
    rate_changes = [{"at_s": CHANGE_S, "rate_bps": 10_000}]
    how: dict[str, Any] = {"data_bytes": 200 * settings.MSS_BYTES, **more}
    return settings.slow_link(
        settings.SPURIOUS_FAST_RETRANSMIT,
        eifel=False,
        spike_s=None,
        rate_bps=300_000,
        rate_changes=rate_changes,
        **how,
    )


_AS_TABLES = "1000 bytes, 150 segments"
"""The segments and the window of the tables."""
FIGURE_1A = figure(
    "1a",
    "A delay spike triggers a spurious timeout (Reno-SACK, timestamps, no Eifel)",
    settings.slow_link(settings.SPURIOUS_FAST_RETRANSMIT, eifel=False),
    _NOTHING_LOST,
    Claim("everything outstanding is retransmitted, needlessly: go-back-N", of(facts.goes_back_n)),
    Claim(
        "the duplicate ACKs of the duplicates trigger a spurious fast retransmit",
        of(_duplicates_trigger_fast_retransmit),
    ),
    Claim("retransmissions leave at about twice the link's rate: more than one and a half", of(_at_twice_the_rate)),
)
FIGURE_1B = figure(
    "1b",
    "A bandwidth change triggers a spurious timeout (Reno-SACK, timestamps, no Eifel)",
    _changes(payload_bytes=SEGMENT_BYTES, window_segments=WINDOW, data_bytes=200 * SEGMENT_BYTES),
    _NOTHING_LOST,
    Claim("the response is the same go-back-N as after a spike", of(facts.goes_back_n)),
    Claim("the round trip time stays several times higher: more than three", of(_rtt_stays_high)),
    Claim(
        "with the tables' segments and window the change triggers no timeout",
        lambda m: m.mean("timeouts", run=_AS_TABLES) == 0 and _rtt_stays_high(m.result(run=_AS_TABLES)),
    ),
    beside={_AS_TABLES: _changes()},
)


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


_SPURIOUS = Claim("the first timeout is spurious", of(facts.first_timeout_is_spurious))
_NO_GENUINE = Claim("there is no genuine timeout", count("genuine_timeouts", 0))
_BLOCKED = settings.slow_link(settings.RENO_BLOCKED, lost=[settings.LOST_ALONE])
_ALL_BUT_ONE = {
    recovery: settings.slow_link(recovery, lost=settings.LOST_ALL_BUT_ONE)
    for recovery in ("reno-sack", "newreno-sack", "fack")
}


def _second_timeout_recovers(result: Result) -> bool:
    lost = result.of("drops", facts.FLOW)["tx"][0]
    sent = result.of("transmissions", facts.FLOW)
    start = sent["start"][sent["tx"] == lost][0]
    again = facts.retransmissions(result)
    cause = again["cause"][again["start"] == start][0]
    return str(cause) == "timeout"


def _last_repair_s(result: Result) -> float:
    return float(facts.retransmissions(result, needed="needed")["t_ns"][-1]) / 1e9


FIGURE_3A = figure(
    "3a",
    "Reno with Eifel, one delayed segment lost: fast retransmit blocked",
    _BLOCKED,
    _SPURIOUS,
    Claim("the lost segment waits for a second, genuine timeout", count("genuine_timeouts", 1)),
    Claim("it is that timeout which retransmits it", of(_second_timeout_recovers)),
    Claim("there is no fast retransmit", count("fast_retransmits", 0)),
)
FIGURE_3B = figure(
    "3b",
    "Reno with Eifel, one delayed segment lost: fast retransmit allowed",
    settings.slow_link(settings.RENO_ALLOWED, lost=[settings.LOST_ALONE]),
    _SPURIOUS,
    Claim("a fast retransmit recovers the loss", count("fast_retransmits", 1)),
    _NO_GENUINE,
    Claim("it is over sooner than with fast retransmit blocked", less("time_s", "blocked")),
    beside={"blocked": _BLOCKED},
)
FIGURE_4A = figure(
    "4a",
    "Reno-SACK with Eifel, all delayed segments but one lost",
    _ALL_BUT_ONE["reno-sack"],
    _SPURIOUS,
    Claim("Reno-SACK cannot recover without a genuine timeout", number("genuine_timeouts", lambda count: count >= 1)),
)
FIGURE_4B = figure(
    "4b",
    "NewReno-SACK with Eifel, all delayed segments but one lost",
    _ALL_BUT_ONE["newreno-sack"],
    _SPURIOUS,
    _NO_GENUINE,
    Claim(
        "every lost segment is retransmitted in fast recovery",
        lambda m: len(facts.retransmissions(m.result(), needed="needed")) >= len(settings.LOST_ALL_BUT_ONE),
    ),
    Claim("it is over sooner than with Reno-SACK", less("time_s", "reno-sack")),
    beside={"reno-sack": _ALL_BUT_ONE["reno-sack"]},
)
FIGURE_4C = figure(
    "4c",
    "FACK with Eifel, all delayed segments but one lost",
    _ALL_BUT_ONE["fack"],
    _SPURIOUS,
    _NO_GENUINE,
    Claim(
        "the last repair leaves sooner than with NewReno-SACK",
        lambda m: _last_repair_s(m.result()) < _last_repair_s(m.result(run="newreno-sack")),
    ),
    beside={"newreno-sack": _ALL_BUT_ONE["newreno-sack"]},
)


_LEVEL_SPURIOUS = Claim("the timeout is spurious", of(facts.first_timeout_is_spurious))
_WITHOUT_TIMESTAMPS = settings.level(settings.RENO_ALLOWED, eifel=False, timestamps=False)
_WITHOUT_EIFEL = settings.level(settings.RENO_ALLOWED, eifel=False)
_SETTLED_S, _OBSERVED_S = 10, 24
"""The paper: without Eifel "the RTO stabilizes approximately 10 s after the spurious timeout". The
transfers last longer than the second time.
"""
_WIDE = "150 segments"
"""The window of the paper's set-up. The spike is that of figures 1 to 5, before the queue has grown."""
_WIDELY = "... with the paper's window of 150 segments"
_WIDE_WITHOUT_EIFEL, _WIDE_WITHOUT_TIMESTAMPS = (
    settings.slow_link(settings.RENO_ALLOWED, eifel=False, timestamps=timestamps, data_bytes=settings.LEVEL_BYTES)
    for timestamps in (True, False)
)
_SLACK_S = 4
"""Before the spike there is a sample in these seconds, and go-back-N takes as many at least."""


def _spike_s(run: str) -> tuple[float, float]:
    return settings.SLOW_SPIKE_S if run.startswith(_WIDE) else settings.LEVEL_S


def _goes_without_samples(measured: Measured, run: str = "drawn") -> bool:
    """Returns whether the longest time without a sample is longer than the spike by as long as go-back-N takes."""
    start, end = _spike_s(run)
    return facts.largest_gap_s(measured.result(run=run), start - _SLACK_S) > end - start + _SLACK_S


def _returns_to_before(measured: Measured, run: str = "drawn") -> bool:
    """Returns whether the RTO from the first sample after the spike is near the last RTO before it."""
    start, end = _spike_s(run)
    samples = facts.rto_samples(measured.result(run=run))
    after = samples["rto_ns"][samples["t_ns"] > end * 1e9]
    return float(after[0]) / 1e9 < 1.5 * facts.rto_at_s(measured.result(run=run), start)


def _peak_s(measured: Measured, run: str = "drawn") -> float:
    timer = facts.rto_samples(measured.result(run=run))
    return float(timer["rto_ns"][timer["t_ns"] > _spike_s(run)[1] * 1e9].max()) / 1e9


def _is_very_high(measured: Measured, run: str = "drawn") -> bool:
    """Returns whether the RTO becomes more than three times as long after the spike as it was before."""
    return _peak_s(measured, run) > 3 * facts.rto_at_s(measured.result(run=run), _spike_s(run)[0])


def _gap_s(measured: Measured, run: str = "drawn") -> float:
    """Returns the longest time without a sample after the spike, in seconds."""
    return facts.largest_gap_s(measured.result(run=run), _spike_s(run)[1] + 0.5)


def _never_lower(measured: Measured, run: str, than: str, after_spike_s: Iterable[int]) -> bool:
    """Returns whether a run's RTO is at none of these times after its spike below another run's."""
    end_s = _spike_s(run)[1]
    own, other = measured.result(run=run), measured.result(run=than)
    return all(facts.rto_at_s(own, end_s + s) >= facts.rto_at_s(other, end_s + s) for s in after_spike_s)


def _at_end(result: Result) -> tuple[float, float]:
    """Returns FlightSize in bytes and the newest round trip in seconds, at the end of the observed time."""
    end_s = settings.SLOW_SPIKE_S[1] + _OBSERVED_S
    return facts.window_at(result, int(end_s * 1e9), "flight"), facts.rtt_at_s(result, end_s)


FIGURE_6A = figure(
    "6a",
    "RTO around a spurious timeout: Reno without timestamps",
    _WITHOUT_TIMESTAMPS,
    _LEVEL_SPURIOUS,
    Claim("while it goes back N no sample is taken: Karn's rule", _goes_without_samples),
    Claim(_WIDELY, partial(_goes_without_samples, run=_WIDE)),
    Claim(
        "TCP learns little: the RTO is back near its level before the spike, at most half higher", _returns_to_before
    ),
    Claim(f"{_WIDELY} too", partial(_returns_to_before, run=_WIDE)),
    draw=timer,
    beside={_WIDE: _WIDE_WITHOUT_TIMESTAMPS},
)
FIGURE_6B = figure(
    "6b",
    "RTO around a spurious timeout: Reno with timestamps",
    _WITHOUT_EIFEL,
    _LEVEL_SPURIOUS,
    Claim(
        "the original ACKs after the spike make the RTO very high: more than three times what it was before",
        _is_very_high,
    ),
    Claim("then duplicate ACKs give no samples for more than a second", lambda m: _gap_s(m) > 1),
    Claim(
        "it is more conservative than without timestamps",
        lambda m: _peak_s(m) > _peak_s(m, "without timestamps"),
    ),
    Claim(
        f"{_WIDELY} all three hold too",
        lambda m: (
            _is_very_high(m, _WIDE)
            and _gap_s(m, _WIDE) > 1
            and _peak_s(m, _WIDE) > _peak_s(m, f"{_WIDE}, without timestamps")
        ),
    ),
    draw=timer,
    beside={
        "without timestamps": _WITHOUT_TIMESTAMPS,
        _WIDE: _WIDE_WITHOUT_EIFEL,
        f"{_WIDE}, without timestamps": _WIDE_WITHOUT_TIMESTAMPS,
    },
)
FIGURE_6C = figure(
    "6c",
    "RTO around a spurious timeout: Reno with timestamps and Eifel",
    settings.level(settings.RENO_ALLOWED),
    DETECTED,
    Claim(
        "there is no idle period in the updates: the longest is shorter than without Eifel",
        lambda m: _gap_s(m) < _gap_s(m, "without eifel"),
    ),
    Claim(
        f"the RTO does not decrease as quickly: in no second of the {_OBSERVED_S} s after the spike is it below that "
        f"without Eifel (window of {settings.LEVEL_WINDOW} segments)",
        lambda m: _never_lower(m, "drawn", "without eifel", range(1, _OBSERVED_S + 1)),
    ),
    Claim(
        "... nor with the paper's window of 150 segments",
        lambda m: _never_lower(m, _WIDE, f"{_WIDE}, without eifel", range(1, _OBSERVED_S + 1)),
    ),
    Claim(
        f"with the paper's window it is not below it from {_SETTLED_S} s to {_OBSERVED_S} s after the spike",
        lambda m: _never_lower(m, _WIDE, f"{_WIDE}, without eifel", range(_SETTLED_S, _OBSERVED_S + 1)),
    ),
    Claim(
        f"then more is outstanding: at the end of these {_OBSERVED_S} s FlightSize and round trip are larger than "
        "without Eifel",
        lambda m: all(
            at_end > without
            for at_end, without in zip(
                _at_end(m.result(run=_WIDE)), _at_end(m.result(run=f"{_WIDE}, without eifel")), strict=True
            )
        ),
    ),
    draw=timer,
    beside={
        "without eifel": _WITHOUT_EIFEL,
        _WIDE: settings.slow_link(settings.RENO_ALLOWED, data_bytes=settings.LEVEL_BYTES),
        f"{_WIDE}, without eifel": _WIDE_WITHOUT_EIFEL,
    },
)
