//! A short summary of a report for people. File names are printed with their control characters
//! escaped; everything else that a capture contributes is a number or an address.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::total::{self, counted, share};
use super::{Report, advice};
use crate::frame::decode::Skipped;
use crate::quic;
use crate::result::{Cause, Confidence, DirectionSummary, End, Protocol, Retransmission, Summary, Vantage, Verdict};
use serde::Serialize;

/// The number of directions that a summary lists, those with the most spurious retransmissions
/// first.
const MOST_SHOWN: usize = 10;

/// A goodput is said to be lower below this share of what it would have been.
const LEAST_SLOWER: f64 = 0.995;

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
    wrap(text, "", &total::headline(report))?;
    writeln!(text)?;
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
    if report.has_packets() {
        packets(report, text)?;
    }
    for line in unread(report) {
        wrap(text, "  ", &line)?;
    }
    if report.retransmissions.iter().any(|one| !one.repairs_nothing()) {
        causes(report, text)?;
        directions(report, text)?;
    }
    advice(report, text)
}

/// Writes what was read.
fn packets(report: &Report, text: &mut String) -> std::fmt::Result {
    let connections = report.connections.len() as u64;
    if report.segments > 0 {
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
    writeln!(text)
}

/// The words about a report that its page shows too.
#[derive(Debug, Serialize)]
pub struct Words {
    /// What the causes, and the words of the table of causes, mean.
    legend: Vec<String>,
    /// What was not analysed, or does not count.
    unread: Vec<String>,
    /// The faults of the advice, in its order.
    faults: Vec<&'static str>,
    /// What to do, if no rule has advice.
    without_advice: Option<&'static str>,
    directions: Vec<DirectionWords>,
}

/// The words about a direction with retransmissions.
#[derive(Debug, Serialize)]
struct DirectionWords {
    connection: u64,
    sender: End,
    lines: Vec<String>,
}

/// Returns the words about a report that its page shows too.
pub fn words(report: &Report) -> Words {
    let again = report.retransmissions.iter().any(|one| !one.repairs_nothing());
    let directions = rows(report).into_iter().filter_map(|((connection, from_server), counts)| {
        let one = report.connections.iter().find(|one| one.connection == connection)?;
        let sender = if from_server { End::Server } else { End::Client };
        Some(DirectionWords { connection, sender, lines: direction(one, from_server, counts) })
    });
    let advice = advice::advice(report);
    Words {
        legend: if again { legend(&by_cause(report)) } else { Vec::new() },
        unread: unread(report),
        faults: advice.iter().map(|one| one.fault.name()).collect(),
        without_advice: without_advice(report).filter(|_| advice.is_empty()),
        directions: directions.collect(),
    }
}

/// Returns what was not analysed, or does not count.
fn unread(report: &Report) -> Vec<String> {
    let mut lines: Vec<String> = report
        .others
        .iter()
        .map(|(other, count)| format!("{} not analysed: {other}", counted(*count, "frame", "frames")))
        .collect();
    if report.times_clock_went_back > 0 {
        lines.push(format!(
            "the clock went back {}: times near there may be wrong. reordercap (of Wireshark) sorts frames that several \
             devices or processors captured; if the host's clock was set, capture again",
            counted(report.times_clock_went_back, "time", "times")
        ));
    }
    if report.evicted > 0 {
        lines.push(format!("{} connections were evicted before they ended", report.evicted));
    }
    lines.extend(probes(report));
    lines
}

/// Returns the number of segments that repeat data and repair nothing.
fn probes(report: &Report) -> Option<String> {
    let count = |cause| report.retransmissions.iter().filter(|one| one.cause == cause).count() as u64;
    let kinds = [
        (count(Cause::KeepAlive), "keep-alive", "keep-alives"),
        (count(Cause::ZeroWindowProbe), "zero-window probe", "zero-window probes"),
        (count(Cause::RepeatedFin), "FIN in a later ACK", "FINs in later ACKs"),
    ];
    let kinds: Vec<_> = kinds.iter().filter(|(count, ..)| *count > 0).collect();
    let kinds: Vec<_> = kinds.iter().map(|(count, one, several)| counted(*count, one, several)).collect();
    let said = || format!("not counted as retransmissions, since they repair nothing: {}", kinds.join(", "));
    (!kinds.is_empty()).then(said)
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

fn by_cause(report: &Report) -> BTreeMap<Cause, Row> {
    let mut causes: BTreeMap<Cause, Row> = BTreeMap::new();
    for one in report.retransmissions.iter().filter(|one| !one.repairs_nothing()) {
        causes.entry(one.cause).or_default().add(one);
    }
    causes
}

fn causes(report: &Report, text: &mut String) -> std::fmt::Result {
    let causes = by_cause(report);
    let titles = ["all", "spurious", "certain", "needed", "certain", "undecidable"].map(|title| format!("{title:>13}"));
    writeln!(text, "\n  {:<10}{}", "cause", titles.concat())?;
    for (cause, row) in &causes {
        let Row { all, spurious, spurious_certain, needed, needed_certain, undecidable } = *row;
        let cells =
            [all, spurious, spurious_certain, needed, needed_certain, undecidable].map(|cell| format!("{cell:>13}"));
        writeln!(text, "  {:<10}{}", cause.name(), cells.concat())?;
    }
    legend(&causes).iter().try_for_each(|line| wrap(text, "  ", line))
}

/// Returns what the causes mean, and the words of the table as far as they occur in it.
fn legend(causes: &BTreeMap<Cause, Row>) -> Vec<String> {
    let named: Vec<_> = causes.keys().map(|cause| format!("{}: {}", cause.name(), cause.meaning())).collect();
    let occurs = |count: fn(&Row) -> usize| causes.values().any(|row| count(row) > 0);
    let words = [
        (occurs(|row| row.spurious), Verdict::Spurious.meaning()),
        (occurs(|row| row.needed), Verdict::Needed.meaning()),
        (occurs(|row| row.undecidable), Verdict::Undecidable.meaning()),
        (
            // The table has columns for it, also where all of them are 0.
            occurs(|row| row.spurious + row.needed),
            ("certain", "proven, unless an end lies; the others are likely"),
        ),
    ];
    let words: Vec<_> =
        words.iter().filter(|(occurs, _)| *occurs).map(|(_, (word, is))| format!("{word}: {is}")).collect();
    vec![named.join("; "), words.join("; ")]
}

/// Writes what the evidence says about the path, and what to set.
fn advice(report: &Report, text: &mut String) -> std::fmt::Result {
    let all = advice::advice(report);
    if all.is_empty() {
        let Some(said) = without_advice(report) else { return Ok(()) };
        writeln!(text)?;
        return wrap(text, "", said);
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

/// Returns what to do where no rule has advice; `None` if nothing is to be done.
fn without_advice(report: &Report) -> Option<&'static str> {
    let mut again = report.retransmissions.iter().filter(|one| !one.repairs_nothing()).peekable();
    if again.peek().is_none() {
        let other = report.others.contains_key(&Skipped::NotTcp.to_string());
        let of_logs = report.quic.is_some() && report.captures.is_empty();
        return match of_logs || report.directions().any(|way| way.counts.segments > 0) {
            true => None,
            false if other && !report.has_packets() => Some(CAPTURE_OR_LOG),
            false => Some(CAPTURE),
        };
    }
    if again.all(|one| one.cause == Cause::Syn) {
        return Some(handshakes(report));
    }
    Some(match report.count(Verdict::Spurious) > 0 {
        true if report.segments == 0 => {
            "Advice is for TCP alone. The JSON (--json) has the reason of each verdict, and the frame that shows it."
        }
        true if !is_seen_before_receiver(report) => {
            "Seen from here, the evidence names no setting that would have avoided the needless ones: a capture at the \
             sender may show more. The JSON (--json) has the reason of each, and the frame that shows it."
        }
        true => {
            "The evidence names no setting that would have avoided the needless ones. The JSON (--json) has the reason of \
             each, and the frame that shows it."
        }
        false if report.count(Verdict::Needed) > 0 => {
            "Nothing that a host sets mends losses. Look for drops on the way: on a Linux host, tc -s qdisc and ip -s link \
             count them."
        }
        false => "A capture at the sender of the data, or at both ends, may show more.",
    })
}

/// Returns whether needless retransmissions were seen at their sender, or on the path. Behind it, a capture
/// shows little of why a timer expired.
fn is_seen_before_receiver(report: &Report) -> bool {
    let needless: BTreeSet<Direction> =
        rows(report).into_iter().filter(|(_, [_, spurious])| *spurious > 0).map(|(direction, _)| direction).collect();
    report.connections.iter().any(|one| {
        [false, true].into_iter().any(|from_server| {
            let vantage = one.directions[usize::from(from_server)].vantage;
            needless.contains(&(one.connection, from_server)) && matches!(vantage, Vantage::Sender | Vantage::Between)
        })
    })
}

/// How to get a capture with retransmissions. The command is not broken over two lines.
const CAPTURE: &str = "Capture on the host that sends, while it sends data: tcpdump -i any -w file.pcap 'tcp or sctp'";

/// The same where there are packets of other protocols.
const CAPTURE_OR_LOG: &str = "Capture on the host that sends, while it sends data: tcpdump -i any -w file.pcap 'tcp or sctp'. QUIC (over UDP) \
     hides its retransmissions from captures: analyze the log (qlog) of the end that sends.";

/// Returns what to do if only handshakes were sent again.
fn handshakes(report: &Report) -> &'static str {
    let opened = |one: &Summary| one.directions.iter().any(|way| way.counts.segments > 0);
    let mut again = report.retransmissions.iter().filter(|one| one.cause == Cause::Syn).map(|one| one.connection);
    if again.all(|connection| report.connections.iter().any(|one| one.connection == connection && opened(one))) {
        return "Only handshakes were sent again, and all were answered in the end: the path lost or delayed their packets.";
    }
    "Only handshakes were sent again: see whether the other end listens there, and whether a firewall drops their packets."
}

/// Writes a sentence in lines of at most 120 characters. The first line is indented by `indent`, the
/// others by two more.
pub(crate) fn wrap(text: &mut String, indent: &str, sentence: &str) -> std::fmt::Result {
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
    let rows = rows(report);
    writeln!(text)?;
    for ((number, from_server), counts) in rows.iter().take(MOST_SHOWN) {
        let Some(one) = report.connections.iter().find(|one| one.connection == *number) else { continue };
        let (from, to) = if *from_server { (one.server, one.client) } else { (one.client, one.server) };
        write!(text, "connection {}: {from} -> {to}: ", one.connection)?;
        let lines = direction(one, *from_server, *counts);
        for (index, line) in lines.iter().enumerate() {
            wrap(text, if index == 0 { "" } else { "  " }, line)?;
        }
    }
    if rows.len() > MOST_SHOWN {
        writeln!(text, "and {} more directions with retransmissions, in the JSON (--json)", rows.len() - MOST_SHOWN)?;
    }
    Ok(())
}

/// A connection, and whether its server sends.
type Direction = (u64, bool);

/// Returns each direction with retransmissions, and how many there are and are spurious; the most spurious
/// first.
fn rows(report: &Report) -> Vec<(Direction, [usize; 2])> {
    let mut found: BTreeMap<Direction, [usize; 2]> = BTreeMap::new();
    let all = report.retransmissions.iter().filter(|one| !one.repairs_nothing());
    for Retransmission { connection, sender, verdict, .. } in all {
        let counts = found.entry((*connection, *sender == End::Server)).or_default();
        counts[0] += 1;
        counts[1] += usize::from(*verdict == Verdict::Spurious);
    }
    let mut rows: Vec<_> = found.into_iter().collect();
    rows.sort_by_key(|(key, [all, spurious])| (usize::MAX - spurious, usize::MAX - all, *key));
    rows
}

/// Describes a direction: its retransmissions, where it was seen, and what needless ones cost.
fn direction(one: &Summary, from_server: bool, [all, spurious]: [usize; 2]) -> Vec<String> {
    let DirectionSummary { vantage, rtt_ms_min, model, cost, counts: data, .. } =
        &one.directions[usize::from(from_server)];
    let sent = match one.protocol {
        Protocol::Tcp => counted(data.segments, "segment", "segments"),
        Protocol::Sctp => counted(data.segments, "DATA chunk", "DATA chunks"),
    };
    let mut lines = vec![format!(
        "{spurious} of {} spurious, {} in {sent}",
        counted(all as u64, "retransmission", "retransmissions"),
        counted(data.bytes, "byte", "bytes"),
    )];
    let mut seen = format!("seen {}", vantage.name());
    // Below the resolution of what is printed, it says nothing.
    if let Some(rtt) = rtt_ms_min.filter(|rtt| *rtt >= 0.0005) {
        seen += &format!(", round trip from there to the receiver at least {rtt:.3} ms");
    }
    // A handshake alone shows little of a stack.
    if let Some(model) = model.filter(|_| data.segments > 0) {
        seen += &format!(", sends like {}", stack(model));
    }
    if data.reordered > 0 {
        seen += &format!(", {} reordered", data.reordered);
    }
    lines.push(seen);
    if cost.bytes_needless > 0 {
        let share = share(cost.bytes_needless, data.bytes);
        let needless = counted(cost.bytes_needless, "byte", "bytes");
        let mut said = format!("cost: {needless} sent needlessly, {share} of its bytes");
        let (unit, name) = if cost.goodput_without_bps < 1e6 { (1e3, "kbit/s") } else { (1e6, "Mbit/s") };
        let [goodput, without] = [cost.goodput_bps, cost.goodput_without_bps].map(|bps| format!("{:.2}", bps / unit));
        if let Some(window) = total::window(cost) {
            said += &format!("; {window}");
            // Less is no news beside the time that was lost.
            if goodput != without && cost.goodput_bps < LEAST_SLOWER * cost.goodput_without_bps {
                said += &format!(": {goodput} {name} instead of {without}");
            }
        }
        lines.push(said);
    }
    lines
}

/// Returns the name of a stack's model in words.
fn stack(model: &str) -> String {
    let word = |part: &str| match part {
        "linux" => "Linux".to_owned(),
        "rfc" => "the RFCs".to_owned(),
        "rfc9260" => "RFC 9260".to_owned(),
        "bsd" => "BSD".to_owned(),
        "f-rto" => "F-RTO".to_owned(),
        "tlp" => "tail loss probes".to_owned(),
        "undo" => "an undo of its reactions".to_owned(),
        other => other.to_owned(),
    };
    for joint in [" without ", " with "] {
        if let Some((base, part)) = model.split_once(&joint.replace(' ', "-")) {
            return format!("{}{joint}{}", word(base), word(part));
        }
    }
    word(model)
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

    #[test]
    fn a_stack_has_a_name_in_words() {
        for (model, said) in [
            ("linux", "Linux"),
            ("linux-without-f-rto", "Linux without F-RTO"),
            ("linux-without-undo", "Linux without an undo of its reactions"),
            ("rfc-with-f-rto", "the RFCs with F-RTO"),
            ("rfc9260", "RFC 9260"),
            ("other", "other"),
        ] {
            assert_eq!(stack(model), said);
        }
    }
}
