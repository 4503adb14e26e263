"""What is known of why claims of studies fail, with the numbers of what was tried."""

from __future__ import annotations

CAPTURES = (
    "causes away from the sender: of those seen, 95.6 % between and 93.6 % at the receiver. Without timestamps, what a "
    "sender had heard is known to a round trip only, and a path that holds packets hides when they left",
)
