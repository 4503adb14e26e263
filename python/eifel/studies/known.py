"""Known reasons why claims of studies fail, with the results of trials."""

from __future__ import annotations

TOOLS = (
    "at the sender 93 % of the spurious ones are called so. Most of the others are called undecidable: no timestamp "
    "and no report of a duplicate tells them from needed ones",
)
CAPTURES = (
    "causes at the receiver: with the undecided ones, 94.0 % are right, and between 96.8 %. Without timestamps, what a "
    "sender had heard is known to a round trip only, and a path that holds packets hides when they left",
)
