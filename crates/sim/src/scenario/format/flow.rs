//! Flows, their applications and the settings of their connections.

use super::super::profile;
use super::super::shape::Fallback::{Integer, Number, Switch, Word};
use super::super::shape::{Kind, Rule, Table, default, optional, required, table};
use super::kinds::{
    COUNT, DRAWN, MILLISECONDS, MILLISECONDS_ABOVE_ZERO, RATE, SECONDS, SECONDS_ABOVE_ZERO, SHARE, SIZE as AMOUNT,
    TOTAL,
};
use super::liar::SCHEDULE;
use super::sctp::{ALTERNATE, CHANGEOVER, SCTP};
use super::sender::SENDER;
use crate::liar;

const PACKET: Kind = Kind::Integer { minimum: 1, maximum: 65_535 };
const MESSAGE: Kind = Kind::Integer { minimum: 1, maximum: 1 << 30 };

static APPLICATIONS: &[Table] = &[
    table(
        "bulk",
        "A transfer from `from` to `to`, as fast as the transport takes data.",
        &[
            optional("bytes", AMOUNT, "How many bytes in all; a distribution is drawn for each flow and run."),
            optional("segments", TOTAL, "How many full-sized segments in all, in place of bytes."),
            optional("endless", Kind::Switch, "`true` in place of an amount: until the run ends."),
        ],
    )
    .with(&[Rule::ExactlyOne(&["bytes", "segments", "endless"])]),
    table(
        "request-response",
        "Over TCP: `from` sends a request, `to` answers, `from` waits a while and sends the next.",
        &[
            required("requests", COUNT, "How many requests."),
            required("request_bytes", AMOUNT, "Length of a request; a distribution is drawn for each."),
            required("response_bytes", AMOUNT, "Length of a response; a distribution is drawn for each."),
            default("think_ms", DRAWN, Number(0.0), "From the last byte of a response to the next request."),
        ],
    ),
    table(
        "messages",
        "`from` writes a message, waits for an interval, and writes the next, whether or not the last one has arrived.",
        &[
            required("bytes", MESSAGE, "Length of each message; over SCTP each is one user message."),
            required("interval_ms", DRAWN, "From one message to the next; a distribution is drawn for each."),
            optional("messages", COUNT, "How many messages."),
            optional("endless", Kind::Switch, "`true` in place of a number: until the run ends."),
        ],
    )
    .with(&[Rule::ExactlyOne(&["messages", "endless"])]),
    table(
        "exchange",
        "Over TCP: both ends send as fast as they may, at the same time, and each closes its direction behind \
                  its last byte.",
        &[
            required("bytes", TOTAL, "How many bytes from `from` to `to`."),
            required("back_bytes", TOTAL, "How many bytes from `to` to `from`."),
        ],
    ),
    table(
        "cbr",
        "Datagrams at a constant rate, without any control; they have no end.",
        &[
            required("rate_bps", RATE, "Rate on the link, headers included."),
            required("packet_bytes", PACKET, "Length of a datagram on the link, headers included."),
            default(
                "jitter",
                SHARE,
                Number(0.0),
                "Each interval is drawn uniformly within plus or minus this share of it; 0.5 is what ns-2 calls random.",
            ),
        ],
    ),
    table(
        "on-off",
        "Datagrams at a constant rate in bursts; bursts and pauses are of exponential length. They have no end.",
        &[
            required("rate_bps", RATE, "Rate on the link during a burst, headers included."),
            required("packet_bytes", PACKET, "Length of a datagram on the link, headers included."),
            required("on_ms", MILLISECONDS_ABOVE_ZERO, "Mean length of a burst."),
            required("off_ms", MILLISECONDS_ABOVE_ZERO, "Mean length of a pause."),
        ],
    ),
];

const WINDOW: Kind = Kind::Integer { minimum: 1, maximum: 1 << 30 };
/// The largest MSS: an IPv4 packet of 65,535 bytes without the IP and TCP headers of 20 bytes each.
pub(in super::super) const LARGEST_MSS: u32 = 65_495;
const SIZE: Kind = Kind::Integer { minimum: 1, maximum: LARGEST_MSS as i64 };
const SCALE: Kind = Kind::Either(&[Kind::Word(&["fit", "off"]), Kind::Integer { minimum: 0, maximum: 14 }]);

