"""The settings shared by the tables and figures: stated by the paper, or fitted."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from eifel.flows import main_flow
from eifel.papers import published, rfc3522
from eifel.papers.artefact import Column, Key, Row
from eifel.papers.responding.left_open import BOTTLENECK_MS, EARLIER, FIT, FITTED, QUEUE_PACKETS, Open

SOURCE = 'A. Gurtov and R. Ludwig, "Responding to Spurious Timeouts in TCP", INFOCOM 2003'

REPETITIONS = 100
"""As in the paper."""
SEED = 1

__all__ = ["BOTTLENECK_MS", "EARLIER", "FIT", "FITTED", "QUEUE_PACKETS", "Open"]

# --- Tables 1-4, figures 8 and 9 -------------------------------------------------------------------------------------

BYTES = 5_000_000
BOTTLENECK_BPS = 2_000_000
MSS_BYTES = 1000
RECEIVE_WINDOW_BYTES = 150_000
SPIKE_LENGTH_S = (3, 15)
SPIKE_INTERVAL_S = (20, 40)
CBR_BPS = 1_000_000


PRINTED = published.numbers("responding", "claims")
"""The numbers of the paper's text."""


def as_printed(found: float, printed: float, column: str) -> bool:
    """Returns whether a ratio of two values is as printed, within the tolerance of their column."""
    share = next(one.relative for one in COLUMNS if one.name == column)
    return share is not None and abs(found / printed - 1) <= share


COLUMNS = (
    Column("time_s", "Time, s", digits=1, relative=0.10),
    Column("segments_sent", "Segments sent", digits=0, relative=0.01),
    Column("retransmissions", "Retransmitted", digits=0, relative=0.15),
    Column("spurious_rtos", "Spurious RTOs", summary="spurious_timeouts", relative=0.15, absolute=0.3),
    Column("genuine_rtos", "Genuine RTOs", summary="genuine_timeouts", relative=0.15, absolute=0.3),
)
"""The columns of tables 1-4, with their tolerances."""

BOTTLENECK_LINKS = ["bottleneck", "bottleneck-back"]
"""A spike stops both directions simultaneously."""
HOLDS: Mapping[str, Mapping[str, Any]] = {
    "behind": {"links": BOTTLENECK_LINKS, "holds": "sending"},
    "before": {"links": ["left1-entry", "right1-exit"], "holds": "arriving"},
    "before-data": {"links": ["left1-entry"], "holds": "arriving"},
}
"""The links that a spike holds, by `Open.hold`. The CBR flow enters behind the access links, so it
is not held before the queue.
"""

QUEUES: Mapping[str, Mapping[str, Any]] = {
    "drop-tail": {"kind": "drop-tail", "packets": QUEUE_PACKETS},
    "adaptive-red": {"kind": "adaptive-red", "packets": QUEUE_PACKETS},
}


def dumbbell(
    recovery: str | Mapping[str, Any],
    *,
    eifel: bool,
    congested: bool = False,
    restore: str = "option-1",
    rto_adaptation: str = "std",
    queue: str = "drop-tail",
    window: str = "of-its-time",
    fit: Open | None = None,
) -> dict[str, Any]:
    """Returns the scenario of section IV.A: one transfer, spikes that stop both directions, optionally a CBR flow."""
    fit = FIT if fit is None else fit
    end = sender(
        recovery if fit.follows == "source" else {**_named(recovery), "follows": fit.follows},
        eifel=eifel,
        restore=restore,
        rto_adaptation=rto_adaptation,
        window=window,
    )
    end["rto"]["back_off_ends"] = fit.back_off_ends
    flows: list[dict[str, Any]] = [
        {
            "name": "main",
            "from": "left1",
            "to": "right1",
            "application": {"kind": "bulk", "bytes": BYTES},
            "handshake": False,
            "tcp": tcp(ack_delay_ms=fit.ack_delay_ms) | {"payload_bytes": fit.payload_bytes},
            "sender": end,
        }
    ]
    if congested:
        size = {"packet_bytes": fit.cbr_packet_bytes, "jitter": fit.cbr_jitter}
        flows.append(
            {
                "name": "cbr",
                # Attached at the bottleneck's ends, since access links would only cost events.
                "from": "entry",
                "to": "exit",
                # Repetitions then differ in its phase.
                "start_s": {"uniform": [0, 1]},
                "application": {"kind": "cbr", "rate_bps": CBR_BPS, **size},
            }
        )
    return {
        "seed": SEED,
        "duration_s": 10_000,
        "dumbbell": {
            "left": 1,
            "right": 1,
            "bottleneck": {
                "rate_bps": BOTTLENECK_BPS,
                "delay_ms": BOTTLENECK_MS,
                "queue": {**QUEUES[queue], "packets": fit.queue_packets},
                # The paper assumes that there is no congestion in the opposite direction.
                "back": {"queue": {"kind": "unlimited"}},
            },
            **fit.access(),
        },
        "spike": [
            {
                **HOLDS[fit.hold],
                "first_s": fit.first_spike_s,
                "length_s": {"uniform": list(SPIKE_LENGTH_S)},
                "interval_s": {"uniform": list(SPIKE_INTERVAL_S)},
                "interval": "start-to-start",
            }
        ],
        "flow": flows,
    }


