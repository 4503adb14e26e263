"""Responses, grants and timers of your own, as classes of Python.

```python
class Halfway(eifel.Response):
    \"\"\"Back to the middle between the window before and now.\"\"\"

    def respond(self, episode, saved, window):
        return eifel.Window((saved.window.cwnd + window.cwnd) // 2, saved.window.ssthresh)

eifel.run("examples/spike.toml", settings={"flow.main.sender.respond": Halfway})
```
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from eifel.detectors import Own
from eifel.errors import BadInputError

Plain = tuple[int, int | None]


@dataclass(frozen=True, slots=True)
class Window:
    """A congestion window and a slow-start threshold, in bytes. `ssthresh` is None while it is unset.

    Example: `eifel.Window(cwnd=14600, ssthresh=None)`.
    """

    cwnd: int
    ssthresh: int | None


@dataclass(frozen=True, slots=True)
class Episode:
    """A spurious episode, as its response sees it. Lengths are in bytes."""

    cause: str
    """"timeout" or "fast-retransmit"."""
    timeouts: int
    """Timeouts of the oldest segment; 0 after a fast retransmit."""
    fast_retransmitted: bool
    """Whether a fast retransmit of that segment came before its first timeout."""
    flight: int
    """FlightSize at the verdict, after the ACK."""
    acked: int
    """Bytes newly acknowledged by the ACK that settled it; 0 if no ACK did."""
    ece: bool
    """Whether that ACK carried ECN-Echo."""
    ece_in_episode: bool
    """Whether any ACK since the loss signal did."""
    loss_seen: bool
    """Whether the path has ever had a loss signal that was not judged spurious."""
    before_repair: Window
    """The window before the fast recovery in which the timer expired; else the one before the loss signal."""
    mss: int
    initial_window: int


@dataclass(frozen=True, slots=True)
class Saved:
    """What was kept at the loss signal. Lengths are in bytes."""

    window: Window
    """The window before the loss signal reduced it."""
    reduced: Window
    """The window after that."""
    flight: int
    peer_window: int
    srtt_ns: int | None
    rttvar_ns: int | None


def _kept(fields: Mapping[str, Any]) -> Saved:
    return Saved(**{**fields, "window": Window(*fields["window"]), "reduced": Window(*fields["reduced"])})


def _episode(fields: Mapping[str, Any]) -> Episode:
    return Episode(**{**fields, "before_repair": Window(*fields["before_repair"])})


def _plain(window: Any, method: str) -> Plain:
    """Returns the window that a method returned, for the engine. Raises TypeError or ValueError if it is none."""
    if not isinstance(window, Window):
        raise TypeError(f"{method} returned {window!r}; expected a Window")
    for name, value in (("cwnd", window.cwnd), ("ssthresh", window.ssthresh)):
        if value is None and name == "ssthresh":
            continue
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"{method} returned {name} = {value!r}; expected a whole number of bytes")
        if not 1 <= value < 2**63:
            raise ValueError(f"{method} returned {name} = {value}; expected 1 byte or more, and less than 2^63")
    return window.cwnd, window.ssthresh


class Response(Own):
    """How much is undone after a spurious retransmission? It cannot see packets.

    Example: `eifel.run("examples/spike.toml", settings={"flow.main.sender.respond": Mine})`.
    """

    seam = "respond"
    defines = "respond(self, episode, saved, window)"
    restores_growth: ClassVar[bool] = True
    """Whether congestion control also takes back what the loss signal did to its own state, such as CUBIC's curve."""

    def respond(self, episode: Episode, saved: Saved, window: Window) -> Window:
        """Returns the window from now on. `window` is the current one."""
        raise NotImplementedError(f"{type(self).__name__} does not define {self.defines}")

    def reseeds(self, episode: Episode, saved: Saved) -> bool:
        """Returns whether the first sample of data that was unsent at the timeout re-seeds the timer.

        RFC 4015, section 3.1, step 11.
        """
        return False

    def lets_grow(self, episode: Episode) -> bool:
        """Returns whether the ACK that caused the verdict may also grow the window."""
        return True

    def respond_partly(self, needless: int, resent: int, saved: Saved, window: Window) -> Window:
        """Returns the window where something was lost, but `needless` of `resent` retransmissions were not needed."""
        return window

    def responded(self, episode: Mapping[str, Any], saved: Mapping[str, Any], window: Plain) -> tuple[Plain, bool]:
        """Is called by the engine."""
        of, before = _episode(episode), _kept(saved)
        changed = _plain(self.respond(of, before, Window(*window)), "respond")
        return changed, bool(self.reseeds(of, before))

    def let_grow(self, episode: Mapping[str, Any]) -> bool:
        """Is called by the engine."""
        return bool(self.lets_grow(_episode(episode)))

    def responded_partly(self, needless: int, resent: int, saved: Mapping[str, Any], window: Plain) -> Plain:
        """Is called by the engine."""
        return _plain(self.respond_partly(needless, resent, _kept(saved), Window(*window)), "respond_partly")

    @classmethod
    def described(cls, _defines: Callable[[str], bool]) -> dict[str, Any]:
        """Returns what the engine has to know of responses alone."""
        return {"restores_growth": bool(cls.restores_growth)}


