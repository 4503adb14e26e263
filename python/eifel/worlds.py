"""Small worlds: every fate of a few segments and of their ACKs, counted and judged."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

from eifel import scenario as scenarios
from eifel.errors import BadInputError


@dataclass(frozen=True)
class Arrow:
    """A packet from one end to the other. Times are milliseconds since the first segment could leave."""

    left_ms: float
    arrived_ms: Sequence[float]
    """The arrival times of its copies: none, one or two."""
    from_sender: bool
    label: str
    """The number of its segment, or the number that it acknowledges."""
    fate: Literal["delivered", "delayed", "duplicated", "lost"]


@dataclass(frozen=True)
class Ladder:
    fates: str
    """The fates of packets that did not simply arrive, in words."""
    text: str
    arrows: Sequence[Arrow]
    notes: Sequence[tuple[float, str]]
    """The reports of the sender's engine: time in milliseconds, and text."""


@dataclass(frozen=True)
class Failed:
    """The number of worlds with a failure, and the smallest of them; None without any."""

    worlds: int
    smallest: Ladder | None


@dataclass(frozen=True)
class Worlds:
    """Counts over all worlds."""

    counts: Mapping[str, Any]
    """`worlds`, `run` (the others equal one of these), `with_loss` and `with_episode` count worlds;
    `undone` counts episodes. `after_timeout` and `after_duplicates` count episodes by the oracle's
    truth about the first retransmission, and by the detector's verdict.
    """
    failed: Mapping[str, Failed]
    """By kind of failure; see docs/internals/worlds.md."""

    @property
    def caught(self) -> int:
        """The number of spurious episodes that were called spurious."""
        return sum(self.counts[cause]["needless"]["spurious"] for cause in ("after_timeout", "after_duplicates"))

    def _repr_html_(self) -> str:
        """Returns a notebook's view: the counts of worlds, and of failures by kind."""
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
    """Tries every fate of `segments` segments (at most 8) and of their ACKs. Each more costs a factor of 16.

    Example: `eifel.small_worlds("examples/spike.toml", segments=4)`.

    Only settings and algorithms of the scenario's first TCP flow are used. `before` full segments
    precede these, and `after` follow, all delivered. A delayed packet is held until the sender's
    timer expires, or until the sender has a loss signal, and arrives `late_ms` later. Packets sent
    after that take 50 ms.

    Raises ScenarioError for a refused scenario, and BadInputError for a number out of bounds.
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
    """Runs `small_worlds` with each of these responses instead of the scenario's.

    Example: `eifel.small_worlds_each("examples/spike.toml", ["none", "option-1"], segments=3)`.

    Everything up to the first verdict is shared and run once, so several responses cost little more
    than one. Also raises BadInputError for an unknown response.
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
