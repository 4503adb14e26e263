"""What detectors said of each episode of a run with one flow, beside the truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from eifel.result import Result
from eifel.tables import Frame

TABLES = ("episodes", "verdicts", "transmissions", "acks")
"""What has to be recorded."""
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
    """A row for each episode and each of these detectors, given as the name to be shown and the name in the registry.

    `episode`; `cause`; `truth`, the oracle's word on all retransmissions up to the next episode; `needed_bytes`, those
    of them that were needed; `lost`, whether any transmission of what was outstanding then was lost; `detector`;
    `verdict`, the first that it gave; `delay_rtts`, from the loss signal to the verdict, in smoothed round trips as
    they were then, NaN without; `needless_bytes`, sent again for nothing until then, or until the next episode;
    `header_bytes` and `data_bytes`, what the detector costs in headers and what was sent, of the whole run, shared out
    among its episodes.
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
                # What leaves at the instant of the verdict, leaves after it.
                "needless_bytes": needless.between(opened, at),
                "header_bytes": np.full(len(number), header_bytes(result, name) / share, np.float32),
                "data_bytes": np.full(len(number), sent_bytes / share, np.float32),
            }
        )
    return {column: np.concatenate([row[column][known] for row in rows]) for column in rows[0]}


def header_bytes(result: Result, detector: str) -> int:
    """The bytes of headers that a detector needs and that a connection with SACK would not have, both ways.

    Timestamps on every segment and ACK; the block of a DSACK where there is one. Marks are bits that are there anyway.
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
    """Sums of what happened between instants."""

    def __init__(self, t_ns: NDArray[Any], amount: NDArray[Any]) -> None:
        self._t_ns = t_ns
        self._before = np.concatenate([[0], np.cumsum(amount)])

    def between(self, since: NDArray[Any], until: NDArray[Any]) -> NDArray[Any]:
        """From `since` on, and before `until`."""
        first, beyond = (np.searchsorted(self._t_ns, t_ns, "left") for t_ns in (since, until))
        total: NDArray[Any] = self._before[beyond] - self._before[first]
        return total