class Grant(Own):
    """May it be undone? It guards the window against verdicts, which a peer may have forged.

    Example: `eifel.run("examples/spike.toml", settings={"flow.main.sender.grant": Mine})`.
    """

    seam = "grant"
    defines = "grants(self, opened_ns, now_ns, srtt_ns)"

    def grants(self, opened_ns: int, now_ns: int, srtt_ns: int | None) -> bool:
        """Returns whether an episode that was opened at `opened_ns`, and is now judged spurious, may be undone.

        Times are nanoseconds since the run began. `srtt_ns` is None without samples.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define {self.defines}")

    def lost(self, sent_ns: int) -> None:
        """Learns of a loss signal that stands. The segment in question was sent at `sent_ns`."""


class Timer(Own):
    """How long to wait before giving a segment up? It estimates. Limits and back-off are the engine's.

    Example: `eifel.run("examples/spike.toml", settings={"flow.main.sender.rto": Mine})`.
    """

    seam = "rto"
    defines = "sample(self, rtt_ns, acked, window, now_ns)"
    initial_ms: ClassVar[float] = 1000
    """The RTO before the first sample (RFC 6298, section 2.1)."""
    minimum_ms: ClassVar[float] = 1000
    maximum_ms: ClassVar[float] = 60_000
    granularity_ms: ClassVar[float] = 1
    """G, the clock's granularity. Twice it is added to the SRTT that a verdict restores (RFC 4015, step 0)."""

    rto_ns: int | None = None
    """The RTO without back-off, which `sample` and `seed` set. None before the first sample."""
    srtt_ns: int | None = None
    rttvar_ns: int | None = None

    def sample(self, rtt_ns: int, acked: int, window: Window, now_ns: int) -> bool | None:
        """Processes a round-trip sample. Returns False if it does not end the back-off.

        `acked` bytes were newly acknowledged; `window` is the one before the ACK grows it.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define {self.defines}")

    def seed(self, srtt_ns: int, rttvar_ns: int) -> None:
        """Restarts the estimate, as a verdict requests: RTO = SRTT + 4 RTTVAR unless a subclass says otherwise."""
        self.srtt_ns, self.rttvar_ns, self.rto_ns = srtt_ns, rttvar_ns, srtt_ns + 4 * rttvar_ns

    def on_verdict(self, spurious: bool) -> None:
        """Learns the verdict on an episode that the timer opened."""

    def sampled(self, rtt_ns: int, acked: int, window: Plain, now_ns: int) -> tuple[tuple[int, int, int] | None, bool]:
        """Is called by the engine."""
        ends = self.sample(rtt_ns, acked, Window(*window), now_ns) is not False
        return self._said(), ends

    def seeded(self, srtt_ns: int, rttvar_ns: int) -> tuple[int, int, int] | None:
        """Is called by the engine."""
        self.seed(srtt_ns, rttvar_ns)
        return self._said()

    def judged(self, spurious: bool) -> tuple[int, int, int] | None:
        """Is called by the engine."""
        self.on_verdict(spurious)
        return self._said()

    def _said(self) -> tuple[int, int, int] | None:
        if self.rto_ns is None:
            return None
        srtt_ns = self.rto_ns if self.srtt_ns is None else self.srtt_ns
        said = {"rto_ns": self.rto_ns, "srtt_ns": srtt_ns, "rttvar_ns": self.rttvar_ns or 0}
        for name, value in said.items():
            if not isinstance(value, int) or not 0 <= value < 2**62:
                raise TypeError(f"{name} = {value!r}; expected a whole number of nanoseconds from 0 on")
        return self.rto_ns, srtt_ns, self.rttvar_ns or 0

    @classmethod
    def described(cls, _defines: Callable[[str], bool]) -> dict[str, Any]:
        """Returns what the engine has to know of timers alone."""
        times = {name: getattr(cls, f"{name}_ms") for name in ("initial", "minimum", "maximum", "granularity")}
        for name, value in times.items():
            if not isinstance(value, int | float) or not 0 <= value <= 1e9 or (name == "initial" and not value):
                raise BadInputError(f"{name}_ms = {value!r}; expected milliseconds from 0 to 10^9, and a first RTO")
        return {f"{name}_ns": round(value * 1e6) for name, value in times.items()}
