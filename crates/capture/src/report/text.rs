//! A short summary of a report for people. File names are printed with their control characters
//! escaped; everything else that a capture contributes is a number or an address.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Report;
use crate::quic;
use crate::result::{Cause, Confidence, DirectionSummary, End, Retransmission, Summary, Verdict};

/// The number of directions that a summary lists, those with the most spurious retransmissions
/// first.
const MOST_SHOWN: usize = 10;

/// Returns a summary of the report, in lines of at most 120 characters.
pub fn summary(report: &Report) -> String {
    let mut text = String::new();
    // Writing into a string cannot fail.
    let _ = write(report, &mut text);
    text
}

fn write(report: &Report, text: &mut String) -> std::fmt::Result {
    for capture in &report.captures {
        writeln!(text, "{}: {} frames", escaped(&capture.file), capture.frames)?;
        if let Some(error) = &capture.error {
            writeln!(text, "  reading stopped there: {}", escaped(error))?;
        }
    }
    if let Some(losses) = &report.quic {
        quic::text::write(losses, text)?;
        if report.captures.is_empty() {
            return Ok(());
        }
    }
    let connections = report.connections.len() as u64;
    if report.sctp_packets == 0 || report.segments > 0 {
        write!(text, "{} TCP segments", report.segments)?;
    }
    if report.sctp_packets > 0 {
        let and = if report.segments > 0 { " and " } else { "" };
        write!(text, "{and}{} SCTP packets", report.sctp_packets)?;
    }
    write!(text, " in {connections} connections with data")?;
    if report.connections_without_data > 0 {
        write!(text, ", {} without", report.connections_without_data)?;
    }
    writeln!(text)?;
    for (other, count) in &report.others {
        writeln!(text, "  {count} frames not analysed: {other}")?;
    }
    if report.times_clock_went_back > 0 {
        writeln!(text, "  the clock went back {} times", report.times_clock_went_back)?;
    }
    if report.evicted > 0 {
        writeln!(text, "  {} connections were evicted before they ended", report.evicted)?;
    }
    if !report.has_packets() {
        return writeln!(
            text,
            "nothing can be said about retransmissions: no frame holds a TCP or SCTP packet that is read"
        );
    }
    let probes = report.retransmissions.iter().filter(|one| one.is_probe()).count();
    let all = report.retransmissions.len() - probes;
    if probes > 0 {
        writeln!(text, "{probes} keep-alives and zero-window probes")?;
    }
    if all == 0 {
        return writeln!(text, "no retransmissions");
    }
    let (spurious, needed) = (report.count(Verdict::Spurious), report.count(Verdict::Needed));
    writeln!(text)?;
    writeln!(
        text,
        "{all} retransmissions: {spurious} spurious ({}), {needed} needed, {} undecidable",
        percentage(spurious, all),
        all - spurious - needed
    )?;
    causes(report, text)?;
    directions(report, text)
}

fn causes(report: &Report, text: &mut String) -> std::fmt::Result {
    let mut causes: BTreeMap<Cause, [usize; 4]> = BTreeMap::new();
    for one in report.retransmissions.iter().filter(|one| !one.is_probe()) {
        let counts = causes.entry(one.cause).or_default();
        counts[0] += 1;
        counts[1] += usize::from(one.verdict == Verdict::Spurious);
        counts[2] += usize::from(one.verdict == Verdict::Needed);
        counts[3] += usize::from(one.confidence == Confidence::Certain);
    }
    writeln!(text, "  {:<18}{:>8}{:>10}{:>8}{:>14}", "cause", "all", "spurious", "needed", "certain")?;
    for (cause, [all, spurious, needed, certain]) in causes {
        writeln!(text, "  {:<18}{all:>8}{spurious:>10}{needed:>8}{certain:>14}", cause.name())?;
    }
    Ok(())
}

/// Writes the directions with the most spurious retransmissions.
fn directions(report: &Report, text: &mut String) -> std::fmt::Result {
    let mut found: BTreeMap<(u64, bool), [usize; 2]> = BTreeMap::new();
    let all = report.retransmissions.iter().filter(|one| !one.is_probe());
    for Retransmission { connection, sender, verdict, .. } in all {
        let counts = found.entry((*connection, *sender == End::Server)).or_default();
        counts[0] += 1;
        counts[1] += usize::from(*verdict == Verdict::Spurious);
    }
    let mut rows: Vec<_> = found.into_iter().collect();
    rows.sort_by_key(|(key, [all, spurious])| (usize::MAX - spurious, usize::MAX - all, *key));
    writeln!(text)?;
    for ((number, from_server), [all, spurious]) in rows.iter().take(MOST_SHOWN) {
        let Some(one) = report.connections.iter().find(|one| one.connection == *number) else { continue };
        direction(one, *from_server, (*all, *spurious), text)?;
    }
    if rows.len() > MOST_SHOWN {
        writeln!(text, "and {} more directions with retransmissions: see --json", rows.len() - MOST_SHOWN)?;
    }
    Ok(())
}

fn direction(one: &Summary, from_server: bool, counts: (usize, usize), text: &mut String) -> std::fmt::Result {
    let (from, to) = if from_server { (one.server, one.client) } else { (one.client, one.server) };
    let DirectionSummary { vantage, rtt_ms_min, model, cost, counts: data } = &one.directions[usize::from(from_server)];
    let (all, spurious) = counts;
    writeln!(
        text,
        "connection {}: {from} -> {to}: {spurious} of {all} retransmissions spurious, {} bytes in {} segments",
        one.connection, data.bytes, data.segments
    )?;
    write!(text, "  seen {}", vantage.name())?;
    if let Some(rtt) = rtt_ms_min {
        write!(text, ", round trip to the receiver at least {rtt:.3} ms")?;
    }
    if let Some(model) = model {
        write!(text, ", sends like {model}")?;
    }
    if data.reordered > 0 {
        write!(text, ", {} reordered", data.reordered)?;
    }
    writeln!(text)?;
    if cost.bytes_needless == 0 {
        return Ok(());
    }
    writeln!(
        text,
        "  cost: {} bytes sent needlessly, window smaller by {} bytes, {:.0} ms of sending lost: {:.2} Mbit/s instead of {:.2}",
        cost.bytes_needless,
        cost.window_lost_bytes,
        cost.held_back_ms,
        cost.goodput_bps / 1e6,
        cost.goodput_without_bps / 1e6
    )
}

pub(crate) fn percentage(part: usize, all: usize) -> String {
    format!("{:.1} %", part as f64 * 100.0 / all.max(1) as f64)
}

/// Escapes control characters, because a terminal must not obey the name of a file.
pub(crate) fn escaped(name: &str) -> String {
    let escape = |letter: char| {
        if letter.is_control() { letter.escape_default().to_string() } else { letter.to_string() }
    };
    name.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(escaped("a\u{1b}[2Jä.pcap"), "a\\u{1b}[2Jä.pcap");
    }
}
