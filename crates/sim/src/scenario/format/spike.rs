//! Delay spikes and outages. Both are either listed or drawn.

use super::super::shape::{Kind, Rule, Table, optional, required, table};
use super::kinds::{DRAWN, SECONDS, SECONDS_ABOVE_ZERO};

static AT: Table = table(
    "spike-at",
    "One listed spike or outage.",
    &[
        required("start_s", SECONDS, "When it begins."),
        optional("end_s", SECONDS_ABOVE_ZERO, "When it ends."),
        optional("length_s", SECONDS_ABOVE_ZERO, "How long it lasts, in place of its end."),
    ],
)
.with(&[Rule::ExactlyOne(&["end_s", "length_s"])]);

/// The keys for the times of spikes or outages. The table's own keys come before them.
macro_rules! scheduled_keys {
    ([$($own:expr),* $(,)?]) => {
        &[
            $($own,)*
            optional("at", Kind::List { of: &Kind::Table(&AT), at_least: 1 }, "All of them, in the order of time."),
            optional("first_s", DRAWN, "When the first one begins."),
            optional("length_s", DRAWN, "How long each lasts."),
            optional("interval_s", DRAWN, "From one to the next; `interval` says from where."),
            optional(
                "interval",
                Kind::Word(&["start-to-start", "end-to-start"]),
                "Whether `interval_s` runs from the beginning of one or from its end.",
            ),
        ]
    };
}

const SCHEDULED: &[Rule] = &[
    Rule::ExactlyOne(&["at", "first_s"]),
    Rule::Needs("first_s", "length_s"),
    Rule::Needs("first_s", "interval_s"),
    Rule::Needs("length_s", "first_s"),
    Rule::Needs("interval_s", "first_s"),
    Rule::Needs("interval_s", "interval"),
    Rule::Needs("interval", "interval_s"),
];

pub(super) static SPIKE: Table = table(
    "spike",
    "Delay spikes that hold one or several links together. They are listed (`at`), or drawn (`first_s`, \
              `length_s`, `interval_s`).",
    scheduled_keys!([
        optional("name", Kind::Name, "Its name; draws are derived from it. Left out: `spike1`, `spike2` …"),
        required("links", Kind::List { of: &Kind::Name, at_least: 1 }, "The links that are held, by name."),
        required(
            "holds",
            Kind::Word(&["sending", "arriving"]),
            "`sending`: the transmitter stands still; a transmission that has begun is finished, what propagates \
             arrives, and the queue fills. `arriving`: what is due at the far end during the spike arrives at its end, \
             in order and all at once.",
        ),
    ]),
)
.with(SCHEDULED);

pub(super) static OUTAGE: Table = table(
    "outage",
    "Outages, during which one or several links drop every packet that comes to them. They are listed (`at`), or \
              drawn (`first_s`, `length_s`, `interval_s`).",
    scheduled_keys!([
        optional("name", Kind::Name, "Its name; draws are derived from it. Left out: `outage1`, `outage2` …"),
        required("links", Kind::List { of: &Kind::Name, at_least: 1 }, "The links without coverage, by name."),
    ]),
)
.with(SCHEDULED);
