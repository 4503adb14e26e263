//! Delay spikes.

use super::super::shape::{Kind, Rule, Table, optional, required};
use super::kinds::{DRAWN, SECONDS, SECONDS_ABOVE_ZERO};

static AT: Table = Table {
    name: "spike-at",
    summary: "One listed spike.",
    keys: &[
        required("start_s", SECONDS, "When it begins."),
        optional("end_s", SECONDS_ABOVE_ZERO, "When it ends."),
        optional("length_s", SECONDS_ABOVE_ZERO, "How long it lasts, in place of its end."),
    ],
    rules: &[Rule::ExactlyOne(&["end_s", "length_s"])],
};

pub(super) static SPIKE: Table = Table {
    name: "spike",
    summary: "Delay spikes that hold one or several links together. They are listed (`at`), or drawn (`first_s`, \
              `length_s`, `interval_s`).",
    keys: &[
        optional("name", Kind::Name, "Its name; draws are derived from it. Left out: `spike1`, `spike2` …"),
        required("links", Kind::List { of: &Kind::Name, at_least: 1 }, "The links that are held, by name."),
        required(
            "holds",
            Kind::Word(&["sending", "arriving"]),
            "`sending`: the transmitter stands still; a transmission that has begun is finished, what propagates \
             arrives, and the queue fills. `arriving`: what is due at the far end during the spike arrives at its end, \
             in order and all at once.",
        ),
        optional("at", Kind::List { of: &Kind::Table(&AT), at_least: 1 }, "The spikes, in the order of time."),
        optional("first_s", DRAWN, "When the first spike begins."),
        optional("length_s", DRAWN, "How long each lasts."),
        optional("interval_s", DRAWN, "From one spike to the next; `interval` says from where."),
        optional(
            "interval",
            Kind::Word(&["start-to-start", "end-to-start"]),
            "Whether `interval_s` runs from the beginning of a spike or from its end.",
        ),
    ],
    rules: &[
        Rule::ExactlyOne(&["at", "first_s"]),
        Rule::Needs("first_s", "length_s"),
        Rule::Needs("first_s", "interval_s"),
        Rule::Needs("length_s", "first_s"),
        Rule::Needs("interval_s", "first_s"),
        Rule::Needs("interval_s", "interval"),
        Rule::Needs("interval", "interval_s"),
    ],
};