pub(in super::super) static TCP: Table = table("tcp", "The settings of both ends of a connection, or of the one that answers. Where nothing is given, those of a present-day stack.", &[
        optional(
            "mss_bytes",
            SIZE,
            "Value of the MSS option. As in RFC 9293, TCP options count: with timestamps a full-sized segment carries 12 \
             bytes fewer. Left out: 1460, and 1440 over IPv6.",
        ),
        optional("payload_bytes", SIZE, "Payload of a full-sized segment, in place of the MSS."),
        optional("receive_window_bytes", WINDOW, "The largest window that is announced. Left out: 1 MiB."),
        optional("receive_window_segments", WINDOW, "The same in full-sized segments."),
        optional(
            "send_buffer_bytes",
            WINDOW,
            "Size of the send buffer: bytes written and not acknowledged. The application continues as room appears. Left out: no limit.",
        ),
        default(
            "window_scale",
            SCALE,
            Word("fit"),
            "Window scale option (RFC 7323): `fit` is the smallest that announces the whole window, `off` is none.",
        ),
        default("timestamps", Kind::Switch, Switch(true), "Timestamps option (RFC 7323)."),
        optional(
            "timestamp_values",
            Kind::Word(&["clock", "distinct"]),
            "What a segment is stamped with: what the clock shows, or a value of its own that is later by a step which \
             nobody can predict. Left out: `distinct`.",
        ),
        optional(
            "timestamp_granularity_ms",
            MILLISECONDS_ABOVE_ZERO,
            "How long the timestamp clock shows one value. Left out: 0.001, and 1 with the clock's values.",
        ),
        optional(
            "timestamp_offset",
            Kind::Integer { minimum: 0, maximum: u32::MAX as i64 },
            "What the timestamp clock shows at the beginning of the run. Left out: 0.",
        ),
        optional(
            "timestamp_echo",
            Kind::Word(&["standard", "on-duplicates"]),
            "Which segments change the timestamp that is echoed: by RFC 7323, or duplicates below the cumulative ACK too. \
             Left out: `standard`.",
        ),
        optional(
            "retransmission_marks",
            Kind::Word(&["bits", "timestamps"]),
            "How both ends mark retransmissions and their ACKs, by agreement on the SYN: a reserved header bit each way, or \
             the timestamps option on those segments alone, which takes `timestamps = false`. Left out: not at all.",
        ),
        default("sack", Kind::Switch, Switch(true), "Selective acknowledgements (RFC 2018)."),
        optional("dsack", Kind::Switch, "Reports of duplicates (RFC 2883). Left out: as `sack`."),
        default(
            "delayed_ack_every",
            Kind::Integer { minimum: 1, maximum: 1000 },
            Integer(2),
            "The number of full-sized segments for which an ACK leaves at once.",
        ),
        default("delayed_ack_ms", MILLISECONDS, Number(200.0), "Maximum delay of an ACK; 0 for no delay."),
        default(
            "quick_acks",
            Kind::Integer { minimum: 0, maximum: 1_000_000 },
            Integer(0),
            "Data segments at the beginning that are acknowledged one by one, unless this end answers with data (Linux: 16).",
        ),
        default(
            "gro_wait_ms",
            MILLISECONDS,
            Number(0.0),
            "Generic receive offload: how long an ACK that is due waits for further segments of a batch; 0 for no merging.",
        ),
        default(
            "gro_segments",
            Kind::Integer { minimum: 1, maximum: 1000 },
            Integer(45),
            "The number of full-sized segments that end a batch.",
        ),
        default(
            "out_of_order_ack",
            Kind::Word(&["alone", "with-data"]),
            Word("alone"),
            "How data out of order is acknowledged: by a segment without data; or by data that may leave at once, which is \
             shorter by the SACK blocks that it carries (Linux).",
        ),
        default(
            "ecn",
            Kind::Word(&["off", "answer", "ask"]),
            Word("off"),
            "Explicit congestion notification (RFC 3168): whether an end asks for it, or agrees if the other asks.",
        ),
        default("nagle", Kind::Switch, Switch(false), "Whether a small segment waits while data is unacknowledged."),
        default(
            "window_probe",
            Kind::Word(&["data", "empty"]),
            Word("data"),
            "What probes a closed window: the next byte, or a segment without data below the window (Linux).",
        ),
        default(
            "fin_beyond_cwnd",
            Kind::Switch,
            Switch(false),
            "Whether a FIN without data leaves though cwnd is full (Linux).",
        ),
        default(
            "temporal_sharing",
            Kind::Switch,
            Switch(false),
            "Whether an end begins with what its last connection to the same node had learnt when it ended: SRTT, RTTVAR, a \
             raised minimum of the RTO, a back-off that is held (RFC 9040).",
        ),
        default("time_wait_s", SECONDS, Number(60.0), "Length of TIME-WAIT."),
        default(
            "time_wait",
            Kind::Word(&["rfc9293", "reopens"]),
            Word("rfc9293"),
            "What TIME-WAIT answers: a SYN by a challenge ACK, or a SYN beyond all that has arrived by a new connection. The \
             simulator's flows never call twice, so this matters on a real network.",
        ),
        default(
            "give_up_timeouts",
            COUNT,
            Integer(15),
            "Consecutive timeouts after which the next one ends the connection.",
        ),
        default(
            "give_up_handshake_timeouts",
            COUNT,
            Integer(6),
            "The same for a connection that is not established yet.",
        ),
        optional(
            "user_timeout_s",
            SECONDS_ABOVE_ZERO,
            "Maximum time without an ACK of outstanding data before the connection fails. Left out: no limit.",
        ),
    ]).with(&[
        Rule::AtMostOne(&["mss_bytes", "payload_bytes"]),
        Rule::AtMostOne(&["receive_window_bytes", "receive_window_segments"]),
    ]);

