"""Detectors' verdicts on each episode of a run with one flow, beside the truth."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from eifel.result import Result
from eifel.tables import Frame

TABLES = ("episodes", "verdicts", "transmissions", "acks")
"""The tables to record."""
UNDECIDED, SPURIOUS, GENUINE = 0, 1, 2
"""Codes of `verdict`."""
NEEDLESS, NEEDED, MIXED = 1, 2, 3
"""Codes of `truth`: none of the episode's retransmissions was needed, all of them were, or some were."""
TIMEOUT, FAST_RETRANSMIT = 1, 2
"""Codes of `cause`."""

_TIMESTAMPS_BYTES = 12
_DSACK_BYTES = 8
_FIRST_BLOCK_BYTES = 4

Columns = dict[str, NDArray[Any]]


def judged(result: Result, detectors: Mapping[str, str]) -> Columns:
    """Returns a row per episode and detector. `detectors` maps displayed names to registry names.

    The columns are `episode`, `cause` and `detector`, and:
    - `truth`: the oracle's word on all retransmissions up to the next episode, and in `needed_bytes` the needed ones.
    - `lost`: whether any transmission of the data outstanding at the loss signal was lost.
    - `verdict`: the detector's first; `delay_rtts`: the time to it, in smoothed round trips at the loss signal, or NaN.
    - `needless_bytes`: retransmitted needlessly before the verdict, or before the next episode.
    - `header_bytes`, `data_bytes`: the detector's headers and all that was sent, divided among the run's episodes.
    """
    episodes, again = result.of("episodes"), _retransmissions(result)
    known = (episodes["truth"] != "") & (episodes["saved_srtt_ns"] > 0)
    number, opened = episodes["episode"], episodes["opened_ns"]
    until = np.append(opened[1:], np.iinfo(np.int64).max)
    needless, needed = (Sum(again["t_ns"], again["len"] * (again["needed"] == word)) for word in ("spurious", "needed"))
    needed_bytes = needed.between(opened, until)
    partly = np.where(needless.between(opened, until) > 0, MIXED, NEEDED)
    common = {
        "episode": number,
        "cause": np.where(episodes["cause"] == "timeout", TIMEOUT, FAST_RETRANSMIT).astype(np.int8),
        "truth": np.where(needed_bytes > 0, partly, NEEDLESS).astype(np.int8),
        "needed_bytes": needed_bytes,
        "lost": _lost(result, episodes),
    }
    verdicts = result.of("verdicts")
    sent_bytes = int(pc.sum(result.tables["transmissions"]["len"]).as_py() or 0)
    rows: list[Columns] = []
    for place, name in enumerate(detectors.values()):
        said = verdicts.where(detector=name)
        spoke, first = np.unique(said["episode"], return_index=True)
        where = np.searchsorted(number, spoke)
        verdict, at = np.zeros(len(number), np.int8), until.copy()
        verdict[where] = np.where(said["verdict"][first] == "spurious", SPURIOUS, GENUINE)
        at[where] = said["t_ns"][first]
        delay = np.where(verdict != UNDECIDED, (at - opened) / np.maximum(episodes["saved_srtt_ns"], 1), np.nan)
        share = max(int(known.sum()), 1)
        rows.append(
            {
                **common,
                "detector": np.full(len(number), place, np.int8),
                "verdict": verdict,
                "delay_rtts": delay.astype(np.float32),
                # Segments that leave at the time of the verdict leave after it.
                "needless_bytes": needless.between(opened, at),
                "header_bytes": np.full(len(number), header_bytes(result, name) / share, np.float32),
                "data_bytes": np.full(len(number), sent_bytes / share, np.float32),
            }
        )
    return {column: np.concatenate([row[column][known] for row in rows]) for column in rows[0]}


def header_bytes(result: Result, detector: str) -> int:
    """Returns the header bytes, both ways, that a detector needs beyond a connection with SACK.

    Timestamps cost bytes on every segment and ACK, and DSACK a block where there is one. Marks use existing bits.
    """
    acks = result.tables["acks"]
    if detector in ("eifel-timestamps", "eifel-or-f-rto"):
        return _TIMESTAMPS_BYTES * int(result.tables["transmissions"].num_rows + acks.num_rows)
    if detector == "dsack":
        reported = acks.filter(acks["dsack_start"].is_valid())
        return int(_DSACK_BYTES * reported.num_rows + _FIRST_BLOCK_BYTES * reported["sack1_start"].null_count)
    return 0


def _lost(result: Result, episodes: Frame) -> NDArray[np.bool_]:
    sent = result.tables["transmissions"].select(["t_ns", "start", "fate", "end"])
    dropped = Frame(sent.filter(pc.and_(pc.equal(sent["fate"], "dropped"), pc.equal(sent["end"], "from"))))
    of_each = {name: episodes[name][:, None] for name in ("opened_ns", "start", "recovery_point")}
    outstanding = (of_each["start"] <= dropped["start"]) & (dropped["start"] < of_each["recovery_point"])
    return np.asarray((outstanding & (dropped["t_ns"] < of_each["opened_ns"])).any(axis=1))


def _retransmissions(result: Result) -> Frame:
    sent = result.tables["transmissions"].select(["t_ns", "len", "kind", "needed", "end"])
    return Frame(sent.filter(pc.and_(pc.equal(sent["kind"], "retransmission"), pc.equal(sent["end"], "from"))))


class Sum:
    """Sums of amounts between two times."""

    def __init__(self, t_ns: NDArray[Any], amount: NDArray[Any]) -> None:
        self._t_ns = t_ns
        self._before = np.concatenate([[0], np.cumsum(amount)])

    def between(self, since: NDArray[Any], until: NDArray[Any]) -> NDArray[Any]:
        """Returns the sums from `since` (included) to `until` (excluded)."""
        first, beyond = (np.searchsorted(self._t_ns, t_ns, "left") for t_ns in (since, until))
        total: NDArray[Any] = self._before[beyond] - self._before[first]
        return total
