//! Reads the lie of a flow's receiver.

use super::reader::Reader;
use crate::liar::Kind;
use crate::liar::schedule::{Answer, Duplicates, Echoed, Gaps, Number, Occasion, Schedule};

/// Reads the value of `liar`: the name of a lie, or a table of answers.
pub(super) fn read(flow: &Reader<'_>) -> Option<Kind> {
    let Some(table) = flow.table("liar") else { return flow.maybe_text("liar").and_then(Kind::named) };
    let other = table.table("other").map_or_else(Default::default, |other| answers(&other));
    Some(Kind::Scheduled(Schedule { tables: [answers(&table), other] }))
}

fn answers(table: &Reader<'_>) -> [Answer; 5] {
    Occasion::NAMES.map(|key| table.table(key).map_or_else(Answer::default, |table| answer(&table)))
}

fn answer(table: &Reader<'_>) -> Answer {
    Answer {
        number: chosen(table.text("number"), Number::NAMES, &Number::ALL),
        echoed: chosen(table.text("echo"), Echoed::NAMES, &Echoed::ALL),
        duplicates: chosen(table.text("duplicates"), Duplicates::NAMES, &Duplicates::ALL),
        gaps: chosen(table.text("gaps"), Gaps::NAMES, &Gaps::ALL),
        denies_mark: table.switch("denies_mark"),
        withheld: table.switch("withheld"),
        held_ms: table.integer("held_ms") as u32,
        every: table.integer("every") as u8,
        turns: table.switch("turns"),
    }
}

fn chosen<T: Copy>(name: &str, names: &[&str], all: &[T]) -> T {
    let index = names.iter().position(|known| *known == name).expect("checked: one of the names");
    all[index]
}
