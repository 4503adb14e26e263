//! A receiver that answers each arrival as a table says.

use super::super::shape::Fallback::{Switch, Word};
use super::{Kind, Table, default, optional};
use crate::liar::schedule::{Duplicates, Echoed, Number};

pub(in super::super) static SCHEDULE: Table = Table {
    name: "schedule",
    summary: "A receiver whose acknowledgements are altered by what has just arrived; what is left out is honest.",
    keys: &[
        optional("in_order", Kind::Table(&ANSWER), "After the next segment in order, while nothing is missing."),
        optional("above_gap", Kind::Table(&ANSWER), "After a new segment above a gap."),
        optional("again", Kind::Table(&ANSWER), "After something that has arrived before."),
        optional("repair", Kind::Table(&ANSWER), "After a part of what was missing, while something is missing still."),
        optional("last_repair", Kind::Table(&ANSWER), "After the last part of what was missing."),
    ],
    rules: &[],
};

static ANSWER: Table = Table {
    name: "answer",
    summary: "How one acknowledgement is altered.",
    keys: &[
        default(
            "number",
            Kind::Word(Number::NAMES),
            Word("all"),
            "What is acknowledged: all that has arrived in order, all but its last segment, the same as before, or one \
             segment more than before.",
        ),
        default(
            "echo",
            Kind::Word(Echoed::NAMES),
            Word("due"),
            "The timestamp that is echoed: the due one, or that of the first segment that was not acknowledged before, of \
             the segment right below or above the lowest gap, or of the newest original.",
        ),
        default(
            "duplicates",
            Kind::Word(Duplicates::NAMES),
            Word("true"),
            "The duplicates that are reported: the true ones, none, or whatever arrived last.",
        ),
        default("hides_sack", Kind::Switch, Switch(false), "Whether nothing above the number is reported."),
        default("denies_mark", Kind::Switch, Switch(false), "Whether it claims to answer an original, by its mark."),
        default("withheld", Kind::Switch, Switch(false), "Whether the acknowledgement does not leave."),
    ],
    rules: &[],
};
