"""What is known of the values of tables 1-4 that are not as printed.

Numbers in these sentences are the paper's own. What was measured stands in the tables themselves and in
docs/calibration.md, which are generated.
"""

PLAIN = (
    "Without Eifel more is sent again than printed, and so Eifel saves a larger part of all segments: the first spike "
    "meets a full window of 150, of which nearly all is sent again.",
)
"""Table 1."""

FACK = (
    "FACK with Eifel sends again less than half of what is printed; so does ns-2.35's own FACK with every timeout "
    "undone (docs/ns2.md). The paper's own rows say where the rest is: back-off and min++ save 59 and 57 "
    "segments, whether they save 1.3 spurious timeouts or 0.8. Both save expiries of the timer within a spike. Each "
    "costs one segment here and some ten in print.",
)
"""Tables 2 to 4."""

TOGETHER = (
    "In print spurious and genuine timeouts together are as many as spikes begin, in every row of tables 1 and 2: one "
    "in 30 s. So a genuine one stands there in the place of a spurious one. Here most of those without Eifel come "
    "before the first spike, when slow start has overrun the queue, and count besides.",
)
"""Table 2."""

RENO_SACK = (
    "Reno-SACK with Eifel, and options 2 and 3, hang on the side of the bottleneck on which the rest of the delay "
    "lies, and on when a back-off ends: docs/calibration.md has both, one change at a time.",
    "They meet fewer genuine timeouts than printed, each of which takes longer.",
)
"""Tables 2 and 3."""

TIMERS = ("The minimum of min++ grows too slowly: each expiry adds 1 s, and spikes last 9 s on average.",)
"""Table 4."""

FRONT = (
    "This cannot be had under one setting: docs/calibration.md lists the front of the sweep. With Eifel the paper "
    "sends two to four times as much again. The rest must lie in its own Eifel or in the ns-2 of its time: ns-2.35 "
    "sends as rarely again over the same spikes, behind the queue and before it (docs/ns2.md).",
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

CALIBRATION = """\
## What is known of the rows that are outside

- **The end of a back-off** decides about the times of Reno-SACK with Eifel and of options 2 and 3. After a spike the
  timer is backed off two or three times; an original's ACK brings a valid sample, but is no ACK for new data. ns-2 had
  no other end of a back-off before July 2003. Its Sack1 ends the back-off with a partial ACK as well.
- **The side of the access delay** decides about the same rows. When a spike begins, ACKs that have left the bottleneck
  go on letting segments into a queue that stands still. The longer the way between sender and bottleneck, the more of
  a window comes to that queue after the spike has begun, and the more of its end is lost; Reno-SACK counts that as
  under way, and waits for the timer.
- **A spike before the queue** releases all held segments at once, and the queue drops what it cannot hold. Transfers
  with Eifel then end too early.
- **Whose rules loss recovery follows** changes little alone. But what is sent again comes nearest to print with ns-2's
  rules ([ns2.md](ns2.md)), the whole access delay on the sender's side and CBR packets of 210 to 300 bytes; the times
  are lost by it.
- **Spurious and genuine timeouts together** are as many as spikes begin, in every printed row of tables 1 and 2: one in
  30 s. So a genuine one stands there in the place of a spurious one: one spike in nine finds the oldest segment lost,
  with all three senders, but for Reno-SACK with Eifel. Here most genuine ones come before the first spike, when slow
  start has overrun the queue, and count besides.
- **FACK with Eifel** sends less than half as much again as printed (options 1 and 4, std, reseed). The paper's own rows
  say where the rest is: back-off and min++ save 59 and 57 segments, and 1.3 and 0.8 spurious timeouts. What they save
  alike is expiries within a spike; so in print a further expiry of the same spike costs some ten segments, where it
  costs one here.
"""
"""What docs/calibration.md says beside what was tried."""
