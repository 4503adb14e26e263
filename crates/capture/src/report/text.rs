//! A short summary of a report for people. File names are printed with their control characters
//! escaped; everything else that a capture contributes is a number or an address.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::total::{self, counted, share};
use super::{Report, advice};
use crate::quic;
use crate::result::{Cause, Confidence, DirectionSummary, End, Retransmission, Summary, Verdict};

/// The number of directions that a summary lists, those with the most spurious retransmissions
/// first.
const MOST_SHOWN: usize = 10;

/// The longest line, in characters.
const WIDTH: usize = 120;

/// Returns a summary of the report, the total first, in lines of at most 120 characters as far as file
/// names allow.
pub fn summary(report: &Report) -> String {
    let mut text = String::new();
    // Writing into a string cannot fail.
    let _ = write(report, &mut text);
    text
}

fn write(report: &Report, text: &mut String) -> std::fmt::Result {
    if let Some(headline) = total::headline(report) {
        wrap(text, "", &headline)?;
        writeln!(text)?;
    }
    for capture in &report.captures {
        writeln!(text, "{}: {}", escaped(&capture.file), counted(capture.frames, "frame", "frames"))?;
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
        write!(text, "{}", counted(report.segments, "TCP segment", "TCP segments"))?;
    }
    if report.sctp_packets > 0 {
        let and = if report.segments > 0 { " and " } else { "" };
        write!(text, "{and}{}", counted(report.sctp_packets, "SCTP packet", "SCTP packets"))?;
    }
    write!(text, " in {} with data", counted(connections, "connection", "connections"))?;
    if report.connections_without_data > 0 {
        write!(text, ", {} without", report.connections_without_data)?;
    }
    writeln!(text)?;
    for (other, count) in &report.others {
        writeln!(text, "  {} not analysed: {other}", counted(*count, "frame", "frames"))?;
    }
    if report.times_clock_went_back > 0 {
        writeln!(text, "  the clock went back {}", counted(report.times_clock_went_back, "time", "times"))?;
    }
    if report.evicted > 0 {
        writeln!(text, "  {} connections were evicted before they ended", report.evicted)?;
    }
    probes(report, text)?;
    if report.retransmissions.iter().any(|one| !one.repairs_nothing()) {
        causes(report, text)?;
        directions(report, text)?;
        advice(report, text)?;
    }
    Ok(())
}

/// Writes the segments that repeat data and repair nothing.
fn probes(report: &Report, text: &mut String) -> std::fmt::Result {
    let count = |cause| report.retransmissions.iter().filter(|one| one.cause == cause).count() as u64;
    let kinds = [
        (count(Cause::KeepAlive), "keep-alive", "keep-alives"),
        (count(Cause::ZeroWindowProbe), "zero-window probe", "zero-window probes"),
        (count(Cause::RepeatedFin), "FIN in a later ACK", "FINs in later ACKs"),
    ];
    let kinds: Vec<_> = kinds.iter().filter(|(count, ..)| *count > 0).collect();
    if kinds.is_empty() {
        return Ok(());
    }
    let kinds: Vec<_> = kinds.iter().map(|(count, one, several)| counted(*count, one, several)).collect();
    writeln!(text, "  not counted as retransmissions, since they repair nothing: {}", kinds.join(", "))
}

/// The counts of one cause.
#[derive(Clone, Copy, Default)]
struct Row {
    all: usize,
    spurious: usize,
    spurious_certain: usize,
    needed: usize,
    needed_certain: usize,
    undecidable: usize,
}

impl Row {
    fn add(&mut self, one: &Retransmission) {
        let certain = usize::from(one.confidence == Confidence::Certain);
        self.all += 1;
        match one.verdict {
            Verdict::Spurious => {
                (self.spurious, self.spurious_certain) = (self.spurious + 1, self.spurious_certain + certain)
            }
            Verdict::Needed => (self.needed, self.needed_certain) = (self.needed + 1, self.needed_certain + certain),
            Verdict::Undecidable => self.undecidable += 1,
        }
    }
}

