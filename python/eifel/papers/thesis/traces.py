"""What can be read off the sender's and the receiver's trace of a run: the chapter's sentences, as questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eifel.papers.thesis.hiccup import PACKET_S

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from eifel.papers.measured import Measured
    from eifel.result import Result
    from eifel.tables import Frame


def sent(result: Result, **wanted: str | int) -> Frame:
    """Transmissions in time; `kind="retransmission", needed="spurious"` pick some."""
    return result.of("transmissions").where(**wanted)


def acks(result: Result) -> Frame:
    """ACKs in time."""
    return result.of("acks")


def hiccup(result: Result) -> tuple[float, float]:
    """From when until when packets were held, in seconds."""
    spikes = result.frame("spikes")
    return float(spikes["start_ns"][0]) / 1e9, float(spikes["end_ns"][0]) / 1e9


def between(frame: Frame, start_s: float, end_s: float) -> Frame:
    """The rows from an instant on and before another."""
    return frame.rows((frame["t_ns"] >= start_s * 1e9) & (frame["t_ns"] < end_s * 1e9))


def seconds(frame: Frame, row: int = 0) -> float:
    """The instant of a row. Raises LookupError if there is none."""
    if not len(frame):
        raise LookupError("nothing of the kind happens")
    return float(frame["t_ns"][row]) / 1e9


def retransmitted_at(result: Result) -> float:
    """The instant of the first retransmission."""
    return seconds(sent(result, kind="retransmission"))


def first_ack_of_retransmission(result: Result) -> float:
    """When the first ACK came that acknowledges what was retransmitted first."""
    again = sent(result, kind="retransmission")
    at, start = seconds(again), int(again["start"][0])
    after = acks(result)
    return seconds(after.rows((after["t_ns"] > at * 1e9) & (after["cumulative"] > start)))


def arrivals_of(result: Result, kind: str) -> NDArray[np.int64]:
    """Transmission numbers of this kind in the order in which they arrived."""
    wanted = sent(result, kind=kind)["tx"]
    arrived = result.of("arrivals")["tx"]
    return np.asarray(arrived[np.isin(arrived, wanted)])


def one_retransmission_during(result: Result) -> bool:
    """Whether the sender has sent one segment again, and no more, when the hiccup ends."""
    return len(between(sent(result, kind="retransmission"), *hiccup(result))) == 1


def acked_and_clocked_out(result: Result) -> bool:
    """Whether all that was outstanding is acknowledged during the hiccup, and each ACK clocks out one new segment."""
    during = hiccup(result)
    came, left = between(acks(result), *during), between(sent(result, kind="new"), *during)
    return len(came) > 0 and bool(np.array_equal(came["t_ns"], left["t_ns"]))


def goes_back_n(result: Result) -> bool:
    """Whether everything outstanding at the timeout is sent again, and nothing of it was lost."""
    episode = result.of("episodes").where(cause="timeout")
    start, end = int(episode["start"][0]), int(episode["recovery_point"][0])
    again = sent(result, kind="retransmission", needed="spurious", cause="timeout")
    return bool(np.isin(np.arange(start, end, int(again["len"][0])), again["start"]).all())


def duplicate_acks(result: Result, end_s: float) -> int:
    """Duplicate ACKs before an instant."""
    before = between(acks(result), 0, end_s)
    return int((np.diff(before["cumulative"]) == 0).sum())


def flight_segments(result: Result, at_s: float) -> float:
    """What is in flight at an instant, in full segments."""
    window = result.of("window")
    before = window["flight"][window["t_ns"] <= at_s * 1e9]
    if not len(before):
        raise LookupError(f"no window before {at_s} s")
    return float(before[-1]) / float(sent(result)["len"].max())


def near(found_s: float, printed_s: float, packets: float = 1) -> bool:
    """Whether an instant is the printed one, within the time of some packets on the line."""
    return abs(found_s - printed_s) <= packets * PACKET_S


def window_restored(measured: Measured) -> bool:
    """Whether cwnd and ssthresh are, once the verdict is in, at least what they were when the episode began."""
    result = measured.result()
    episode = result.of("episodes").where(verdict="spurious")
    window = result.of("window")
    after = window.rows(window["t_ns"] >= episode["verdict_ns"][0])
    saved = (int(episode["saved_cwnd"][0]), int(episode["saved_ssthresh"][0]))
    now = (int(after["cwnd"][0]), int(after["ssthresh"][0]))
    return now[0] >= saved[0] and now[1] == saved[1]
