"""What a spurious timeout costs: a recursion over round trips, for a sender in steady state on a path without loss.

A spike holds a whole window of segments and ends after the timer has expired once. The path then
delivers all of it, so that a window of ACKs reaches the sender at once. The model follows the
window of Reno (RFC 5681) from there, ACK by ACK in this first round trip, and then round trip by
round trip, until it carries as much as before:

- Without detection the sender repeats all outstanding segments (go-back-N in slow start) up to half
  the window, and grows by a segment a round trip.
- A detector that judges by the first ACK leaves one needless retransmission. The response decides
  from which window the sender continues ("Responding to Spurious Timeouts in TCP", section III.B;
  RFC 4015, section 3.1, step 9).

The cost is the new data that the path could have carried meanwhile. As time, it is the delay of
everything after the spike.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from eifel.errors import BadInputError

RESTORING = ("option-1", "option-4", "option-4-ssthresh", "rfc4015", "as-carried", "linux")
"""The responses that continue with the window before the timeout: on this path they differ by a segment at the most."""
CUT = ("option-2", "option-3", "none")
"""The responses that continue from half of it, at once (`option-2`) or by slow start while the ACKs come in."""
UNDETECTED = "no detection"
LEAST_WINDOW = 4
"""The smallest window, in segments. Half of a smaller one is not below the least ssthresh."""
RESPONSES = (*RESTORING, *CUT, UNDETECTED)


@dataclass(frozen=True)
class SpuriousTimeout:
    """One spurious timeout of a sender that keeps `window_segments` in flight.

    Example: `SpuriousTimeout(rtt_ms=100, window_segments=40, response="option-2").time_ms`.
    """

    rtt_ms: float
    """The round trip of a path without queue."""
    window_segments: int
    """The flight before the timeout, in full segments."""
    response: str = "rfc4015"
    """The response by its name in the registry, or `no detection`."""
    segment_ms: float = 0.0
    """The bottleneck's time for a segment. 0: the window alone limits the transfer."""

    def __post_init__(self) -> None:
        if self.response not in RESPONSES:
            raise BadInputError(f"response = {self.response!r}; allowed: {', '.join(RESPONSES)}")
        if self.window_segments < LEAST_WINDOW:
            raise BadInputError(f"window_segments = {self.window_segments}; allowed: {LEAST_WINDOW} or more")
        if not 0 < self.rtt_ms < float("inf") or not 0 <= self.segment_ms < float("inf"):
            raise BadInputError("rtt_ms has to be above 0, and segment_ms 0 or more")

    @property
    def carried(self) -> float:
        """The segments that the path carries in a round trip before the timeout."""
        capacity = self.rtt_ms / self.segment_ms if self.segment_ms else float("inf")
        return min(self.window_segments, capacity)

    @property
    def needless(self) -> int:
        """The needless retransmissions."""
        return self.window_segments if self.response == UNDETECTED else 1

    @cached_property
    def windows(self) -> list[int]:
        """The new segments sent in each round trip from the verdict on, until they are as many as before."""
        if self.response in RESTORING:
            return []
        half = max(self.window_segments // 2, 2)
        window = float(half if self.response == "option-2" else 1)
        # Each ACK of the window that was held: slow start up to half of it, then congestion avoidance. Until the window
        # is above what is still outstanding, nothing new leaves.
        for _ in range(self.window_segments):
            window += 1 if window < half else 1 / window
        sent: list[int] = []
        # Only whole segments leave.
        while int(window) < self.carried:
            sent.append(int(window))
            for _ in range(sent[-1]):
                window += 1 / window
        return sent

    @property
    def missing(self) -> float:
        """The new segments that the path could have carried meanwhile."""
        return sum(self.carried - window for window in self.windows)

    @property
    def time_ms(self) -> float:
        """The delay of everything after the spike.

        The first retransmission leaves while the path is silent. All others delay what follows.
        """
        return self.missing * self.rtt_ms / self.carried + (self.needless - 1) * self.segment_ms
