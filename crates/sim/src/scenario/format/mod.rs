//! The format of a scenario: every table and key, its allowed values and its meaning.

mod flow;
mod liar;
mod link;
mod proxy;
mod queue;
mod sctp;
mod sender;
mod spike;

pub(super) use flow::{LARGEST_MSS, TCP};
pub(super) use sctp::SCTP;
pub(super) use sender::{OF_ASSOCIATIONS, SEAMS, SENDER};

use super::shape::Fallback::{Integer, Word};
use super::shape::{Kind, Rule, Table, default, optional, required, table};

/// Kinds that several tables use.
mod kinds {
    use super::super::shape::Fallback::Number;
    use super::{Kind, Rule, Table, default, optional, required, table};

    /// Ten years. Sums of times then stay far below 2^64 nanoseconds.
    const LONGEST_S: f64 = 315_360_000.0;
    pub(super) const SECONDS: Kind = Kind::Number { minimum: 0.0, maximum: LONGEST_S };
    pub(super) const SECONDS_ABOVE_ZERO: Kind = Kind::Positive { maximum: LONGEST_S };
    pub(super) const MILLISECONDS: Kind = Kind::Number { minimum: 0.0, maximum: LONGEST_S };
    pub(super) const MILLISECONDS_ABOVE_ZERO: Kind = Kind::Positive { maximum: LONGEST_S };
    pub(super) const RATE: Kind = Kind::Integer { minimum: 1, maximum: 1_000_000_000_000 };
    pub(super) const COUNT: Kind = Kind::Integer { minimum: 1, maximum: u32::MAX as i64 };
    pub(super) const TOTAL: Kind = Kind::Integer { minimum: 1, maximum: 1_000_000_000_000_000 };
    pub(super) const SHARE: Kind = Kind::Number { minimum: 0.0, maximum: 1.0 };
    pub(super) const SEGMENTS: Kind = Kind::List { of: &TOTAL, at_least: 1 };

    const TIME: Kind = Kind::Number { minimum: 0.0, maximum: LONGEST_S };
    const TIME_ABOVE_ZERO: Kind = Kind::Positive { maximum: LONGEST_S };

    /// Declares a distribution's table, `$name`. `$suffix` ends the names of its inner tables.
    /// `$least` and `$most` are the words for the smallest and the largest value.
    macro_rules! distribution {
        ($name:ident = $title:literal, $summary:literal, $suffix:literal, $any:expr, $above_zero:expr, ($least:literal,
         $uniform:literal, $most:literal), $listed:literal) => {
            static $name: Table = {
                static NORMAL: Table = table(
                    concat!("normal", $suffix),
                    "A normal distribution; a draw outside the bounds is drawn again.",
                    &[
                        required("mean", $any, "Mean, before truncation; within the bounds."),
                        required("deviation", $any, "Standard deviation, before truncation."),
                        default("minimum", $any, Number(0.0), concat!("The ", $least, ".")),
                        optional("maximum", $any, concat!("The ", $most, ". Left out: no bound.")),
                    ],
                );
                static LOG_NORMAL: Table = table(
                    concat!("log_normal", $suffix),
                    "A distribution whose logarithm is normal.",
                    &[
                        required("median", $above_zero, "Half the draws are below it."),
                        required(
                            "sigma",
                            Kind::Positive { maximum: 5.0 },
                            "Standard deviation of the natural logarithm; no unit.",
                        ),
                    ],
                );
                static PARETO: Table = table(
                    concat!("pareto", $suffix),
                    "A Pareto distribution.",
                    &[
                        required("minimum", $above_zero, concat!("The ", $least, ".")),
                        required("shape", Kind::Positive { maximum: 1000.0 }, "Exponent of the tail; no unit."),
                    ],
                );
                table(
                    $title,
                    $summary,
                    &[
                        optional("uniform", Kind::List { of: &$any, at_least: 2 }, $uniform),
                        optional("exponential", $above_zero, "The mean of an exponential distribution."),
                        optional("normal", Kind::Table(&NORMAL), "A normal distribution, truncated."),
                        optional("log_normal", Kind::Table(&LOG_NORMAL), "A distribution whose logarithm is normal."),
                        optional("pareto", Kind::Table(&PARETO), "A distribution with a heavy tail."),
                        optional("listed", Kind::List { of: &$any, at_least: 1 }, $listed),
                    ],
                )
                .with(&[Rule::ExactlyOne(&["uniform", "exponential", "normal", "log_normal", "pareto", "listed"])])
            };
        };
    }

    distribution!(
        DISTRIBUTION = "distribution",
        "A length of time that is drawn each time it is needed; its unit is that of the key it stands under.",
        "",
        TIME,
        TIME_ABOVE_ZERO,
        ("shortest", "The shortest and the longest; every length between them is as likely.", "longest"),
        "Lengths that were measured; each is as likely."
    );

    /// A fixed or drawn duration.
    pub(super) const DRAWN: Kind = Kind::Either(&[TIME, Kind::Table(&DISTRIBUTION)]);

