//! The first sentences of a report: how many retransmissions were needless, and what they cost.

use super::Report;
use crate::result::{Cost, Retransmission, StackReaction, Verdict};

/// Returns the total in words. `None` if only logs were analysed.
pub(crate) fn headline(report: &Report) -> Option<String> {
    if report.quic.is_some() && report.captures.is_empty() {
        return None;
    }
    if !report.has_packets() {
        let why = "no frame holds a TCP or SCTP packet that is read";
        return Some(format!("Nothing can be said about retransmissions: {why}."));
    }
    let rows: Vec<_> = report.retransmissions.iter().filter(|one| !one.repairs_nothing()).collect();
    if rows.is_empty() {
        let segments: u64 = report.directions().map(|way| way.counts.segments).sum();
        return Some(format!(
            "Nothing was retransmitted, in {}.",
            counted(segments, "segment with data", "segments with data")
        ));
    }
    let spurious: Vec<_> = rows.iter().copied().filter(|one| one.verdict == Verdict::Spurious).collect();
    let mut said = vec![verdicts(report, &rows, spurious.len())];
    if !spurious.is_empty() {
        said.extend(reactions(&spurious));
        said.extend(cost(report));
    }
    Some(said.join(" "))
}

/// Returns how many retransmissions were needless, and which share of the bytes they are.
fn verdicts(report: &Report, rows: &[&Retransmission], spurious: usize) -> String {
    let sent: u64 = report.directions().map(|way| way.counts.bytes).sum();
    let bytes: u64 = rows
        .iter()
        .filter(|one| spurious == 0 || one.verdict == Verdict::Spurious)
        .map(|one| u64::from(one.bytes))
        .sum();
    let [needed, undecidable] = [Verdict::Needed, Verdict::Undecidable].map(|verdict| report.count(verdict) as u64);
    let mut others = Vec::new();
    if needed > 0 {
        others.push(format!("{needed} {} needed", if needed == 1 { "was" } else { "were" }));
    }
    if undecidable > 0 {
        others.push(format!("{undecidable} {} undecidable", if undecidable == 1 { "is" } else { "are" }));
    }
    // A segment that opens a connection has no data.
    let of_bytes = match bytes {
        0 => "no bytes of data".to_owned(),
        bytes => format!("{} of the bytes sent", share(bytes, sent)),
    };
    let all = rows.len() as u64;
    if spurious == 0 {
        let retransmissions = counted(all, "retransmission", "retransmissions");
        return format!("{retransmissions}, {of_bytes}: none is known to be needless; {}.", others.join(", "));
    }
    let were = if spurious == 1 { "was" } else { "were" };
    let others = if others.is_empty() { String::new() } else { format!(" {}.", others.join(", ")) };
    let retransmissions = if all == 1 { "retransmission" } else { "retransmissions" };
    format!("{spurious} of {all} {retransmissions} {were} needless: {of_bytes}.{others}")
}

/// Returns to how many needless retransmissions the sender undid its reaction.
fn reactions(spurious: &[&Retransmission]) -> Option<String> {
    let count = |wanted| spurious.iter().filter(|one| one.stack_noticed == wanted).count();
    let (undone, kept) = (count(StackReaction::Undone), count(StackReaction::NotUndone));
    match (undone, kept) {
        (0, 0) => None,
        (0, _) => Some(format!("The sender did not undo its reaction to {kept}.")),
        (_, 0) => Some(format!("The sender undid its reaction to {undone}.")),
        _ => Some(format!("The sender undid its reaction to {undone}, and not to {kept}.")),
    }
}

/// Returns what smaller windows cost in all directions.
fn cost(report: &Report) -> Option<String> {
    let all = report.directions().fold(Cost::default(), |sum, way| Cost {
        window_lost_bytes: sum.window_lost_bytes + way.cost.window_lost_bytes,
        held_back_ms: sum.held_back_ms + way.cost.held_back_ms,
        ..sum
    });
    window(&all).map(|window| format!("Afterwards: {window}."))
}

/// Returns what smaller windows cost after needless retransmissions; `None` if nothing is known.
pub(crate) fn window(cost: &Cost) -> Option<String> {
    let smaller = (cost.window_lost_bytes > 0).then(|| format!("windows smaller by {} bytes", cost.window_lost_bytes));
    let lost = (cost.held_back_ms >= 0.5).then(|| format!("{:.0} ms of sending lost", cost.held_back_ms));
    let known: Vec<_> = smaller.into_iter().chain(lost).collect();
    (!known.is_empty()).then(|| known.join(", "))
}

/// Returns a number with its noun.
pub(crate) fn counted(number: u64, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

/// Returns a share as a percentage that never hides that there is something.
pub(crate) fn share(part: u64, all: u64) -> String {
    let percent = part as f64 * 100.0 / all.max(1) as f64;
    match percent {
        _ if part == 0 => "0 %".to_owned(),
        percent if percent < 0.01 => "less than 0.01 %".to_owned(),
        percent if percent < 10.0 => format!("{percent:.2} %"),
        percent => format!("{percent:.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_that_is_small_is_not_called_zero() {
        assert_eq!(
            [(0, 7), (1, 1_000_000), (11, 10_000), (1, 8), (0, 0)].map(|(part, all)| share(part, all)),
            ["0 %", "less than 0.01 %", "0.11 %", "12.5 %", "0 %"]
        );
    }
}
