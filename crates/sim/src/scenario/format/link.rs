//! Nodes, links, routes and the short forms of topologies.

use super::super::shape::Fallback::{Integer, Number, Switch};
use super::super::shape::{Key, Kind, Rule, Table, default, optional, required, table};
use super::kinds::{COUNT, DRAWN, MILLISECONDS, RATE, SECONDS_ABOVE_ZERO, SEGMENTS, SHARE};
use super::queue::QUEUES;

pub(super) static NODE: Table =
    table("node", "A host or a router.", &[required("name", Kind::Name, "Its name, used by links, routes and flows.")]);

pub(super) static ROUTE: Table = table(
    "route",
    "Which link packets for one node take at another, where it is not the first link of the shortest path.",
    &[
        required("at", Kind::Name, "The node where the packets are."),
        required("to", Kind::Name, "The node that they are for."),
        required("via", Kind::Name, "The link that they take; it begins at the node `at`."),
    ],
);

static RATE_CHANGE: Table = table(
    "rate-change",
    "A new rate from a moment on.",
    &[
        required("at_s", SECONDS_ABOVE_ZERO, "When, from the beginning of the run."),
        required("rate_bps", RATE, "The rate from then on. A transmission under way ends at the old rate."),
    ],
);

static DELAY_CHANGE: Table = table(
    "delay-change",
    "A new propagation delay from a moment on, as at a handover.",
    &[
        required("at_s", SECONDS_ABOVE_ZERO, "When, from the beginning of the run."),
        required(
            "delay_ms",
            MILLISECONDS,
            "The delay of transmissions that end from then on. No packet overtakes an earlier one.",
        ),
    ],
);

static JITTER: Table = table(
    "jitter",
    "An independent delay for each packet, before the queue.",
    &[
        required("delay_ms", DRAWN, "The delay of each packet."),
        default(
            "keeps_order",
            Kind::Switch,
            Switch(true),
            "Whether packets enter the queue in the order of their arrival.",
        ),
    ],
);

static DROPS: Table = table(
    "drops",
    "Segments of one flow that are dropped at the entrance of the link.",
    &[
        required("flow", Kind::Name, "The flow's name."),
        required("segments", SEGMENTS, "Numbers of data segments in the flow, from 1 in the order of the data."),
        default("copies", COUNT, Integer(1), "How many transmissions of each are dropped: 1 is the first one only."),
    ],
);

static LOSS: &[Table] = &[
    table(
        "random",
        "Each packet is lost on its own.",
        &[required("rate", SHARE, "Probability that a packet is lost.")],
    ),
    table(
        "gilbert-elliott",
        "A good and a bad state that change from packet to packet.",
        &[
            required("good_to_bad", SHARE, "Probability, at each packet, of the change from good to bad."),
            required("bad_to_good", SHARE, "Probability, at each packet, of the change from bad to good."),
            default("loss_in_good", SHARE, Number(0.0), "Probability of loss while good."),
            default("loss_in_bad", SHARE, Number(1.0), "Probability of loss while bad."),
        ],
    ),
    table(
        "larger-than",
        "Each packet that is longer than `bytes` is lost, and no ICMP message says so: a black hole of path MTU \
         discovery.",
        &[required("bytes", COUNT, "Length of the longest packet that passes, from its IP header on.")],
    ),
];

static DUPLICATE: Table = table(
    "duplicate",
    "Packets that arrive twice.",
    &[required("rate", SHARE, "Probability that a packet is doubled.")],
);

static REORDER: Table = table(
    "reorder",
    "Packets that later packets overtake.",
    &[
        optional("flow", Kind::Name, "The flow whose `segments` are held."),
        optional("segments", SEGMENTS, "Numbers of the data segments whose first transmission is held."),
        optional("rate", SHARE, "Probability that a packet is held, in place of a list."),
        optional("length", COUNT, "How many later packets of its flow pass a held one."),
        optional(
            "late_ms",
            DRAWN,
            "How late a held packet is, in place of a length. It then enters the queue, behind all that came meanwhile.",
        ),
        default(
            "longest_wait_s",
            SECONDS_ABOVE_ZERO,
            Number(10.0),
            "With a length: maximum time that a packet is held, so that the last packets of a flow are released.",
        ),
    ],
)
.with(&[
    Rule::ExactlyOne(&["segments", "rate"]),
    Rule::ExactlyOne(&["length", "late_ms"]),
    Rule::AtMostOne(&["late_ms", "longest_wait_s"]),
    Rule::Needs("segments", "flow"),
    Rule::Needs("flow", "segments"),
]);

static ECN_FAULTS: Table = table(
    "ecn-faults",
    "Routers that alter the ECN field of all packets.",
    &[
        default("clear", SHARE, Number(0.0), "Probability that it is set to Not-ECT."),
        default("forge", SHARE, Number(0.0), "Probability that it is set to CE, if it is not cleared."),
    ],
);

const MOMENTS: Kind = Kind::List { of: &Kind::Integer { minimum: 0, maximum: u32::MAX as i64 }, at_least: 1 };

