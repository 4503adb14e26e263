//! The first sentences of a report: how many retransmissions were needless, and what they cost.

use super::Report;
use crate::frame::decode::Skipped;
use crate::quic::{LossVerdict, Losses, TraceSummary};
use crate::result::{Cost, Retransmission, StackReaction, Verdict};

/// Returns the total in words: of captures, and then of logs.
pub(crate) fn headline(report: &Report) -> String {
    let of_captures = (report.quic.is_none() || !report.captures.is_empty()).then(|| captures(report));
    let of_logs = report.quic.as_ref().map(logs);
    of_captures.into_iter().chain(of_logs).collect::<Vec<_>>().join(" ")
}

/// Returns how many of the packets that logs declare lost had arrived.
fn logs(losses: &Losses) -> String {
    let sum = |of: fn(&TraceSummary) -> u64| losses.traces.iter().map(of).sum::<u64>();
    let (sent, unnamed) = (sum(|trace| trace.sent), sum(|trace| trace.unnamed));
    let [spurious, genuine, undecidable] =
        [LossVerdict::Spurious, LossVerdict::Genuine, LossVerdict::Undecidable].map(|one| losses.count(one) as u64);
    let undecidable = undecidable + unnamed;
    let all = spurious + genuine + undecidable;
    match (sent, all) {
        (0, 0) => return "Nothing can be said about losses: the logs show no packet that was sent.".to_owned(),
        (_, 0) => return format!("No packet was declared lost, of {}.", counted(sent, "packet sent", "packets sent")),
        _ => {}
    }
    let packets = counted(all, "packet", "packets");
    let others = others([(genuine, "lost"), (undecidable, "undecidable")]);
    if spurious == 0 {
        return format!("{packets} declared lost: none is known to have arrived; {others}.");
    }
    let others = if others.is_empty() { others } else { format!(" {others}.") };
    format!("{spurious} of {packets} declared lost had arrived.{others}")
}

/// Returns the total of captures.
fn captures(report: &Report) -> String {
    if !report.has_packets() {
        return nothing(report);
    }
    let rows: Vec<_> = report.retransmissions.iter().filter(|one| !one.repairs_nothing()).collect();
    if rows.is_empty() {
        return match report.directions().map(|way| way.counts.segments).sum() {
            0 => format!("{NOTHING}: no packet carries data."),
            sent => format!("Nothing was retransmitted, in {}.", with_data(report, sent)),
        };
    }
    let spurious: Vec<_> = rows.iter().copied().filter(|one| one.verdict == Verdict::Spurious).collect();
    let mut said = vec![verdicts(report, &rows, spurious.len())];
    if !spurious.is_empty() {
        said.extend(reactions(&spurious));
        said.extend(cost(report));
    }
    said.join(" ")
}

const NOTHING: &str = "Nothing can be said about retransmissions";

/// Says what captures without a TCP or SCTP packet hold.
fn nothing(report: &Report) -> String {
    let frames: u64 = report.captures.iter().map(|capture| capture.frames).sum();
    let said = counted(frames, "frame", "frames");
    match report.others.iter().max_by_key(|(_, count)| **count) {
        None => format!("{NOTHING}: the capture holds no packet."),
        Some((other, _)) if *other == Skipped::NotTcp.to_string() => {
            format!("{NOTHING}: the capture holds {said}, and none with TCP or SCTP.")
        }
        Some((other, count)) => format!("{NOTHING}: of {said}, {count} could not be read: {other}."),
    }
}

/// Returns the number of segments or chunks with data that were sent.
fn with_data(report: &Report, sent: u64) -> String {
    match (report.segments, report.sctp_packets) {
        (0, _) => counted(sent, "DATA chunk", "DATA chunks"),
        (_, 0) => counted(sent, "segment with data", "segments with data"),
        _ => counted(sent, "segment or chunk with data", "segments and chunks with data"),
    }
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
    let others = others([(needed, "needed"), (undecidable, "undecidable")]);
    // A segment that opens a connection has no data.
    let of_bytes = match bytes {
        0 => "no bytes of data".to_owned(),
        bytes => format!("{} of the bytes sent", share(bytes, sent)),
    };
    let all = rows.len() as u64;
    if spurious == 0 {
        let retransmissions = counted(all, "retransmission", "retransmissions");
        return format!("{retransmissions}, {of_bytes}: none is known to be needless; {others}.");
    }
    let were = if spurious == 1 { "was" } else { "were" };
    let others = if others.is_empty() { others } else { format!(" {others}.") };
    let retransmissions = if all == 1 { "retransmission" } else { "retransmissions" };
    format!("{spurious} of {all} {retransmissions} {were} needless: {of_bytes}.{others}")
}

/// Returns how many are settled otherwise, and how many are open.
fn others([settled, open]: [(u64, &str); 2]) -> String {
    let mut said = Vec::new();
    if settled.0 > 0 {
        said.push(format!("{} {} {}", settled.0, if settled.0 == 1 { "was" } else { "were" }, settled.1));
    }
    if open.0 > 0 {
        said.push(format!("{} {} {}", open.0, if open.0 == 1 { "is" } else { "are" }, open.1));
    }
    said.join(", ")
}

/// Returns to how many needless retransmissions the sender undid its reaction.
fn reactions(spurious: &[&Retransmission]) -> Option<String> {
    let undone = spurious.iter().filter(|one| one.stack_noticed == StackReaction::Undone).count();
    (undone > 0).then(|| format!("The sender is seen to have undone its reaction to {undone}."))
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
    let lost = (cost.held_back_ms >= 0.5).then(|| format!("{} of sending lost", time(cost.held_back_ms)));
    let known: Vec<_> = smaller.into_iter().chain(lost).collect();
    (!known.is_empty()).then(|| known.join(", "))
}

/// Writes milliseconds for people.
pub(crate) fn time(ms: f64) -> String {
    if ms >= 1000.0 {
        format!("{:.2} s", ms / 1e3)
    } else if ms >= 10.0 {
        format!("{ms:.0} ms")
    } else {
        format!("{ms:.2} ms")
    }
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
