//! A receiver that answers each arrival according to a table.

use super::super::shape::Fallback::{Integer, Switch, Word};
use super::super::shape::Key;
use super::{Kind, Table, default, optional, table};
use crate::liar::schedule::{Duplicates, Echoed, Gaps, Number};

pub(in super::super) static SCHEDULE: Table = table(
    "schedule",
    "A receiver that alters its acknowledgements by the kind of the latest arrival. Kinds that are left out are answered honestly.",
    &[
        IN_ORDER,
        ABOVE_GAP,
        AGAIN,
        REPAIR,
        LAST_REPAIR,
        optional(
            "other",
            Kind::Table(&OTHER),
            "The table that is used after an answer with `turns`, until the next such answer.",
        ),
    ],
);

static OTHER: Table = table(
    "other",
    "The other table of a receiver with two states.",
    &[IN_ORDER, ABOVE_GAP, AGAIN, REPAIR, LAST_REPAIR],
);

const IN_ORDER: Key =
    optional("in_order", Kind::Table(&ANSWER), "After the next segment in order, while nothing is missing.");
const ABOVE_GAP: Key = optional("above_gap", Kind::Table(&ANSWER), "After a new segment above a gap.");
const AGAIN: Key = optional("again", Kind::Table(&ANSWER), "After data that had arrived before.");
const REPAIR: Key =
    optional("repair", Kind::Table(&ANSWER), "After a segment that fills a gap, while another gap remains.");
const LAST_REPAIR: Key = optional("last_repair", Kind::Table(&ANSWER), "After the segment that fills the last gap.");

static ANSWER: Table = table(
    "answer",
    "How one acknowledgement is altered.",
    &[
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
            "The duplicates that are reported: the true ones, none, or the latest arrival.",
        ),
        default(
            "gaps",
            Kind::Word(Gaps::NAMES),
            Word("true"),
            "The data above the number that is reported: what has arrived above what is missing, nothing, or besides all \
             that has arrived beyond the first segment above the number, as if that one were missing.",
        ),
        default("denies_mark", Kind::Switch, Switch(false), "Whether its mark claims that it answers an original."),
        default("withheld", Kind::Switch, Switch(false), "Whether the acknowledgement does not leave."),
        default(
            "held_ms",
            Kind::Integer { minimum: 0, maximum: 60_000 },
            Integer(0),
            "How long it is held back; later ones may leave before it.",
        ),
        default(
            "every",
            Kind::Integer { minimum: 1, maximum: u8::MAX as i64 },
            Integer(1),
            "Number of consecutive arrivals of this kind that share one answer, to the last of them.",
        ),
        default("turns", Kind::Switch, Switch(false), "Whether the other table is used from the next arrival on."),
    ],
);
