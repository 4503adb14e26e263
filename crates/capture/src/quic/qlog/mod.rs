//! Reads qlog from bytes: JSON and JSON text sequences (RFC 7464), with the names of the drafts and
//! of the newest main schema.
//!
//! An event is a list whose fields the trace names (drafts 00 and 01) or an object (later). Its
//! name may include a category: `recovery:packet_lost`, `quic:packet_lost`, or just `packet_lost`
//! with a separate category.

mod cut;
mod event;
mod reader;

use reader::Reader;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The most traces read from one file.
const MOST_TRACES: usize = 1 << 10;

/// One end's log of one connection.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Trace {
    /// `client`, `server` or `network`; `sender` or `receiver` in records of other transports. If the log does not name it, the first Initial packet shows
    /// which end logged; `None` if neither tells.
    pub vantage: Option<String>,
    pub names: Names,
    /// Events in the order of time.
    pub events: Vec<Event>,
    /// The number of unreadable records, for example at the end of a truncated file.
    pub damaged: u64,
    /// Milliseconds from the first event to the last one.
    pub duration_ms: f64,
    /// Whether each path has its own packet numbers (draft-ietf-quic-multipath).
    pub multipath: bool,
}

/// The names that a log gives its connection.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Names {
    /// Original destination connection IDs: declared, or seen in the client's first Initial packet.
    pub original: BTreeSet<String>,
    /// Groups of the whole trace.
    pub groups: BTreeSet<String>,
    /// Groups of single events. A stack may change them within a connection.
    pub of_events: BTreeSet<String>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// Milliseconds since the trace began.
    pub time_ms: f64,
    pub what: What,
}

/// An event that concerns losses.
#[derive(Clone, PartialEq, Debug)]
pub enum What {
    /// A packet left.
    Sent {
        packet: Packet,
        /// Whether its loss is a sign of congestion: it holds more than ACK frames, and does not
        /// probe for a larger MTU (RFC 9002, sections 2 and 7).
        in_flight: bool,
        /// Whether it holds ACK frames only.
        only_acks: bool,
    },
    /// A packet arrived.
    Received { packet: Packet, acks: Vec<Ack> },
    /// The sender reports that packets are acknowledged, without an ACK frame.
    Acknowledged(Vec<Packet>),
    /// One of these packets arrived, and the acknowledgement does not tell which.
    AcknowledgedOneOf(Vec<Packet>),
    /// A packet was declared lost.
    Lost {
        packet: Packet,
        /// The reason, as in the log.
        trigger: Option<String>,
    },
    /// Packets were declared lost that the log counts and does not name.
    Counted(Counted),
    /// New values of measurements.
    Metrics(Metrics),
    /// The connection ended.
    Closed,
}

/// An ACK frame.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Ack {
    /// The path that a PATH_ACK frame names; `None` for an ACK frame.
    pub path: Option<u64>,
    /// First and last acknowledged number of each range, as written.
    pub ranges: Vec<(u64, u64)>,
    /// Whether a range is written as one number, or as two equal ones.
    pub single: bool,
    /// Whether one range ends at the number before another begins: one range would be written.
    pub adjacent: bool,
}

/// Losses that are only counted.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Counted {
    /// Packets declared lost since the trace began.
    pub total: Option<u64>,
    /// Packets declared lost since the last report.
    pub more: u64,
    /// The largest number among them.
    pub largest: Option<u64>,
    /// The congestion window reported with them, in bytes.
    pub cwnd: Option<u64>,
}

/// Measurements of a path.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Metrics {
    pub path: u64,
    /// Congestion window in bytes.
    pub cwnd: Option<u64>,
    /// Slow start threshold in bytes.
    pub ssthresh: Option<u64>,
    /// Smoothed round trip in milliseconds.
    pub smoothed_rtt_ms: Option<f64>,
    /// Variation of the round trip in milliseconds.
    pub rtt_variation_ms: Option<f64>,
}

/// A packet by its number space and number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Packet {
    pub space: Space,
    /// The path that it took, if each path has its own numbers; 0 else.
    pub path: u64,
    pub number: u64,
    /// Bytes; 0 if the log does not show it.
    pub bytes: u32,
}

impl Packet {
    /// Returns what tells it from other packets. `paths` says whether each path has its own numbers.
    pub fn keyed(&self, paths: bool) -> Key {
        (self.space, if paths { self.path } else { 0 }, self.number)
    }
}

/// Number space, path and number of a packet.
pub type Key = (Space, u64, u64);

