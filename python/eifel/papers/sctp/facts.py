"""Reads facts off runs: the paper's sentences as predicates on the runs of the figures."""

import math
from collections.abc import Callable

import numpy as np

from eifel.papers.artefact import Key, Measured
from eifel.papers.claims import Check
from eifel.papers.sctp import settings
from eifel.result import Result
from eifel.tables import Frame

PRIMARY, ALTERNATE = 0, 1


def again(result: Result) -> Frame:
    return result.of("transmissions").where(kind="retransmission")


def all_needless(result: Result) -> bool:
    """Returns whether there are retransmissions, and none was needed."""
    sent = again(result)
    return len(sent) > 0 and bool((sent["needed"] == "spurious").all())


def window_retransmitted(result: Result, share: float = 0.9) -> bool:
    """Returns whether at least this share of the flight at the timeout is retransmitted needlessly."""
    episode = result.of("episodes").where(cause="timeout")
    outstanding = int(episode["recovery_point"][0] - episode["start"][0])
    return all_needless(result) and len(again(result)) >= share * outstanding


def all_on(path: int) -> Callable[[Result], bool]:
    return lambda result: bool((again(result)["path"] == path).all())


def cwnd(result: Result, path: int) -> Frame:
    return result.of("window").where(path=path)


def halves_window(result: Result) -> bool:
    """Returns whether the first fast retransmit leaves cwnd and ssthresh at half of the cwnd before it."""
    opened_ns = int(result.of("episodes").where(cause="fast-retransmit", path=PRIMARY)["opened_ns"][0])
    window = cwnd(result, PRIMARY)
    before, after = window["t_ns"] < opened_ns, window["t_ns"] == opened_ns
    half = float(window["cwnd"][before][-1]) / 2
    return all(abs(float(window[name][after][-1]) / half - 1) < 0.1 for name in ("cwnd", "ssthresh"))


def growth(result: Result, path: int = ALTERNATE) -> float:
    """Returns the last window of a path divided by its first."""
    window = cwnd(result, path)["cwnd"]
    return float(window[-1]) / float(window[0])


def restored(result: Result) -> int:
    """Returns the primary's cwnd just after the first verdict "spurious", in bytes."""
    episode = result.of("episodes").where(verdict="spurious", path=PRIMARY)
    window = cwnd(result, PRIMARY)
    after = window.rows(window["t_ns"] >= episode["verdict_ns"][0])
    same = after["t_ns"] == after["t_ns"][0]
    return int(after["cwnd"][same][-1])


def restores_window(result: Result) -> bool:
    """Returns whether the first verdict "spurious" restores the ssthresh that its loss signal cut, and raises cwnd."""
    episode = result.of("episodes").where(verdict="spurious", path=PRIMARY)
    window = cwnd(result, PRIMARY)
    before, cut, after = (
        window.rows(rows)
        for rows in (
            window["t_ns"] < episode["opened_ns"][0],
            window["t_ns"] == episode["opened_ns"][0],
            window["t_ns"] == episode["verdict_ns"][0],
        )
    )
    thresholds = [int(one["ssthresh"][-1]) for one in (before, cut, after)]
    return thresholds[0] == thresholds[2] != thresholds[1] and int(after["cwnd"][-1]) > int(cut["cwnd"][-1])


def restores_less(than: str) -> Check:
    """Checks that the drawn run restores a smaller window than another run."""
    return lambda m: restored(m.result(run="drawn")) < restored(m.result(run=than))


def verdict_s(result: Result) -> float:
    """Returns the time at which the first episode was called spurious, in seconds."""
    return float(result.of("episodes").where(verdict="spurious")["verdict_ns"][0]) / 1e9


def expires_once_needlessly(result: Result) -> bool:
    """Returns whether a timer expires once in the whole run, and nothing had been lost."""
    timeouts = result.of("episodes").where(cause="timeout")
    return len(result.of("timer").where(event="expired")) == 1 and timeouts["truth"].tolist() == ["spurious"]


def detected(cause: str) -> Callable[[Result], bool]:
    """Checks that a run's only loss signal is of this cause, needless in all it retransmits, and called spurious."""

    def check(result: Result) -> bool:
        episodes = result.of("episodes")
        judged = [episodes[name].tolist() for name in ("cause", "truth", "verdict")]
        return judged == [[cause], ["spurious"], ["spurious"]] and all_needless(result)

    return check


def undetected(result: Result) -> bool:
    """Returns whether a run's only loss signal is a spurious timeout, and the detector does not call it so."""
    episodes = result.of("episodes")
    causes, truths, verdicts = (episodes[name].tolist() for name in ("cause", "truth", "verdict"))
    return (causes, truths) == (["timeout"], ["spurious"]) and verdicts != ["spurious"]


def decided_by_original(result: Result) -> bool:
    """Returns whether the verdict comes before an ACK for the first retransmission can: a path's delay after it."""
    answered_s = float(again(result)["arrived_ns"][0]) / 1e9 + settings.DELAY_MS / 1000
    return verdict_s(result) < answered_s


def decided_by_reports(result: Result) -> bool:
    """Returns whether the verdict comes with the last report of a duplicate: one for each retransmission."""
    episode = result.of("episodes").where(verdict="spurious")
    acks = result.of("acks")
    reports = acks.rows(acks["dsack_start"] >= 0)
    return len(reports) == len(again(result)) and bool(reports["t_ns"][-1] == episode["verdict_ns"][0])


def decided_after_recovery_s(result: Result) -> float:
    """Returns the time from the end of loss recovery to the verdict in seconds; negative while recovery lasts."""
    episode = result.of("episodes").where(verdict="spurious")
    return float(episode["verdict_ns"][0] - episode["closed_ns"][0]) / 1e9


def overtaken(result: Result) -> tuple[int, int]:
    """Returns the number of retransmissions that arrived before the original, and of all."""
    sent = result.of("transmissions")
    originals = sent.where(kind="new")
    arrived = dict(zip(originals["start"].tolist(), originals["arrived_ns"].tolist(), strict=True))
    copies = again(result)
    first = [0 <= at < arrived[start] for start, at in zip(copies["start"], copies["arrived_ns"], strict=True)]
    return int(np.sum(first)), len(first)


def sent_after_spike(measured: Measured, run: str, for_s: float = math.inf) -> int:
    """Returns the new chunks that a run sends from the spike's begin on, for some seconds."""
    sent = measured.result(run=run).of("transmissions").where(kind="new")["t_ns"] / 1e9 - settings.SPIKE_S
    return int(((sent >= 0) & (sent < for_s)).sum())


def gain(measured: Measured, column: str, over: str, sender: str = "eifel", **keys: Key) -> float:
    """Returns the difference of a column between two senders, in the column's unit."""
    return mean(measured, column, sender=sender, **keys) - mean(measured, column, sender=over, **keys)


def mean(measured: Measured, column: str, **keys: Key) -> float:
    """Returns a mean of the setting that is drawn, unless `setting` names another."""
    if "setting" in measured.artefact.keys:
        keys = {"setting": settings.DRAWN, **keys}
    return measured.mean(column, **keys)


def share(measured: Measured, column: str, over: str, sender: str = "eifel", **keys: Key) -> float:
    """Returns that difference as a share of the other's value."""
    return gain(measured, column, over, sender, **keys) / mean(measured, column, sender=over, **keys)


WITHIN = "within a third"
"""The tolerance of `near`, in the words of claims."""


def near(found: float, published: float) -> bool:
    """Returns whether a gain is within a third of the printed one, which the paper calls approximate."""
    return abs(found - published) <= abs(published) / 3
