"""The values that the paper leaves open about tables 1-4, and their replacements."""

from dataclasses import dataclass
from typing import Any

from eifel.papers.artefact import Setting

BOTTLENECK_MS = 150
QUEUE_PACKETS = 75


@dataclass(frozen=True)
class Open:
    """The values that the paper leaves open about the path of tables 1-4."""

    one_way_delay_ms: float
    """The paper states 150 ms for the bottleneck; access links add the rest."""
    sender_share: float
    """The share of the rest on the sender's side. It determines the drops of a spike: ACKs that have left the
    bottleneck release new segments into a stalled queue.
    """
    payload_bytes: int
    """Of a full segment. The paper states an MSS of 1000 bytes and timestamps, which may take 12 of them."""
    first_spike_s: float
    cbr_packet_bytes: int
    """Headers included."""
    cbr_jitter: float
    """The share by which the intervals between datagrams vary. ns-2 calls 0.5 random."""
    ack_delay_ms: float
    hold: str = "behind"
    """Where a spike holds data. `behind` the bottleneck's queue, the queue fills. `before` it, all held segments
    reach the queue at once. `before-data` holds no ACKs.
    """
    queue_packets: int = QUEUE_PACKETS
    """The paper states 75; ns-2's delayer holds one more."""
    back_off_ends: str = "new-data"
    follows: str = "source"
    """The rules of loss recovery where the algorithm's source and ns-2.35 differ."""

    def access(self) -> dict[str, dict[str, Any]]:
        """Returns the dumbbell's access links, which complete the one-way delay of the whole path."""
        missing = self.one_way_delay_ms - BOTTLENECK_MS
        sides = {"left_access": missing * self.sender_share, "right_access": missing * (1 - self.sender_share)}
        return {side: {"rate_bps": "unlimited", "delay_ms": delay} for side, delay in sides.items()}


EARLIER = Open(
    one_way_delay_ms=190,
    sender_share=0.75,
    payload_bytes=988,
    first_spike_s=6,
    cbr_packet_bytes=64,
    cbr_jitter=0.5,
    ack_delay_ms=100,
)
"""The result of an earlier sweep with spikes behind the queue, judged by all rows. This sweep also begins with it."""
FIT = EARLIER
"""The one setting for all four tables with which `calibration.py` found the most values within tolerance."""

_SWEPT = ("responding.table1", "responding.table2", "responding.table3", "responding.table4")
"""All rows of these tables, by the sweep in docs/internals/calibration.md."""
FITTED = (
    Setting(
        "one-way delay",
        f"{FIT.one_way_delay_ms:g} ms; of what the bottleneck's 150 leave, {FIT.sender_share:.0%} on the sender's side",
        "150 ms are stated for the bottleneck; 150 ms in all is too short for table 1's 138 s. The side "
        "decides how much is lost when a spike begins, and so about Reno-SACK with Eifel and about options 2 and 3",
        rows=_SWEPT,
    ),
    Setting(
        "payload",
        f"{FIT.payload_bytes} bytes",
        "an MSS of 1000 bytes is stated, and timestamps, whose option takes 12 of them (RFC 6691) or, as in ns-2, "
        "none; so more rows agree in the segments sent",
        rows=_SWEPT,
    ),
    Setting(
        "first spike",
        f"{FIT.first_spike_s:g} s",
        "with a first spike at U(20,40) s most transfers would end before it",
        rows=_SWEPT,
    ),
    Setting(
        "CBR packets",
        f"{FIT.cbr_packet_bytes} bytes, intervals drawn within half of the mean",
        "1 Mbps is stated, the size of its packets is not; only small ones set the recovery algorithms apart",
        rows=_SWEPT,
    ),
    Setting(
        "spike interval",
        "start to start",
        "the paper's own rows are about 30 s a counted timeout",
        rows=("responding.table1: eifel off", "responding.table2: eifel off"),
    ),
    Setting(
        "end of a back-off",
        "an ACK for data that was unsent when the timer expired",
        "as RFC 2988 has it, which the paper cites, and ns-2's FACK; its Sack1 ends it with a partial ACK too. Where "
        "any valid sample ends it, Reno-SACK with Eifel and options 2 and 3 are faster: docs/internals/calibration.md",
        rows=("responding.table2: reno-sack, eifel on", "responding.table3: option-2", "responding.table3: option-3"),
    ),
    Setting(
        "window after timeouts",
        "as ns-2 keeps it",
        "each further timeout of a spike halves ssthresh again; with RFC 5681's rule see responding.rfc5681",
        rows=("responding.table1: eifel off",),
    ),
    Setting(
        "min++",
        "1 s for each expiry",
        "with 1 s for each verdict the minimum never reaches the spikes' length",
        rows=("responding.table4: min++",),
    ),
    Setting("ACK delay", f"{FIT.ack_delay_ms:g} ms", "delayed ACKs are stated, their timer is not"),
)
"""The replacements for what the paper leaves open. Rows to which a value was fitted are calibration; the others
confirm it.
"""
