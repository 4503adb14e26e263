"""Reads facts off a recorded run: the paper's sentences as predicates on the drawn run."""

from eifel.result import Result
from eifel.tables import Frame

FLOW = 0
"""The figures always show the first flow."""


def retransmissions(result: Result, **wanted: str | tuple[str, ...]) -> Frame:
    """Returns the flow's retransmissions in order of time. `needed="spurious"`, for example, selects some."""
    return result.of("transmissions", FLOW).where(kind="retransmission", **wanted)


def timeout_episodes(result: Result, truth: str | None = None) -> Frame:
    """Returns the flow's episodes opened by a timeout, in order of time, optionally by the oracle's truth."""
    episodes = result.of("episodes", FLOW).where(cause="timeout")
    return episodes if truth is None else episodes.where(truth=truth)


def first_timeout_is_spurious(result: Result) -> bool:
    """Returns whether nothing was lost when the retransmission timer first expired."""
    return str(timeout_episodes(result)["truth"][0]) == "spurious"


def first_timeout_is_detected(result: Result) -> bool:
    """Returns whether the first timeout was spurious, and the detector said so."""
    episode = timeout_episodes(result)
    return [str(episode[name][0]) for name in ("truth", "verdict")] == ["spurious", "spurious"]


def goes_back_n(result: Result, share: float = 0.8) -> bool:
    """Returns whether at least this share of the flight at the first timeout is retransmitted needlessly."""
    episode = timeout_episodes(result)
    opened, start, end = (int(episode[name][0]) for name in ("opened_ns", "start", "recovery_point"))
    again = retransmissions(result, needed="spurious")
    again = again.rows((again["t_ns"] >= opened) & (again["start"] >= start) & (again["start"] < end))
    return int(again["len"].sum()) >= share * (end - start)


def only_first_is_retransmitted(result: Result) -> bool:
    """Returns whether needless retransmissions are of the oldest segment only."""
    again = retransmissions(result, needed="spurious")
    oldest = int(timeout_episodes(result)["start"][0])
    return len(again) > 0 and bool((again["start"] == oldest).all())


def resumes_with_new_data(result: Result) -> bool:
    """Returns whether the first segment sent after the verdict "spurious" is new."""
    verdict_ns = int(timeout_episodes(result).where(verdict="spurious")["verdict_ns"][0])
    sent = result.of("transmissions", FLOW)
    after = sent.rows(sent["t_ns"] >= verdict_ns)
    return str(after["kind"][0]) == "new"


def window_at(result: Result, t_ns: int, name: str = "cwnd") -> int:
    """Returns a variable of the window as last recorded before a time, in bytes."""
    window = result.of("window", FLOW)
    before = window[name][window["t_ns"] < t_ns]
    if len(before) == 0:
        raise LookupError(f"no {name} before {t_ns} ns")
    return int(before[-1])


def window_after(result: Result, t_ns: int, name: str = "cwnd") -> int:
    """Returns a variable of the window at its first record from `t_ns` on, after all changes at that time."""
    window = result.of("window", FLOW)
    after = window.rows(window["t_ns"] >= t_ns)
    if len(after) == 0:
        raise LookupError(f"no {name} after {t_ns} ns")
    same = after["t_ns"] == after["t_ns"][0]
    return int(after[name][same][-1])


def restores_window(result: Result) -> bool:
    """Returns whether the verdict restores cwnd at least to its value before the timeout."""
    episode = timeout_episodes(result).where(verdict="spurious")
    before = window_at(result, int(episode["opened_ns"][0]))
    return window_after(result, int(episode["verdict_ns"][0])) >= before


def silence_after_verdict_s(result: Result) -> float:
    """Returns the seconds without transmissions after the first verdict "spurious"."""
    verdict_ns = int(timeout_episodes(result).where(verdict="spurious")["verdict_ns"][0])
    sent = result.of("transmissions", FLOW)["t_ns"]
    later = sent[sent >= verdict_ns]
    if len(later) == 0:
        raise LookupError("nothing is sent after the verdict")
    return float(later[0] - verdict_ns) / 1e9


def rto_samples(result: Result) -> Frame:
    """Returns the flow's samples of the round trip, in order of time."""
    return result.of("timer", FLOW).where(event="sample")


def largest_gap_s(result: Result, after_s: float) -> float:
    """Returns the longest time without a sample of the round trip after a given time, in seconds."""
    instants = rto_samples(result)["t_ns"]
    instants = instants[instants >= after_s * 1e9]
    if len(instants) < 2:
        raise LookupError(f"no two samples of the round trip after {after_s} s")
    return float((instants[1:] - instants[:-1]).max()) / 1e9


def rtt_at_s(result: Result, t_s: float) -> float:
    """Returns the round trip as last sampled before a time, in seconds."""
    samples = rto_samples(result)
    before = samples["rtt_ns"][samples["t_ns"] < t_s * 1e9]
    if len(before) == 0:
        raise LookupError(f"no sample before {t_s} s")
    return float(before[-1]) / 1e9


def rto_at_s(result: Result, t_s: float) -> float:
    """Returns the retransmission timeout as last recorded before a time, in seconds."""
    timer = result.of("timer", FLOW)
    before = timer["rto_ns"][timer["t_ns"] < t_s * 1e9]
    if len(before) == 0:
        raise LookupError(f"no RTO before {t_s} s")
    return float(before[-1]) / 1e9
