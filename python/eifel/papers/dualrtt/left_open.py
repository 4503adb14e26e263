"""The settings that sections V and VII leave open: fitted to a printed row, or chosen."""

from eifel.papers.artefact import Setting
from eifel.papers.dualrtt import grid, parking_lot

GRID = (
    Setting(
        "length of the spikes",
        f"even from {grid.LENGTH_S[0]:g} to {grid.LENGTH_S[1]:g} s",
        "not stated; section VII has 3 to 15 s, by which Eifel would find four in five of table IV's first row",
        rows=("dualrtt.table4: rate kbps 31.2",),
    ),
    Setting(
        "M of tables IV and V",
        "576 bytes",
        "their captions say 1500; equation (5) has the same six values of tau for 576, and so have the spikes: with "
        "1500 bytes ACKs are 2.6 times as far apart, and each of the best values of tau is another",
        rows=("dualrtt.table4", "dualrtt.table5"),
    ),
    Setting("D", ", ".join(map(str, grid.DELAYS_MS)) + " ms", "seven from 100 to 2000"),
    Setting("M", ", ".join(map(str, grid.MTUS_BYTES)) + " bytes", "four from 576 to 4352: X.25, SLIP, Ethernet, FDDI"),
    Setting("headers", "20 bytes, and 12 more with timestamps", "tables I and VIII"),
    Setting(
        "timer",
        "RFC 6298, G 100 ms, at least 200 ms, 6 s before the first sample",
        "not stated; the Lite timer of figures 2 to 5 expires all the time where a round trip is a few ticks",
    ),
    Setting("first spike", "after 30 round trips", "not stated; RTTVAR is at rest by then"),
)
"""Section V: tables IV and V, figures 7 to 9, the model."""


PARKING_LOT = (
    Setting("links", "W3-W4, W5-W6 as their neighbours", "not in table VII; 1.4 s end to end asks for it"),
    Setting(
        "bottleneck's queue",
        f"{parking_lot.BOTTLENECK_QUEUE} packets",
        "not stated; with ns-2's 50 nothing is lost behind a spike, with 21 and 22 what the paper tells of figure 13 "
        "happens, and with 20 so much is lost that nothing is gained over Reno at the highest rates",
        rows=("all rows of figure 13 above 200 kbit/s",),
    ),
    Setting("other queues", "50 packets", "not stated; ns-2's default"),
    Setting("cross traffic", "packets of 1000 bytes, windows of 20", "not stated; ns-2's defaults"),
    Setting(
        "exponential source",
        "always has data",
        "it offers 3.9 Mbit/s on average to a connection whose window carries 0.13",
    ),
    Setting(
        "spikes",
        "from the end of one 20 to 40 s to the next",
        "gives the three of a session",
        rows=("all rows of figures 13 to 15: three spikes a session",),
    ),
    Setting("ACKs", "one a segment", "not stated"),
    Setting(
        "recovery",
        "Reno with the bugfix of RFC 2582, and no fast retransmit below the recovery point after an undo",
        "not stated; without, the duplicates that DualRTT's few retransmissions bring cause a spurious fast retransmit "
        "after each spike, and it delivers a fifth less than Eifel",
        rows=("all rows of figures 13 to 15: DualRTT delivers what Eifel does",),
    ),
    Setting("timer", "RFC 6298, G 100 ms, at least 200 ms", "not stated"),
    Setting("tau", "0.1", "section V.B: while the path is not known"),
)
"""Section VII: figures 13 to 15."""