def row(keys: Mapping[str, Key], *, congested: bool, fit: Open | None = None) -> dict[str, Any]:
    """Returns the scenario of a row of tables 1-4. Keys override FACK with Eifel and option 1."""
    return dumbbell(
        str(keys.get("recovery", "fack")),
        eifel=bool(keys.get("eifel", True)),
        congested=congested,
        restore=str(keys.get("restore", "option-1")),
        rto_adaptation=str(keys.get("rto_adaptation", "std")),
        fit=fit,
    )


def rows(table: str) -> tuple[Row, ...]:
    """Returns the printed rows of one of tables 1-4, each with its scenario and its retransmissions.

    The one-way agents of the paper's simulator send 5 MB as 5000 segments. The printed rest is
    retransmissions.
    """
    printed = published.rows("responding", table, lambda keys: row(keys, congested=table != "table1"))
    sent = BYTES // MSS_BYTES
    return tuple(
        replace(one, published={**one.published, "retransmissions": one.published["segments_sent"] - sent})
        for one in printed
    )


def _named(recovery: str | Mapping[str, Any]) -> dict[str, Any]:
    return dict(recovery) if isinstance(recovery, Mapping) else {"name": recovery}


# --- Figures 1-6: one flow over a slow link, one spike ---------------------------------------------------------------

SLOW_BPS = 30_000
"""Stated for figure 1 (a), and used for the others too."""
SLOW_DELAY_MS = 200
SLOW_SPIKE_S = (2.85, 8.5)
"""Begins when segment 8 has arrived and its ACK has not left. Segments 8 to 15 are then outstanding, as in figure 4."""
PACKET_TIME_S = (MSS_BYTES + 52) * 8 / SLOW_BPS
"""The time of a full segment on the slow link, with headers and timestamps."""

LEVEL_S = (20.0, 28.0)
LEVEL_BYTES = 150_000
LEVEL_WINDOW = 11
"""Figure 6: a window that keeps the round trip at about 3 s, so that the RTO is constant before the spike."""

LOST_ALONE = 10
"""Figure 3: one of the delayed segments."""
LOST_ALL_BUT_ONE = tuple(range(9, 16))
"""Figure 4, as stated: segments 9 to 15."""

RENO_BLOCKED = {"name": "reno", "fast_retransmit_below_recovery_point": "blocked"}
RENO_ALLOWED = {"name": "reno", "fast_retransmit_below_recovery_point": "allowed"}
SPURIOUS_FAST_RETRANSMIT = {"name": "reno-sack", "bugfix": False}
"""Figure 1: without the "bugfix", the duplicate ACKs that go-back-N causes count as signs of a loss."""


