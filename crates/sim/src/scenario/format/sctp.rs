//! The settings of associations.

use super::super::shape::Fallback::{Integer, Number, Switch, Word};
use super::super::shape::{Kind, Table, default, optional, required, table};
use super::kinds::{COUNT, SECONDS, SECONDS_ABOVE_ZERO};

const PACKET: Kind = Kind::Integer { minimum: 512, maximum: 65_535 };
const WINDOW: Kind = Kind::Integer { minimum: 1500, maximum: 1 << 30 };
const CHARGED: Kind = Kind::Integer { minimum: 0, maximum: 1000 };
const SIZE: Kind = Kind::Integer { minimum: 1, maximum: 1 << 24 };

pub(in super::super) static SCTP: Table = table(
    "sctp",
    "The settings of both ends of an association, or of the one that answers. Where nothing is given, those of \
              RFC 9260.",
    &[
        default(
            "rules",
            Kind::Word(&["rfc9260", "rfc2960"]),
            Word("rfc9260"),
            "The rules for losses, and the defaults of the algorithms: those of RFC 9260, or of RFC 2960 before it.",
        ),
        default("pmtu_bytes", PACKET, Integer(1500), "The longest packet, IP header included."),
        optional(
            "message_bytes",
            SIZE,
            "User data of a message. One that is larger than a packet is fragmented; smaller ones share packets. Left out: \
             what fills a packet, timestamp chunk included.",
        ),
        optional(
            "data_header_bytes",
            CHARGED,
            "What links charge a packet with DATA chunks beside their user data, in place of the real headers, to compare \
             with simulators that charge a fixed number. Left out: IP, SCTP and all chunks.",
        ),
        optional(
            "sack_bytes",
            CHARGED,
            "What links charge a packet with a SACK and without DATA chunks, in place of its real length.",
        ),
        default(
            "streams",
            Kind::Integer { minimum: 1, maximum: 65_535 },
            Integer(1),
            "The number of streams, which messages take in turn.",
        ),
        default("unordered", Kind::Switch, Switch(false), "Whether messages are delivered without regard to order."),
        default("receive_window_bytes", WINDOW, Integer(1 << 20), "The receive buffer."),
        optional(
            "send_buffer_bytes",
            WINDOW,
            "Size of the send buffer: bytes written and not acknowledged. Left out: four times the peer's receive buffer.",
        ),
        default(
            "sack_delay_ms",
            Kind::Number { minimum: 0.0, maximum: 500.0 },
            Number(200.0),
            "Maximum delay of a SACK.",
        ),
        default(
            "sack_every",
            Kind::Integer { minimum: 1, maximum: 1000 },
            Integer(2),
            "The number of packets with data for which a SACK leaves at once.",
        ),
        default("nagle", Kind::Switch, Switch(false), "Whether a small message waits while data is outstanding."),
        default(
            "concurrent_paths",
            Kind::Switch,
            Switch(false),
            "Whether new data leaves on all active paths whose windows have room, in turn (Concurrent Multipath Transfer).",
        ),
        default(
            "timestamp_chunk",
            Kind::Word(&["off", "agreed", "always"]),
            Word("off"),
            "Whether packets with DATA or SACK carry a timestamp chunk of 12 bytes: never, if both ends want it, or in any \
             case.",
        ),
        default(
            "timestamp_values",
            Kind::Word(&["distinct", "clock"]),
            Word("distinct"),
            "What timestamp chunks hold: a value of its own for each packet, which a peer that did not get the packet has to \
             guess, or a clock's value, in milliseconds.",
        ),
        default(
            "retransmit_bit",
            Kind::Switch,
            Switch(false),
            "Whether a bit marks retransmissions and the SACKs that answer them, if both ends want it.",
        ),
        default(
            "heartbeat_interval_s",
            SECONDS,
            Number(30.0),
            "HB.interval; 0 sends no HEARTBEAT to confirmed addresses.",
        ),
        default("path_max_retransmits", COUNT, Integer(5), "Path.Max.Retrans: errors after which a path is inactive."),
        default(
            "association_max_retransmits",
            COUNT,
            Integer(10),
            "Association.Max.Retrans: consecutive errors after which the association fails.",
        ),
        default("max_init_retransmits", COUNT, Integer(8), "Max.Init.Retransmits."),
        default("cookie_life_s", SECONDS_ABOVE_ZERO, Number(60.0), "Valid.Cookie.Life."),
    ],
);

pub(super) static ALTERNATE: Table = table(
    "alternate",
    "One more path between the same two hosts. A node stands for an address of a host.",
    &[
        required("from", Kind::Name, "The node that is an address of the host that opens."),
        required("to", Kind::Name, "The node that is an address of the other host."),
    ],
);

pub(super) static CHANGEOVER: Table = table(
    "changeover",
    "Another primary path from a moment on. New data leaves on it at once.",
    &[
        required("at_s", SECONDS_ABOVE_ZERO, "When, from the beginning of the run."),
        required(
            "path",
            Kind::Integer { minimum: 0, maximum: 1000 },
            "Its number: 0 leads from `from` to `to`, and the paths of `alternates` follow in their order.",
        ),
    ],
);
