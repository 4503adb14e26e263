"""Reads the sender's and the receiver's traces of a run: the chapter's sentences as predicates."""

import numpy as np
from numpy.typing import NDArray

from eifel.papers.artefact import Measured
from eifel.papers.thesis.hiccup import PACKET_S
from eifel.result import Result
from eifel.tables import Frame


def sent(result: Result, **wanted: str | int) -> Frame:
    """Returns transmissions in order of time. `kind="retransmission", needed="spurious"` selects some."""
    return result.of("transmissions").where(**wanted)


def acks(result: Result) -> Frame:
    """Returns ACKs in order of time."""
    return result.of("acks")


def hiccup(result: Result) -> tuple[float, float]:
    """Returns the begin and the end of the hiccup, in seconds."""
    spikes = result.frame("spikes")
    return float(spikes["start_ns"][0]) / 1e9, float(spikes["end_ns"][0]) / 1e9


def between(frame: Frame, start_s: float, end_s: float) -> Frame:
    """Returns the rows from `start_s` (included) to `end_s` (excluded)."""
    return frame.rows((frame["t_ns"] >= start_s * 1e9) & (frame["t_ns"] < end_s * 1e9))


def seconds(frame: Frame, row: int = 0) -> float:
    """Returns the time of a row in seconds. Raises LookupError if the frame is empty."""
    if not len(frame):
        raise LookupError("nothing of the kind happens")
    return float(frame["t_ns"][row]) / 1e9


def retransmitted_at(result: Result) -> float:
    """Returns the time of the first retransmission in seconds."""
    return seconds(sent(result, kind="retransmission"))


def first_ack_of_retransmission(result: Result) -> float:
    """Returns the time of the first ACK for the first retransmitted segment, in seconds."""
    again = sent(result, kind="retransmission")
    at, start = seconds(again), int(again["start"][0])
    after = acks(result)
    return seconds(after.rows((after["t_ns"] > at * 1e9) & (after["cumulative"] > start)))


def arrivals_of(result: Result, kind: str) -> NDArray[np.int64]:
    """Returns transmission numbers of this kind in order of arrival."""
    wanted = sent(result, kind=kind)["tx"]
    arrived = result.of("arrivals")["tx"]
    return np.asarray(arrived[np.isin(arrived, wanted)])


def one_retransmission_during(result: Result) -> bool:
    """Returns whether exactly one segment has been retransmitted when the hiccup ends."""
    return len(between(sent(result, kind="retransmission"), *hiccup(result))) == 1


def acked_and_clocked_out(result: Result) -> bool:
    """Returns whether ACKs arrive during the hiccup, and each clocks out one new segment."""
    during = hiccup(result)
    came, left = between(acks(result), *during), between(sent(result, kind="new"), *during)
    return len(came) > 0 and bool(np.array_equal(came["t_ns"], left["t_ns"]))


def goes_back_n(result: Result) -> bool:
    """Returns whether everything outstanding at the timeout is retransmitted, though nothing was lost."""
    episode = result.of("episodes").where(cause="timeout")
    start, end = int(episode["start"][0]), int(episode["recovery_point"][0])
    again = sent(result, kind="retransmission", needed="spurious", cause="timeout")
    return bool(np.isin(np.arange(start, end, int(again["len"][0])), again["start"]).all())


def duplicate_acks(result: Result, end_s: float) -> int:
    """Returns the number of duplicate ACKs before a time."""
    before = between(acks(result), 0, end_s)
    return int((np.diff(before["cumulative"]) == 0).sum())


def flight_segments(result: Result, at_s: float) -> float:
    """Returns the flight size at a time, in full segments."""
    window = result.of("window")
    before = window["flight"][window["t_ns"] <= at_s * 1e9]
    if not len(before):
        raise LookupError(f"no window before {at_s} s")
    return float(before[-1]) / float(sent(result)["len"].max())


def near(found_s: float, printed_s: float, packets: float = 1) -> bool:
    """Returns whether a time equals the printed one, within some packet times on the line."""
    return abs(found_s - printed_s) <= packets * PACKET_S


def window_restored(measured: Measured) -> bool:
    """Returns whether the verdict restores cwnd at least, and ssthresh exactly, to the values before the episode."""
    result = measured.result()
    episode = result.of("episodes").where(verdict="spurious")
    window = result.of("window")
    after = window.rows(window["t_ns"] >= episode["verdict_ns"][0])
    saved = (int(episode["saved_cwnd"][0]), int(episode["saved_ssthresh"][0]))
    now = (int(after["cwnd"][0]), int(after["ssthresh"][0]))
    return now[0] >= saved[0] and now[1] == saved[1]


def idle_share(result: Result, start_s: float, end_s: float) -> float:
    """Returns the share of an interval without arriving data, beyond a packet time for each arrival."""
    arrivals = result.of("arrivals")["t_ns"] / 1e9
    here = arrivals[(arrivals >= start_s) & (arrivals <= end_s)]
    gaps = np.diff(np.concatenate([[start_s], np.sort(here), [end_s]]))
    return float(np.maximum(gaps - PACKET_S * 1.01, 0).sum() / (end_s - start_s))