def slow_link(
    recovery: str | Mapping[str, Any],
    *,
    eifel: bool = True,
    lost: Sequence[int] = (),
    spike_s: tuple[float, float] | None = SLOW_SPIKE_S,
    rate_bps: int = SLOW_BPS,
    rate_changes: Sequence[Mapping[str, float]] = (),
    data_bytes: int = 60_000,
    payload_bytes: int = MSS_BYTES,
    window_segments: int = RECEIVE_WINDOW_BYTES // MSS_BYTES,
    **how: Any,
) -> dict[str, Any]:
    """Returns one transfer over a slow link with one spike. The first copies of segments `lost` are dropped.

    `how` is passed to `sender`.
    """
    link: dict[str, Any] = {
        "rate_bps": rate_bps,
        "delay_ms": SLOW_DELAY_MS,
        "queue": {"kind": "unlimited"},
    }
    if lost:
        link["drops"] = {"flow": "main", "segments": list(lost), "copies": 1}
    if rate_changes:
        link["rate_changes"] = [dict(change) for change in rate_changes]
    timestamps = how.pop("timestamps", True)
    scenario: dict[str, Any] = {
        "seed": SEED,
        "duration_s": 600,
        "point_to_point": link,
        "flow": [
            main_flow(
                application={"kind": "bulk", "bytes": data_bytes},
                handshake=False,
                tcp=tcp(timestamps=timestamps)
                | {"payload_bytes": payload_bytes, "receive_window_bytes": window_segments * payload_bytes},
                sender=sender(recovery, eifel=eifel, **{"initial_window": 1, **how}),
            )
        ],
    }
    if spike_s is not None:
        at = [{"start_s": spike_s[0], "end_s": spike_s[1]}]
        scenario["spike"] = [{"links": BOTTLENECK_LINKS, "holds": "sending", "at": at}]
    return scenario


def level(recovery: str | Mapping[str, Any], **how: Any) -> dict[str, Any]:
    """Returns the slow link with a constant round trip, for figure 6."""
    return slow_link(recovery, spike_s=LEVEL_S, window_segments=LEVEL_WINDOW, data_bytes=LEVEL_BYTES, **how)


ADAPTATIONS: Mapping[str, str | Mapping[str, str]] = {
    "std": "none",
    "reseed": "reseed",
    "back-off": "back-off",
    "min++": {"name": "min-plus-plus", "per": "expiry"},
}
"""Table 4's words for the adaptation of the timer."""

WINDOWS: Mapping[str, Mapping[str, str]] = {
    "of-its-time": {"ssthresh_from": "window", "repeated_timeout": "reduce", "grow": "always"},
    "rfc5681": {"ssthresh_from": "flight", "repeated_timeout": "hold", "grow": "always"},
}
"""The rules for the window. ns-2 of 2002 halves ssthresh at each further timeout of a spike, down
to two segments. RFC 5681 holds it.
"""

# --- One end ---------------------------------------------------------------------------------------------------------


def tcp(*, ack_delay_ms: float | None = None, timestamps: bool = True) -> dict[str, Any]:
    """Returns the paper's settings of the connection. Without a delay, each segment is acknowledged at once."""
    settings: dict[str, Any] = {
        "payload_bytes": MSS_BYTES,
        "receive_window_bytes": RECEIVE_WINDOW_BYTES,
        **(rfc3522.CLOCK if timestamps else rfc3522.NONE),
        "sack": True,
        # RFC 2883 is younger than the simulator's SACK receiver, whose duplicate ACKs do not reveal
        # that they are harmless.
        "dsack": False,
        "delayed_ack_every": 1 if ack_delay_ms is None else 2,
    }
    if ack_delay_ms is not None:
        settings["delayed_ack_ms"] = ack_delay_ms
    return settings


def sender(
    recovery: str | Mapping[str, Any],
    *,
    eifel: bool,
    restore: str = "option-1",
    rto_adaptation: str = "std",
    initial_window: int = 2,
    window: str = "of-its-time",
) -> dict[str, Any]:
    """Returns the algorithms: the conservative timer, with or without Eifel."""
    return {
        "detect": dict(rfc3522.PLAIN) if eifel else "none",
        "respond": restore if eifel else "none",
        # The paper's responses follow every verdict.
        "grant": "always",
        # RFC 2988, section 5. In ns-2 before July 2003, timestamps did not change it (its
        # ts_resetRTO_).
        "rto": {"name": "rfc6298", "minimum_ms": 1000, "back_off_ends": "new-data"},
        "after_spurious": ADAPTATIONS[rto_adaptation] if eifel else "none",
        "recover": dict(recovery) if isinstance(recovery, Mapping) else recovery,
        "congest": {"name": "reno", "initial_window_segments": initial_window, **WINDOWS[window]},
    }
