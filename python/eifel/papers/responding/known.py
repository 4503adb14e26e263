"""Known causes of the differences between the values of tables 1-4 and print.

Numbers in these sentences are the paper's. Measured numbers are in the tables and in the generated
docs/internals/calibration.md.
"""

PLAIN = (
    "Without Eifel the sender sends more again than printed, so Eifel saves a larger share of all segments. The first "
    "spike meets a full window of 150, of which nearly all is sent again.",
)
"""Table 1."""

FACK = (
    "FACK with Eifel retransmits less than half of the printed number; so does ns-2.35's own FACK with every timeout "
    "undone (docs/internals/ns2.md). Two printed rows show where the rest is: back-off and min++ save 59 and 57 "
    "segments, though they save 1.3 and 0.8 spurious timeouts. Both save expiries of the timer within a spike. Each "
    "costs one segment here and some ten in print.",
)
"""Tables 2 to 4."""

TOGETHER = (
    "In print spurious and genuine timeouts together are as many as spikes, in every row of tables 1 and 2: one in "
    "30 s. So in print a genuine timeout replaces a spurious one. Here most genuine timeouts without Eifel come before "
    "the first spike, when slow start has overrun the queue; they add to those of spikes.",
)
"""Table 2."""

RENO_SACK = (
    "Reno-SACK with Eifel, and options 2 and 3, depend on the side of the bottleneck that has the rest of the delay, "
    "and on the end of a back-off: docs/internals/calibration.md has both, one change at a time.",
    "They have fewer genuine timeouts than printed, and each takes longer.",
)
"""Tables 2 and 3."""

TIMERS = ("The minimum of min++ grows too slowly: each expiry adds 1 s, and spikes last 9 s on average.",)
"""Table 4."""

FRONT = (
    "No setting meets all of it: docs/internals/calibration.md lists the front of the sweep. With Eifel the paper's "
    "senders retransmit two to four times as much. The cause must be the paper's own Eifel or its version of ns-2: "
    "ns-2.35 retransmits as little as this project over the same spikes, behind the queue and before it "
    "(docs/internals/ns2.md).",
)
"""The sweep."""

RED = (
    "Reno-SACK with Eifel is worse on the congested link with Adaptive RED as with drop-tail, for the same reason: its "
    "large holes end in genuine timeouts. The paper gives no numbers for Adaptive RED.",
)
"""Adaptive RED."""

STALLS = (
    "The first of the hundred transfers of table 2 is drawn, and it has one genuine timeout. On average there are half "
    "as many as in the paper, which has 5.",
)
"""Figure 9 (a)."""
