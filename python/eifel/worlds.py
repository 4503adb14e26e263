"""Small worlds: every fate of a few segments and of their acknowledgements, counted and judged."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

from eifel import scenario as scenarios
from eifel.errors import BadInputError


@dataclass(frozen=True)
class Arrow:
    """A packet from one end to the other. Times in milliseconds since the first of the segments could leave."""

    left_ms: float
    arrived_ms: Sequence[float]
    """When its copies arrived: none, one or two."""
    from_sender: bool
    label: str
    """The number of its segment, or what it acknowledges."""
    fate: Literal["delivered", "delayed", "duplicated", "lost"]


@dataclass(frozen=True)
class Ladder:
    """A world as it is drawn."""

    fates: str
    """What became of its packets, in words; only of those that did not just arrive."""
    text: str
    arrows: Sequence[Arrow]
    notes: Sequence[tuple[float, str]]
    """What the sender's engine told: when in milliseconds, and what."""


@dataclass(frozen=True)
class Failed:
    """In how many worlds something went wrong, and the smallest of them; None if there is none."""

    worlds: int
    smallest: Ladder | None


@dataclass(frozen=True)
class Worlds:
    """Counts over all worlds."""

    counts: Mapping[str, Any]
    """`worlds`, those that were `run` (the others are the same as one of these), `with_loss`, `with_episode`; episodes
    `undone`; `after_timeout` and `after_duplicates`: episodes by what the oracle says of the first retransmission, and
    by what the detector said.
    """
    failed: Mapping[str, Failed]
    """By kind: see docs/worlds.md."""

    @property
    def caught(self) -> int:
        """Episodes that were spurious, and called so."""
        return sum(self.counts[cause]["needless"]["spurious"] for cause in ("after_timeout", "after_duplicates"))

    def _repr_html_(self) -> str:
        """What a notebook shows: the counts of worlds, and of those in which something went wrong."""
        plain = {name: count for name, count in self.counts.items() if isinstance(count, int)}
        counted = {**plain, **{kind: failed.worlds for kind, failed in self.failed.items()}}
        rows = "".join(f"<tr><td>{escape(name)}</td><td>{count}</td></tr>" for name, count in counted.items())
        return f"<table><tbody>{rows}</tbody></table>"


def small_worlds(
    scenario: scenarios.ScenarioLike | scenarios.Source,
    *,
    segments: int = 6,
    before: int = 2,
    after: int = 6,
    held_until: Literal["timeout", "loss-signal"] = "timeout",
    late_ms: int = 10,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Worlds:
    """Runs every fate of `segments` segments (at most 8: 16 times as many worlds for each) and of their ACKs.

    Example: `eifel.small_worlds("examples/spike.toml", segments=4)`.

    Settings and algorithms are those of the scenario's first flow over TCP; nothing else of it counts. `before` full
    segments go before these, and `after` follow, all delivered. A delayed packet is held until the sender's timer
    expires, or until it believes in a loss, and arrives `late_ms` after that; what is sent then takes 50 ms.

    Raises ScenarioError for a scenario that is refused, BadInputError for a number out of its bounds.
    """
    size = {"segments": segments, "before": before, "after": after, "held_until": held_until, "late_ms": late_ms}
    return _all(scenario, (), size, threads, progress)[0]


def small_worlds_each(
    scenario: scenarios.ScenarioLike | scenarios.Source,
    responses: Sequence[str],
    *,
    segments: int = 6,
    before: int = 2,
    after: int = 6,
    held_until: Literal["timeout", "loss-signal"] = "timeout",
    late_ms: int = 10,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, Worlds]:
    """The same as `small_worlds`, for each of these responses in the place of the scenario's.

    Example: `eifel.small_worlds_each("examples/spike.toml", ["none", "option-1"], segments=3)`.

    What they have in common, which is everything until the first verdict, is run once: some are little more work than
    one. Raises BadInputError for a response that there is not, too.
    """
    size = {"segments": segments, "before": before, "after": after, "held_until": held_until, "late_ms": late_ms}
    if not responses:
        raise BadInputError("small worlds: no responses; expected one at least")
    return dict(zip(responses, _all(scenario, responses, size, threads, progress), strict=True))


def _all(
    scenario: scenarios.ScenarioLike | scenarios.Source,
    responses: Sequence[str],
    size: Mapping[str, Any],
    threads: int | None,
    progress: Callable[[int, int], object] | None,
) -> list[Worlds]:
    from eifel import _engine

    source = scenarios.load(scenario)
    try:
        found = _engine.small_worlds(
            source.text,
            source.origin,
            responses=list(responses),
            threads=threads,
            progress=progress,
            **size,
        )
    except OverflowError:
        raise BadInputError("small worlds: a number is negative or too large") from None
    except _engine.ScenarioError:
        raise
    except ValueError as error:
        raise BadInputError(f"small worlds: {error}") from None
    each: list[dict[str, Any]] = json.loads(found)
    return [Worlds(counts, {one["name"]: _failed(one) for one in counts.pop("failures")}) for counts in each]


def _failed(found: Mapping[str, Any]) -> Failed:
    smallest = found["smallest"]
    if smallest is None:
        return Failed(found["worlds"], None)
    drawn = smallest["drawn"]
    arrows = [Arrow(**arrow) for arrow in drawn["arrows"]]
    notes = [(note["at_ms"], note["text"]) for note in drawn["notes"]]
    return Failed(found["worlds"], Ladder(smallest["fates"], smallest["ladder"], arrows, notes))
