"""What can be read off runs: the sentences of the paper, as questions to the runs that the figures show."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from eifel.papers.artefact import Key
from eifel.papers.measured import Measured
from eifel.papers.sctp import settings

if TYPE_CHECKING:
    from eifel.result import Result
    from eifel.tables import Frame

PRIMARY, ALTERNATE = 0, 1


def of(question: Callable[[Result], bool]) -> Callable[[Measured], bool]:
    """A question to the first run as a claim's check."""
    return lambda measured: question(measured.results[0])


def number(name: str, compare: Callable[[float], bool]) -> Callable[[Measured], bool]:
    """A question to one number of the first run's summary as a claim's check."""
    return lambda measured: compare(float(measured.results[0].main[name]))


def again(result: Result) -> Frame:
    """The retransmissions, in time."""
    return result.of("transmissions").where(kind="retransmission")


def all_needless(result: Result) -> bool:
    """Whether there are retransmissions, and none was needed."""
    sent = again(result)
    return len(sent) > 0 and bool((sent["needed"] == "spurious").all())


def window_sent_again(result: Result, share: float = 0.9) -> bool:
    """Whether at least this share of what was outstanding at the timeout is sent again, needlessly."""
    episode = result.of("episodes").where(cause="timeout")
    outstanding = int(episode["recovery_point"][0] - episode["start"][0])
    return all_needless(result) and len(again(result)) >= share * outstanding


def all_on(path: int) -> Callable[[Result], bool]:
    """Whether each retransmission leaves on this path."""
    return lambda result: bool((again(result)["path"] == path).all())


def cwnd(result: Result, path: int) -> Frame:
    """The window of a path, in time."""
    return result.of("window").where(path=path)


def growth(result: Result, path: int = ALTERNATE) -> float:
    """The last window of a path over its first."""
    window = cwnd(result, path)["cwnd"]
    return float(window[-1]) / float(window[0])


def restored(result: Result) -> int:
    """The primary's cwnd just after the first verdict of spurious, in bytes."""
    episode = result.of("episodes").where(verdict="spurious", path=PRIMARY)
    window = cwnd(result, PRIMARY)
    after = window.rows(window["t_ns"] >= episode["verdict_ns"][0])
    same = after["t_ns"] == after["t_ns"][0]
    return int(after["cwnd"][same][-1])


def verdict_s(result: Result) -> float:
    """When the first episode was called spurious."""
    return float(result.of("episodes").where(verdict="spurious")["verdict_ns"][0]) / 1e9


def overtaken(result: Result) -> tuple[int, int]:
    """Retransmissions that arrived before the original, and all of them."""
    sent = result.of("transmissions")
    originals = sent.where(kind="new")
    arrived = dict(zip(originals["start"].tolist(), originals["arrived_ns"].tolist(), strict=True))
    copies = again(result)
    first = [0 <= at < arrived[start] for start, at in zip(copies["start"], copies["arrived_ns"], strict=True)]
    return int(np.sum(first)), len(first)


def sent_after_spike(measured: Measured, run: str, for_s: float = math.inf) -> int:
    """New chunks that a run sends from the spike on, for some seconds: what it gains or loses by it."""
    sent = measured.result(run=run).of("transmissions").where(kind="new")["t_ns"] / 1e9 - settings.SPIKE_S
    return int(((sent >= 0) & (sent < for_s)).sum())


def gain(measured: Measured, column: str, over: str, sender: str = "eifel", **keys: Key) -> float:
    """What one sender has more of a column than another: in the column's unit."""
    return measured.mean(column, sender=sender, **keys) - measured.mean(column, sender=over, **keys)


def share(measured: Measured, column: str, over: str, sender: str = "eifel", **keys: Key) -> float:
    """The same as a share of the other's value."""
    return gain(measured, column, over, sender, **keys) / measured.mean(column, sender=over, **keys)


def near(found: float, published: float) -> bool:
    """Whether a gain is the published one, within a third of it: it was read off a figure, and said to be about so."""
    return abs(found - published) <= abs(published) / 3