/// The keys that all link tables share. The table's own keys come before them.
macro_rules! link_keys {
    ($delay:expr, [$($own:expr),* $(,)?]) => {
        &[
            $($own,)*
            optional(
                "rate_bps",
                Kind::Either(&[RATE, Kind::Word(&["unlimited"])]),
                "The link's rate; `unlimited` for a link whose transmissions take no time.",
            ),
            optional(
                "rate_changes",
                Kind::List { of: &Kind::Table(&RATE_CHANGE), at_least: 1 },
                "Other rates, each from a moment on, in the order of time.",
            ),
            optional(
                "trace",
                Kind::Either(&[Kind::Text, MOMENTS]),
                "In place of a rate, a recording of the link in Mahimahi's format: one line for each 1500 bytes that \
                 could pass, with the millisecond; repeated from its end on. A path relative to the scenario's folder, \
                 or the milliseconds themselves.",
            ),
            $delay,
            optional(
                "delay_changes",
                Kind::List { of: &Kind::Table(&DELAY_CHANGE), at_least: 1 },
                "Other delays, each from a moment on, in the order of time.",
            ),
            optional(
                "queue",
                Kind::Tagged { tag: "kind", tables: QUEUES },
                "The queue at the link's entrance. Left out: one without limit.",
            ),
            optional("drops", Kind::OneOrMore(&Kind::Table(&DROPS)), "Segments to drop, by their number in the flow."),
            optional(
                "loss",
                Kind::OneOrMore(&Kind::Tagged { tag: "kind", tables: LOSS }),
                "Loss at random or by length; a packet meets those of a list in their order.",
            ),
            optional("duplicate", Kind::Table(&DUPLICATE), "Duplication."),
            optional("reorder", Kind::Table(&REORDER), "Reordering."),
            optional("jitter", Kind::Table(&JITTER), "Jitter."),
            optional("ecn_faults", Kind::Table(&ECN_FAULTS), "Faults in the ECN field."),
            optional(
                "disturbed_until_s",
                SECONDS_ABOVE_ZERO,
                "From then on the link drops (its queue aside), duplicates, reorders and jitters nothing. Left out: it \
                 always does.",
            ),
        ]
    };
}

const DELAY: Key = required("delay_ms", MILLISECONDS, "Propagation: from the end of the transmission to the arrival.");
const ONE_SPEED: Rule = Rule::ExactlyOne(&["rate_bps", "trace"]);
const CHANGES: Rule = Rule::Needs("rate_changes", "rate_bps");

static BACK: Table = table(
    "back",
    "What is different on the way back. Rate or trace, delay and queue are those of the way there unless given \
              here, and a delay given here has only the changes given here; drops, loss, duplication, reordering, \
              jitter and their end are only what is given \
              here.",
    link_keys!(optional("delay_ms", MILLISECONDS, "Propagation on the way back."), []),
)
.with(&[Rule::AtMostOne(&["rate_bps", "trace"]), CHANGES]);

const BACK_KEY: Key = optional("back", Kind::Table(&BACK), "What is different on the way back.");

pub(super) static LINK: Table = table(
    "link",
    "A link from one node to another, or one each way.",
    link_keys!(
        DELAY,
        [
            optional("name", Kind::Name, "Its name. Left out: `from-to`."),
            required("from", Kind::Name, "The node where it begins."),
            required("to", Kind::Name, "The node where it ends."),
            default(
                "both",
                Kind::Switch,
                Switch(false),
                "Also a link of the same kind back, named `to-from`, or the link's own name with `-back`.",
            ),
            BACK_KEY,
        ]
    ),
)
.with(&[ONE_SPEED, CHANGES]);

pub(super) static POINT_TO_POINT: Table = table(
    "point_to_point",
    "The nodes `sender` and `receiver`, the link `bottleneck` from the first to the second, and \
              `bottleneck-back`.",
    link_keys!(DELAY, [BACK_KEY]),
)
.with(&[ONE_SPEED, CHANGES]);

static BOTTLENECK: Table = table(
    "bottleneck",
    "The link `bottleneck` from the node `entry` to the node `exit`, and `bottleneck-back`.",
    link_keys!(DELAY, [BACK_KEY]),
)
.with(&[ONE_SPEED, CHANGES]);

static ACCESS: Table =
    table("access", "The links between each host and its router, both ways.", link_keys!(DELAY, [BACK_KEY]))
        .with(&[ONE_SPEED, CHANGES]);

const HOSTS: Kind = Kind::Integer { minimum: 1, maximum: 10_000 };

pub(super) static DUMBBELL: Table = table(
    "dumbbell",
    "Hosts `left1`, `left2` … at the router `entry`, hosts `right1`, `right2` … at the router `exit`, one \
              bottleneck between the routers. Access links are named by their ends: `left1-entry`, `entry-left1`, \
              `exit-right1`, `right1-exit`.",
    &[
        required("left", HOSTS, "How many hosts on the left."),
        required("right", HOSTS, "How many hosts on the right."),
        required("bottleneck", Kind::Table(&BOTTLENECK), "The link between the routers."),
        optional("access", Kind::Table(&ACCESS), "All links between hosts and routers."),
        optional("left_access", Kind::Table(&ACCESS), "Those on the left, where they differ from those on the right."),
        optional("right_access", Kind::Table(&ACCESS), "Those on the right."),
    ],
)
.with(&[
    Rule::ExactlyOne(&["access", "left_access"]),
    Rule::AtMostOne(&["access", "right_access"]),
    Rule::Needs("left_access", "right_access"),
]);
