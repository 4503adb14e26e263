"""Combined troubles: delay spikes with each pair of seven others, drawn like the mix."""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import combinations_with_replacement
from random import Random
from typing import Any

from eifel.studies.mix import PAYLOAD_BYTES, Extra, Situation, Way, log_uniform
from eifel.studies.situations import REORDERED_PACKETS, any_spikes

POINTS = 20
"""The number of scenarios per pair."""
DURATION_S = 200

Part = Callable[[Random, Way], Mapping[str, Mapping[str, Any]]]


def _loss(draw: Random, _way: Way) -> Extra:
    return {"link": {"loss": {"kind": "random", "rate": log_uniform(draw, (0.002, 0.03))}}}


def _reordering(draw: Random, _way: Way) -> Extra:
    length = draw.randint(*REORDERED_PACKETS)
    return {"link": {"reorder": {"rate": log_uniform(draw, (0.002, 0.02)), "length": length}}}


def _lost_acks(draw: Random, _way: Way) -> Extra:
    return {"back": {"loss": {"kind": "random", "rate": draw.uniform(0.05, 0.3)}}}


def _copied_acks(draw: Random, _way: Way) -> Extra:
    return {"back": {"duplicate": {"rate": log_uniform(draw, (0.01, 0.2))}}}


def _two_way(_draw: Random, _way: Way) -> Extra:
    return {"flow": {"application": {"kind": "exchange", "bytes": 10**9, "back_bytes": 10**9}}}


def _closing_windows(draw: Random, way: Way) -> Extra:
    # The application reads half a window at a time, about as fast as the path delivers it.
    every_ms = 500 * way.window * PAYLOAD_BYTES * 8 / way.rate_bps * draw.uniform(0.5, 2)
    return {"flow": {"reading": {"bytes": max(1, way.window * PAYLOAD_BYTES // 2), "every_ms": every_ms}}}


def _no_timestamps(_draw: Random, _way: Way) -> Extra:
    return {"tcp": {"timestamps": False}}


TROUBLES: Mapping[str, Part] = {
    "loss": _loss,
    "reordering": _reordering,
    "lost ACKs": _lost_acks,
    "copied ACKs": _copied_acks,
    "two-way": _two_way,
    "closing windows": _closing_windows,
    "no timestamps": _no_timestamps,
}
"""The troubles that are combined with spikes."""


def _met(draw: Random, way: Way, _point: int, *, names: tuple[str, ...]) -> Extra:
    met: dict[str, Any] = {"spike": any_spikes(draw, way)}
    for name in names:
        for place, parts in TROUBLES[name](draw, way).items():
            met[place] = {**met.get(place, {}), **parts}
    return met


def _situation(one: str, other: str) -> Situation:
    names = tuple(dict.fromkeys((one, other)))
    named = f"spikes with {' and '.join(names)}"
    return Situation(named, f"delay {named}", POINTS, partial(_met, names=names))


PAIRS = tuple(combinations_with_replacement(TROUBLES, 2))
"""Each trouble alone, and each pair."""
CROSSED = tuple(_situation(*pair) for pair in PAIRS)
"""The situations of these pairs."""
