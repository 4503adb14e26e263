//! The retransmissions as a truth file.

use super::result::{Fate, Passed, Report, Retransmission};
use crate::result::Verdict;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The columns, as `eifel truth record` writes them. `spurious` is empty where the captures do not
/// show it. They never show a cause, an episode or an undo.
pub const TRUTH: &str =
    "frame,time,seq,len,nth,fate,spurious,orig_known,cause,flow,episode,undo,undo_after_ms,segments,traced";

impl Report {
    /// Returns the truth about the capture of a place, as CSV. A frame may hold several segments.
    /// It is spurious if all of them are.
    pub fn truth(&self, place: usize) -> String {
        let mut frames: BTreeMap<u64, (Passed, Vec<&Retransmission>)> = BTreeMap::new();
        for one in &self.retransmissions {
            if let Some(passed) = one.frames.get(place).copied().flatten() {
                frames.entry(passed.frame).or_insert_with(|| (passed, Vec::new())).1.push(one);
            }
        }
        let mut text = format!("{TRUTH}\n");
        for (passed, segments) in frames.into_values() {
            line(&mut text, passed, &segments);
        }
        text
    }
}

fn line(text: &mut String, passed: Passed, segments: &[&Retransmission]) {
    let first = segments[0];
    let all = |verdict| segments.iter().all(|one| one.verdict == verdict);
    let spurious = match segments.iter().any(|one| one.verdict == Verdict::Needed) {
        true => "0",
        false if all(Verdict::Spurious) => "1",
        false => "",
    };
    let known = u8::from(segments.iter().all(|one| one.original_known));
    let bytes: u64 = segments.iter().map(|one| one.bytes).sum();
    let Retransmission { seq, copy, connection, nanos, .. } = first;
    let fate = if segments.iter().all(|one| one.fate == first.fate) { first.fate } else { Fate::Unknown };
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "{},{}.{:06},{seq},{bytes},{copy},{},{spurious},{known},,{connection},,,,{},{}",
        passed.frame,
        nanos / 1_000_000_000,
        nanos % 1_000_000_000 / 1000,
        fate.name(),
        segments.len(),
        u8::from(passed.traced),
    );
}