static READING: Table = table(
    "reading",
    "Slow readers: the receive window fills, and may close.",
    &[
        required("bytes", TOTAL, "The maximum number of bytes per read."),
        required("every_ms", DRAWN, "The delay from the arrival of readable data to the read."),
    ],
);

pub(super) static FLOW: Table = table(
    "flow",
    "One sender, one receiver and what they do; with `repeat`, several of a kind.",
    &[
        required("name", Kind::Name, "Its name, in results and for `drops` and `reorder`."),
        required("from", Kind::Name, "The node that opens the connection, or sends the datagrams."),
        required("to", Kind::Name, "The node that it is opened to, or that gets the datagrams."),
        optional(
            "repeat",
            Kind::Integer { minimum: 1, maximum: 10_000 },
            "Number of flows of this kind; `#` in `name`, `from` and `to` stands for 1, 2 … in each.",
        ),
        default("start_s", DRAWN, Number(0.0), "When it begins; a distribution is drawn for each flow and run."),
        optional("end_s", SECONDS_ABOVE_ZERO, "When its application stops sending, done or not."),
        default(
            "transport",
            Kind::Word(&["tcp", "sctp"]),
            Word("tcp"),
            "The transport protocol. Datagram sources use none.",
        ),
        optional(
            "alternates",
            Kind::List { of: &Kind::Table(&ALTERNATE), at_least: 1 },
            "Over SCTP: more paths between the two hosts, beside the primary one from `from` to `to`.",
        ),
        optional(
            "changeovers",
            Kind::List { of: &Kind::Table(&CHANGEOVER), at_least: 1 },
            "Over SCTP: when the application of `from` makes another path the primary one (RFC 9260, section 11.1.6), in \
             the order of time.",
        ),
        required("application", Kind::Tagged { tag: "kind", tables: APPLICATIONS }, "What is sent."),
        default(
            "handshake",
            Kind::Either(&[Kind::Switch, Kind::Word(&["simultaneous"])]),
            Switch(true),
            "Whether the connection is opened by a handshake and closed by FINs, or is there from the start, as in many \
             papers' simulators. `simultaneous`: both ends open it at the same time.",
        ),
        optional(
            "liar",
            Kind::Either(&[Kind::Word(liar::Kind::NAMES), Kind::Table(&SCHEDULE)]),
            "How the receiver of data falsifies its acknowledgements, after an honest handshake: the echo of a retransmission is an older \
             one's; every retransmission is reported as a duplicate; none is marked as such; what is missing is reported as \
             received; an ACK is withheld for F-RTO; every echo is any number. A table says how it answers each kind of \
             arrival. Left out, and `none`: it is honest.",
        ),
        optional("reading", Kind::Table(&READING), "How both applications read. Left out: all available data at once."),
        optional(
            "isn",
            Kind::List { of: &Kind::Integer { minimum: 0, maximum: u32::MAX as i64 }, at_least: 2 },
            "The initial sequence numbers of `from` and `to`. Left out: drawn.",
        ),
        optional(
            "profile",
            Kind::Word(profile::NAMES),
            "A stack as it is deployed, at both ends: settings and algorithms below those of the tables `tcp` and `sender`, \
             whose keys win. `linux` is Linux 6.18 below the queue discipline fq.",
        ),
        optional("tcp", Kind::Table(&TCP), "Connection settings of this flow, over those of the table `tcp`."),
        optional("sctp", Kind::Table(&SCTP), "Association settings of this flow, over those of the table `sctp`."),
        optional("sender", Kind::Table(&SENDER), "Algorithms of this flow, over those of the table `sender`."),
        optional(
            "answering_tcp",
            Kind::Table(&TCP),
            "Connection settings of the end that answers, `to`, over those of both ends.",
        ),
        optional(
            "answering_sctp",
            Kind::Table(&SCTP),
            "Association settings of the end that answers, `to`, over those of both ends.",
        ),
        optional(
            "answering_sender",
            Kind::Table(&SENDER),
            "Algorithms of the end that answers, `to`, over those of both ends.",
        ),
    ],
);