    /// The largest value of a distribution's parameter, in bytes.
    const MOST_BYTES: f64 = 1e12;
    const BYTES: Kind = Kind::Number { minimum: 0.0, maximum: MOST_BYTES };
    const BYTES_ABOVE_ZERO: Kind = Kind::Positive { maximum: MOST_BYTES };

    distribution!(
        SIZES = "sizes",
        "A number of bytes that is drawn each time it is needed, rounded, and at least 1.",
        " sizes",
        BYTES,
        BYTES_ABOVE_ZERO,
        ("fewest", "The fewest and the most; all between are as likely.", "most"),
        "Sizes that were measured; each is as likely."
    );

    /// A fixed or drawn number of bytes.
    pub(super) const SIZE: Kind = Kind::Either(&[TOTAL, Kind::Table(&SIZES)]);
}

/// What a profile sets.
pub(super) static PROFILE: Table = table(
    "profile",
    "A stack as it is deployed.",
    &[
        required("tcp", Kind::Table(&TCP), "Its connection settings."),
        required("sender", Kind::Table(&SENDER), "Its algorithms."),
    ],
);

/// The whole file.
pub(super) static SCENARIO: Table = table("scenario", "One run of the eifel simulator, as data.", &[
        optional("title", Kind::Text, "A title for the reader."),
        default(
            "seed",
            Kind::Integer { minimum: 0, maximum: i64::MAX },
            Integer(1),
            "Everything random is derived from it. The same scenario with the same seed gives the same run.",
        ),
        default(
            "repetitions",
            Kind::Integer { minimum: 1, maximum: 1_000_000 },
            Integer(1),
            "How many runs, each with its own draws.",
        ),
        required("duration_s", kinds::SECONDS_ABOVE_ZERO, "The run stops here at the latest."),
        default(
            "stop",
            Kind::Word(&["all-flows-done", "first-flow-done", "at-duration"]),
            Word("all-flows-done"),
            "When the run stops before `duration_s`: when every flow that has an end is done, when the first of them is, \
             or never. Flows without an end do not count; a run of nothing else lasts for `duration_s`.",
        ),
        optional(
            "header_bytes",
            Kind::Integer { minimum: 0, maximum: 1000 },
            "What links charge a TCP segment for its headers, in place of the real ones, to compare with simulators \
             that do so. Left out: IP (20 bytes, 40 of IPv6), TCP (20 bytes) and the options that the segment carries.",
        ),
        default(
            "ip",
            Kind::Word(&["ipv4", "ipv6"]),
            Word("ipv4"),
            "The version of IP below TCP: what links charge, what captures hold, and the MSS that is left out.",
        ),
        optional(
            "record",
            Kind::List { of: &Kind::Word(super::TABLES), at_least: 0 },
            "The tables that a run keeps where the caller does not say. Left out: none.",
        ),
        optional(
            "captures",
            Kind::List { of: &Kind::Name, at_least: 0 },
            "The ends of connections at which a run captures packets (pcapng) where the caller does not say. Left out: none.",
        ),
        optional("point_to_point", Kind::Table(&link::POINT_TO_POINT), "Two nodes and a link each way, in short form."),
        optional("dumbbell", Kind::Table(&link::DUMBBELL), "Hosts on both sides of one bottleneck, in short form."),
        optional(
            "node",
            Kind::List { of: &Kind::Table(&link::NODE), at_least: 1 },
            "The nodes, where no short form is used.",
        ),
        optional(
            "link",
            Kind::List { of: &Kind::Table(&link::LINK), at_least: 1 },
            "The links, where no short form is used.",
        ),
        optional(
            "route",
            Kind::List { of: &Kind::Table(&link::ROUTE), at_least: 1 },
            "Routes that differ from the shortest path by hops.",
        ),
        optional(
            "spike",
            Kind::List { of: &Kind::Table(&spike::SPIKE), at_least: 1 },
            "Delay spikes: all packets of some links are held, then released back to back.",
        ),
        optional(
            "outage",
            Kind::List { of: &Kind::Table(&spike::OUTAGE), at_least: 1 },
            "Outages: some links drop every packet that comes to them.",
        ),
        optional(
            "proxy",
            Kind::Table(&proxy::PROXY),
            "Proxies that filter needless retransmissions and duplicate ACKs.",
        ),
        optional("tcp", Kind::Table(&TCP), "Connection settings for all flows; `flow.tcp` changes them key by key."),
        optional(
            "sctp",
            Kind::Table(&SCTP),
            "Association settings for all flows over SCTP; `flow.sctp` changes them key by key.",
        ),
        optional(
            "sender",
            Kind::Table(&SENDER),
            "The senders' algorithms for all flows; `flow.sender` changes them key by key.",
        ),
        required("flow", Kind::List { of: &Kind::Table(&flow::FLOW), at_least: 1 }, "The flows."),
    ]).with(&[
        Rule::AtMostOne(&["point_to_point", "dumbbell", "node"]),
        Rule::AtMostOne(&["point_to_point", "dumbbell", "link"]),
        Rule::ExactlyOne(&["point_to_point", "dumbbell", "link"]),
        Rule::Needs("node", "link"),
        Rule::Needs("link", "node"),
        Rule::Needs("route", "link"),
    ]);