/// A packet number space (RFC 9000, section 12.3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Space {
    Initial,
    Handshake,
    /// 0-RTT and 1-RTT packets.
    Application,
}

/// Reads a whole file.
///
/// # Errors
/// Returns one line with the fault: what the file is, where the JSON ends early, or which part is
/// missing.
pub fn read(text: &str) -> Result<Vec<Trace>, String> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Err("not qlog: empty file".into());
    }
    if text.contains('\u{1e}') {
        return sequence(text.split('\u{1e}'));
    }
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(file)) if file.contains_key("traces") => whole(&file),
        // A sequence of which only the header was written.
        Ok(Value::Object(file)) if file.contains_key("trace") => sequence(std::iter::once(text)),
        Ok(Value::Object(file)) => Err(format!("not qlog: {}", foreign(&file))),
        Ok(_) => Err("not qlog: expected a JSON object".into()),
        Err(error) if error.is_eof() && text.contains("\"traces\"") => {
            let closed = cut::closed(text).and_then(|text| serde_json::from_str::<Value>(&text).ok());
            let Some(Value::Object(file)) = closed else { return Err(format!("not qlog: {error}")) };
            let mut traces = whole(&file)?;
            traces.iter_mut().last().into_iter().for_each(|last| last.damaged += 1);
            Ok(traces)
        }
        // Some stacks write one record per line without separators.
        Err(error) if text.lines().take(2).filter(|line| line.starts_with('{')).count() == 2 => {
            sequence(text.lines()).map_err(|_| format!("not qlog: {error}"))
        }
        Err(_) if text.trim_start().starts_with('<') => Err("not qlog: HTML or XML; expected JSON".into()),
        Err(_) if is_script(text) => Err("not qlog: JavaScript; expected the JSON object that it defines".into()),
        Err(error) => Err(format!("not qlog: {error}")),
    }
}

/// Returns whether a text begins as JavaScript does: a page of graphs may hold a log as a script.
pub fn is_script(text: &str) -> bool {
    let words =
        ["var ", "let ", "const ", "export ", "module.exports", "window.", "//", "/*", "\"use strict\"", "(function"];
    words.iter().any(|word| text.trim_start().starts_with(word))
}

/// Returns what a JSON object is that has no list of traces.
fn foreign(file: &Map<String, Value>) -> &'static str {
    let has = |name| file.contains_key(name);
    if has("constants") && has("events") {
        "a NetLog of Chromium; expected a list \"traces\""
    } else if has("connections") || has("connectionid") {
        "a log from before draft 00, which had \"connections\"; expected a list \"traces\""
    } else if has("events") || has("event_fields") {
        "a trace by itself; expected a list \"traces\" around it"
    } else {
        "expected a list \"traces\", or records of a JSON sequence"
    }
}

fn whole(file: &Map<String, Value>) -> Result<Vec<Trace>, String> {
    let Some(Value::Array(traces)) = file.get("traces") else {
        return Err("not qlog: expected \"traces\" to be a list".into());
    };
    let read = |trace: &Value| {
        let head = trace.as_object()?;
        let mut into = Reader::new(head);
        for event in head.get("events")?.as_array()? {
            into.event(event);
        }
        Some(into.finish())
    };
    let read: Vec<Trace> = traces.iter().filter_map(read).flatten().take(MOST_TRACES).collect();
    // A trace may stand for an error of the logger; then it has no events.
    if read.is_empty() { Err("not qlog: no trace has a list \"events\"".into()) } else { Ok(read) }
}

/// Reads a sequence: the first record is the header, the others are events.
fn sequence<'a>(records: impl Iterator<Item = &'a str>) -> Result<Vec<Trace>, String> {
    let mut records = records.map(str::trim).filter(|record| !record.is_empty());
    let head = records.next().ok_or("not qlog: empty file")?;
    let head: Value = serde_json::from_str(head).map_err(|error| format!("not qlog: in the first record: {error}"))?;
    let head = head.get("trace").unwrap_or(&head).as_object().ok_or("not qlog: the first record is no object")?;
    let mut into = Reader::new(head);
    for record in records {
        match serde_json::from_str(record) {
            Ok(event) => into.event(&event),
            Err(_) => into.damaged(),
        }
    }
    let mut traces = into.finish();
    traces.truncate(MOST_TRACES);
    Ok(traces)
}

/// Reads a number, or a text that holds a number.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok()).filter(|number| number.is_finite() && *number >= 0.0)
}
