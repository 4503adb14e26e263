//! Queues.

use super::super::shape::Fallback::{Integer, Number, Switch, Word};
use super::super::shape::{Key, Kind, Rule, Table, default, optional, required, table};
use super::kinds::{COUNT, MILLISECONDS_ABOVE_ZERO, SHARE};

const BYTES: Kind = Kind::Integer { minimum: 1, maximum: 1_000_000_000_000 };
const THRESHOLD: Kind = Kind::Positive { maximum: 1e9 };

const LIMIT: Key = required("packets", COUNT, "The most packets that wait behind the one in transmission.");
const WAIT: Key = default(
    "wait",
    Kind::Switch,
    Switch(true),
    "Whether early drops are kept at least 1/p packets apart, as ns-2 does; without, at most, as in the paper of 1993.",
);
const MEASURE: Key = default(
    "measure",
    Kind::Word(&["packets", "bytes"]),
    Word("packets"),
    "The unit of the queue's length; in bytes, thresholds count packets of `mean_packet_bytes`.",
);
const MEAN_PACKET: Key = default(
    "mean_packet_bytes",
    Kind::Integer { minimum: 1, maximum: 65_535 },
    Integer(500),
    "Length of a typical packet.",
);
const GENTLE: Key = default(
    "gentle",
    Kind::Switch,
    Switch(true),
    "Whether the probability rises to 1 at twice the upper threshold; without, all is dropped above the threshold.",
);

const TARGET: Key = default(
    "target_ms",
    MILLISECONDS_ABOVE_ZERO,
    Number(5.0),
    "The acceptable standing delay (TARGET); at least the time of one packet on the link.",
);
const INTERVAL: Key = default(
    "interval_ms",
    MILLISECONDS_ABOVE_ZERO,
    Number(100.0),
    "How long the delay must exceed the target before the first drop (INTERVAL): about the longest round trip.",
);

const MARKS: Key = default(
    "ecn",
    Kind::Switch,
    Switch(false),
    "Whether packets of connections with ECN are marked in place of an early drop, below the upper threshold (RFC 3168).",
);

pub(super) static QUEUES: &[Table] = &[
    Table { name: "unlimited", summary: "A queue without limit.", keys: &[], rules: &[] },
    table(
        "drop-tail",
        "A packet that finds the queue full is dropped.",
        &[
            optional("packets", COUNT, "The most packets that the queue holds, the one in transmission included."),
            optional("bytes", BYTES, "The most bytes that it holds, in place of packets."),
        ],
    )
    .with(&[Rule::ExactlyOne(&["packets", "bytes"])]),
    table(
        "red",
        "Random Early Detection (Floyd and Jacobson, 1993).",
        &[
            LIMIT,
            required("minimum_packets", THRESHOLD, "Average length below which nothing is dropped early (min_th)."),
            required(
                "maximum_packets",
                THRESHOLD,
                "Average length at which `maximum_probability` is reached (max_th).",
            ),
            default("maximum_probability", SHARE, Number(0.1), "Probability of an early drop there (max_p)."),
            default(
                "weight",
                Kind::Positive { maximum: 1.0 },
                Number(0.002),
                "Weight of the present length in the average (w_q).",
            ),
            GENTLE,
            WAIT,
            MEASURE,
            MEAN_PACKET,
            MARKS,
        ],
    ),
    table(
        "adaptive-red",
        "RED that adapts its parameters (Floyd, Gummadi and Shenker, 2001).",
        &[
            LIMIT,
            default("target_delay_ms", MILLISECONDS_ABOVE_ZERO, Number(5.0), "The queueing delay that it aims at."),
            GENTLE,
            WAIT,
            MEASURE,
            MEAN_PACKET,
            MARKS,
        ],
    ),
    table(
        "codel",
        "CoDel: drops at the head, by the time that packets wait (RFC 8289).",
        &[
            default("packets", COUNT, Integer(1000), "The most packets that wait behind the one in transmission."),
            TARGET,
            INTERVAL,
            default(
                "ecn",
                Kind::Switch,
                Switch(false),
                "Whether packets of connections with ECN are marked in place of a drop.",
            ),
        ],
    ),
    table(
        "fq-codel",
        "FQ-CoDel: a queue with CoDel for each flow, served in turn (RFC 8290).",
        &[
            default("packets", COUNT, Integer(10_240), "The most packets that wait in all queues together."),
            TARGET,
            INTERVAL,
            default(
                "ecn",
                Kind::Switch,
                Switch(true),
                "Whether packets of connections with ECN are marked in place of a drop.",
            ),
            default(
                "queues",
                Kind::Integer { minimum: 1, maximum: 65_536 },
                Integer(1024),
                "Number of queues; flows are hashed to them.",
            ),
            default(
                "quantum_bytes",
                Kind::Integer { minimum: 1, maximum: 1_000_000 },
                Integer(1514),
                "Bytes that a queue sends in a turn.",
            ),
        ],
    ),
];
