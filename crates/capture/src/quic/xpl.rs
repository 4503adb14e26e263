//! Graphs of packet numbers over time for xplot.
//!
//! Sent packets are white, acknowledged ones green. A packet declared lost is red when it left, with
//! an "S" if it arrived, a "G" if it did not, and a "?" if the log does not tell; a line leads to the
//! declaration, and from there to a late ACK in green.

use super::qlog::{Space, Trace, What};
use super::{LossVerdict, Losses, LostPacket, read, word};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Returns the graph of 1-RTT packets of each trace that has losses, with the name of its file.
/// `files` are the logs that were analysed, by name and text.
///
/// # Errors
/// Returns one line that names the file which is no log, and its fault.
pub(crate) fn graphs(losses: &Losses, files: &[(&str, &str)]) -> Result<Vec<(String, String)>, String> {
    let mut traces = Vec::new();
    for (name, text) in files {
        traces.extend(read(name, text)?);
    }
    let mut graphs = Vec::new();
    for (place, (trace, summary)) in traces.iter().zip(&losses.traces).enumerate() {
        let of_trace = |lost: &&LostPacket| lost.trace == place && lost.space == word(Space::Application);
        let lost: Vec<_> = losses.packets.iter().filter(of_trace).collect();
        if !lost.is_empty() {
            let end = trace.vantage.as_deref().unwrap_or("end");
            graphs.push((format!("{place}.{end}.xpl"), graph(&summary.file, trace, &lost)));
        }
    }
    Ok(graphs)
}

fn graph(file: &str, trace: &Trace, lost: &[&LostPacket]) -> String {
    let file = file.escape_debug();
    let mut text = format!("timeval unsigned\ntitle\n{file} (packet numbers)\nxlabel\ntime\nylabel\npacket number\n");
    let mut sent: BTreeMap<u64, f64> = BTreeMap::new();
    let mut largest = None;
    for event in &trace.events {
        let at = seconds(event.time_ms);
        // Writing into a string cannot fail.
        let _ = match &event.what {
            What::Sent { packet, .. } if packet.space == Space::Application => {
                sent.insert(packet.number, event.time_ms);
                write!(text, "white\ndot {at} {}\n", packet.number)
            }
            What::Received { packet, acks } if packet.space == Space::Application => {
                let Some((_, last)) = acks.iter().filter_map(|ack| ack.ranges.last()).max() else { continue };
                let before = largest.replace((at.clone(), *last));
                match before {
                    Some((then, before)) => {
                        write!(text, "green\nline {then} {before} {at} {before}\nline {at} {before} {at} {last}\n")
                    }
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        };
    }
    for packet in lost {
        let (number, declared) = (packet.packet_number, seconds(packet.time_ms));
        let left = seconds(sent.get(&number).copied().unwrap_or(packet.time_ms));
        let letter = match packet.verdict {
            LossVerdict::Spurious => "S",
            LossVerdict::Genuine => "G",
            LossVerdict::Undecidable => "?",
        };
        let _ = write!(text, "red\natext {left} {number}\n{letter}\nline {left} {number} {declared} {number}\n");
        if let Some(late) = packet.acknowledged_ms {
            let _ = write!(text, "green\nline {declared} {number} {} {number}\n", seconds(late));
        }
    }
    text.push_str("go\n");
    text
}

fn seconds(ms: f64) -> String {
    format!("{:.6}", ms / 1000.0)
}
