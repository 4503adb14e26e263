"""Responses, grants and timers of Python that are the registry's, written again from the same sources."""

from __future__ import annotations

import eifel
from eifel.senders import Episode, Saved


class Rfc4015(eifel.Response):
    """The Eifel response (RFC 4015, section 3.1, steps 0, 9 and 11)."""

    def respond(self, episode: Episode, saved: Saved, window: eifel.Window) -> eifel.Window:
        if episode.ece:
            return window
        restored = episode.flight + min(episode.acked, episode.initial_window)
        if episode.cause == "fast-retransmit":
            restored = min(restored, saved.window.cwnd)
        before = saved.window.ssthresh
        return eifel.Window(max(restored, episode.mss), None if before is None else max(saved.flight, before))

    def reseeds(self, episode: Episode, saved: Saved) -> bool:
        return episode.cause == "timeout"

    def lets_grow(self, episode: Episode) -> bool:
        return episode.ece


class PartialCredit(eifel.Response):
    """Undoes in proportion, up to 0.7 of the old window."""

    def respond(self, episode: Episode, saved: Saved, window: eifel.Window) -> eifel.Window:
        return saved.window

    def respond_partly(self, needless: int, resent: int, saved: Saved, window: eifel.Window) -> eifel.Window:
        cut = saved.reduced.ssthresh or 0
        part = max(saved.window.cwnd - cut, 0) * needless // max(resent, 1)
        return eifel.Window(window.cwnd, max(window.ssthresh or 0, min(cut + part, saved.window.cwnd * 7 // 10)))


class OnceARoundTrip(eifel.Grant):
    """Refuses the undo of episodes that began within a round trip after an undo."""

    def __init__(self) -> None:
        self.until_ns = 0

    def grants(self, opened_ns: int, now_ns: int, srtt_ns: int | None) -> bool:
        if opened_ns < self.until_ns:
            return False
        self.until_ns = now_ns + (srtt_ns or 0)
        return True


class Rfc6298(eifel.Timer):
    """SRTT + k RTTVAR (RFC 6298, section 2)."""

    def __init__(self, k: int = 4) -> None:
        self.k = k

    def sample(self, rtt_ns: int, acked: int, window: eifel.Window, now_ns: int) -> None:
        if self.srtt_ns is None or self.rttvar_ns is None:
            self.srtt_ns, self.rttvar_ns = rtt_ns, rtt_ns // 2
        else:
            self.rttvar_ns += (abs(self.srtt_ns - rtt_ns) - self.rttvar_ns) >> 2
            self.srtt_ns += (rtt_ns - self.srtt_ns) >> 3
        self.rto_ns = self.srtt_ns + max(1_000_000, self.k * self.rttvar_ns)


class Failing(eifel.Response):
    """Returns what is no window."""

    def respond(self, episode: Episode, saved: Saved, window: eifel.Window) -> eifel.Window:
        return episode.cwnd  # type: ignore[attr-defined,no-any-return]


class NoWindow(eifel.Response):
    """Returns a number."""

    def respond(self, episode: Episode, saved: Saved, window: eifel.Window) -> eifel.Window:
        return 7  # type: ignore[return-value]


class Unfinished(eifel.Grant):
    """Defines nothing."""


SAME = {
    "respond": {
        "own_senders:Rfc4015": "rfc4015",
        "own_senders:PartialCredit": "partial-credit",
    },
    "grant": {"own_senders:OnceARoundTrip": "once-a-round-trip"},
    "rto": {"own_senders:Rfc6298": "rfc6298"},
}
"""Classes, and the registry's algorithms that they are, by seam."""