fn causes(report: &Report, text: &mut String) -> std::fmt::Result {
    let mut causes: BTreeMap<Cause, Row> = BTreeMap::new();
    for one in report.retransmissions.iter().filter(|one| !one.repairs_nothing()) {
        causes.entry(one.cause).or_default().add(one);
    }
    let titles = ["all", "spurious", "certain", "needed", "certain", "undecidable"].map(|title| format!("{title:>13}"));
    writeln!(text, "\n  {:<10}{}", "cause", titles.concat())?;
    for (cause, row) in &causes {
        let Row { all, spurious, spurious_certain, needed, needed_certain, undecidable } = *row;
        let cells =
            [all, spurious, spurious_certain, needed, needed_certain, undecidable].map(|cell| format!("{cell:>13}"));
        writeln!(text, "  {:<10}{}", cause.name(), cells.concat())?;
    }
    let named: Vec<_> = causes.keys().map(|cause| format!("{}: {}", cause.name(), cause.meaning())).collect();
    wrap(text, "  ", &named.join("; "))?;
    legend(causes.values(), text)
}

/// Writes what the words of the table mean, as far as they occur in it.
fn legend<'a>(rows: impl Iterator<Item = &'a Row> + Clone, text: &mut String) -> std::fmt::Result {
    let occurs = |count: fn(&Row) -> usize| rows.clone().any(|row| count(row) > 0);
    let words = [
        (occurs(|row| row.spurious), Verdict::Spurious.meaning()),
        (occurs(|row| row.needed), Verdict::Needed.meaning()),
        (occurs(|row| row.undecidable), Verdict::Undecidable.meaning()),
        (
            occurs(|row| row.spurious_certain + row.needed_certain),
            ("certain", "proven, unless an end lies; otherwise likely"),
        ),
    ];
    let words: Vec<_> =
        words.iter().filter(|(occurs, _)| *occurs).map(|(_, (word, is))| format!("{word}: {is}")).collect();
    wrap(text, "  ", &words.join("; "))
}

/// Writes what the evidence says about the path, and what to set.
fn advice(report: &Report, text: &mut String) -> std::fmt::Result {
    let all = advice::advice(report);
    if all.is_empty() {
        return Ok(());
    }
    writeln!(text, "\nwhat the evidence shows, and what to do (settings and counters are those of Linux)")?;
    for one in all {
        wrap(text, "  ", &format!("{}: {}", one.fault.name(), one.evidence))?;
        wrap(text, "    ", &format!("set: {}", one.action))?;
        wrap(text, "    ", &format!("confirm: {}", one.confirm))?;
        wrap(text, "    ", &format!("source: {}", one.source))?;
    }
    Ok(())
}

/// Writes a sentence in lines of at most 120 characters. The first line is indented by `indent`, the
/// others by two more.
fn wrap(text: &mut String, indent: &str, sentence: &str) -> std::fmt::Result {
    let (mut line, further) = (indent.to_owned(), format!("{indent}  "));
    let mut is_empty = true;
    for word in sentence.split(' ') {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            writeln!(text, "{line}")?;
            line.clone_from(&further);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    writeln!(text, "{line}")
}

/// Writes the directions with the most spurious retransmissions.
fn directions(report: &Report, text: &mut String) -> std::fmt::Result {
    let mut found: BTreeMap<(u64, bool), [usize; 2]> = BTreeMap::new();
    let all = report.retransmissions.iter().filter(|one| !one.repairs_nothing());
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
    let DirectionSummary { vantage, rtt_ms_min, model, cost, counts: data, .. } =
        &one.directions[usize::from(from_server)];
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
    let share = share(cost.bytes_needless, data.bytes);
    let mut said = format!("cost: {} bytes sent needlessly, {share} of its bytes", cost.bytes_needless);
    if let Some(window) = total::window(cost) {
        let (goodput, without) = (cost.goodput_bps / 1e6, cost.goodput_without_bps / 1e6);
        let _ = write!(said, "; {window}: {goodput:.2} Mbit/s instead of {without:.2}");
    }
    wrap(text, "  ", &said)
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
