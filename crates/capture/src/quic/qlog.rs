//! Reads qlog from bytes: JSON and JSON text sequences (RFC 7464), with the names of the drafts and
//! of the later main schema.
//!
//! An event is a list whose fields the trace names (draft 01) or an object (draft 02 and later).
//! Its name may include a category: `recovery:packet_lost`, `quic:packet_lost`, or just
//! `packet_lost` with a separate category.

use serde_json::{Map, Value};

/// The most traces read from one file.
const MOST_TRACES: usize = 1 << 10;
/// The most acknowledged ranges read from one packet.
const MOST_RANGES: usize = 1 << 12;

/// One end's log of one connection.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Trace {
    /// `client`, `server` or `network`; `None` if the log does not name it.
    pub vantage: Option<String>,
    /// The original destination connection ID or the group, which the traces of both ends share.
    /// `None` if the log has neither.
    pub connection: Option<String>,
    /// Events in the order of the file.
    pub events: Vec<Event>,
    /// The number of unreadable records, for example at the end of a truncated file.
    pub damaged: u64,
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
    Sent(Packet),
    /// A packet arrived, with the packet numbers that it acknowledges.
    Received {
        packet: Packet,
        /// First and last number of each range.
        acknowledges: Vec<(u64, u64)>,
    },
    /// A packet was declared lost.
    LostPacket {
        packet: Packet,
        /// The reason, as in the log.
        trigger: Option<String>,
    },
    /// New values of measurements.
    Metrics {
        /// Congestion window in bytes.
        cwnd: Option<u64>,
        /// Smoothed round trip in milliseconds.
        smoothed_rtt_ms: Option<f64>,
    },
}

/// A packet by its number space and number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Packet {
    pub space: Space,
    pub number: u64,
    /// Bytes; 0 if the log does not show it.
    pub bytes: u32,
}

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
/// Returns one line with the fault: where the JSON ends early, or which part is missing.
pub fn read(text: &str) -> Result<Vec<Trace>, String> {
    let text = text.trim_start_matches('\u{feff}');
    if text.contains('\u{1e}') {
        return sequence(text.split('\u{1e}'));
    }
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(file)) => whole(&file),
        Ok(_) => Err("not qlog: expected a JSON object".into()),
        // Some stacks write one record per line without separators.
        Err(error) if text.lines().take(2).filter(|line| line.starts_with('{')).count() == 2 => {
            sequence(text.lines()).map_err(|_| format!("not qlog: {error}"))
        }
        Err(error) => Err(format!("not qlog: {error}")),
    }
}

fn whole(file: &Map<String, Value>) -> Result<Vec<Trace>, String> {
    let Some(Value::Array(traces)) = file.get("traces") else {
        return Err("not qlog: expected a list \"traces\", or records of a JSON sequence".into());
    };
    let read = |trace: &Value| {
        let head = trace.as_object()?;
        let mut into = Reader::new(head);
        for event in head.get("events")?.as_array()? {
            into.event(event);
        }
        Some(into.trace)
    };
    Ok(traces.iter().take(MOST_TRACES).filter_map(read).collect())
}

/// Reads a sequence: the first record is the header, the others are events.
fn sequence<'a>(records: impl Iterator<Item = &'a str>) -> Result<Vec<Trace>, String> {
    let mut records = records.map(str::trim).filter(|record| !record.is_empty());
    let head = records.next().ok_or("not qlog: empty")?;
    let head: Value = serde_json::from_str(head).map_err(|error| format!("not qlog: in the first record: {error}"))?;
    let head = head.get("trace").unwrap_or(&head).as_object().ok_or("not qlog: the first record is no object")?;
    let mut into = Reader::new(head);
    for record in records {
        match serde_json::from_str(record) {
            Ok(event) => into.event(&event),
            Err(_) => into.trace.damaged += 1,
        }
    }
    Ok(vec![into.trace])
}

/// Reads the events of one trace.
struct Reader {
    trace: Trace,
    /// Field names of events that are lists.
    fields: Vec<String>,
    /// Milliseconds per unit of time in the log.
    unit: f64,
    relative_to_previous: bool,
    /// Time of the first event; `None` before it, and if times are relative to the previous event.
    began: Option<f64>,
    previous: f64,
}

impl Reader {
    fn new(head: &Map<String, Value>) -> Self {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let common = head.get("common_fields").and_then(Value::as_object);
        let field = |name: &str| common.and_then(|common| common.get(name));
        let configuration = head.get("configuration");
        let units = configuration.and_then(|one| one.get("time_units")).or_else(|| field("time_units"));
        let unit = match units.and_then(Value::as_str) {
            Some("us") => 0.001,
            Some("ns") => 0.000_001,
            _ => 1.0,
        };
        let format = text(field("time_format")).unwrap_or_default();
        let vantage = head.get("vantage_point").and_then(|point| point.get("type"));
        let connection = ["ODCID", "odcid", "group_id"].iter().find_map(|name| text(field(name)));
        let names = head.get("event_fields").and_then(Value::as_array);
        let fields = names.map(|names| names.iter().filter_map(|name| text(Some(name))).collect());
        Self {
            trace: Trace { vantage: text(vantage), connection, ..Trace::default() },
            fields: fields.unwrap_or_default(),
            unit,
            relative_to_previous: format == "delta" || format == "relative_to_previous_event",
            began: None,
            previous: 0.0,
        }
    }

    fn event(&mut self, event: &Value) {
        let read = match event {
            Value::Object(event) => self.object(event),
            Value::Array(values) => self.list(values),
            _ => None,
        };
        match read {
            Some(Some(event)) => self.trace.events.push(event),
            Some(None) => {}
            None => self.trace.damaged += 1,
        }
    }

    fn object(&mut self, event: &Map<String, Value>) -> Option<Option<Event>> {
        let time = event.get("time").or_else(|| event.get("relative_time")).or_else(|| event.get("delta_time"))?;
        let name = event.get("name").or_else(|| event.get("event")).or_else(|| event.get("type"))?.as_str()?;
        let time_ms = self.time(time)?;
        Some(what(name, event.get("data").unwrap_or(&Value::Null)).map(|what| Event { time_ms, what }))
    }

    fn list(&mut self, values: &[Value]) -> Option<Option<Event>> {
        let place = |names: &[&str]| self.fields.iter().position(|field| names.contains(&field.as_str()));
        let time = values.get(place(&["relative_time", "time", "delta_time"]).unwrap_or(0))?;
        let name = values.get(place(&["event", "event_type", "name"]).unwrap_or(2))?.as_str()?;
        let data = values.get(place(&["data"]).unwrap_or(values.len().saturating_sub(1)))?;
        let time_ms = self.time(time)?;
        Some(what(name, data).map(|what| Event { time_ms, what }))
    }

    /// Returns the milliseconds since the trace began.
    fn time(&mut self, value: &Value) -> Option<f64> {
        let time = value.as_f64().or_else(|| value.as_str()?.parse().ok()).filter(|time| time.is_finite())? * self.unit;
        if self.relative_to_previous {
            self.previous += time;
            return Some(self.previous);
        }
        Some(time - *self.began.get_or_insert(time))
    }
}

/// Reads an event by its name, with or without category; `None` if it does not concern losses.
fn what(name: &str, data: &Value) -> Option<What> {
    match name.rsplit(':').next()?.to_ascii_lowercase().as_str() {
        "packet_sent" => packet(data).map(What::Sent),
        "packet_received" => packet(data).map(|packet| What::Received { packet, acknowledges: acknowledged(data) }),
        "packet_lost" => packet(data).map(|packet| What::LostPacket {
            packet,
            trigger: data.get("trigger").and_then(Value::as_str).map(str::to_owned),
        }),
        "metrics_updated" | "recovery_metrics_updated" | "metric_update" => {
            let number = |names: &[&str]| names.iter().find_map(|name| number(data.get(name)?));
            let cwnd = number(&["congestion_window", "cwnd"]).map(|cwnd| cwnd as u64);
            let smoothed_rtt_ms = number(&["smoothed_rtt", "smoothed_rtt_ms"]);
            (cwnd.is_some() || smoothed_rtt_ms.is_some()).then_some(What::Metrics { cwnd, smoothed_rtt_ms })
        }
        _ => None,
    }
}

fn packet(data: &Value) -> Option<Packet> {
    let header = data.get("header").unwrap_or(data);
    let number = ["packet_number", "pn"].iter().find_map(|name| number(header.get(name)?))? as u64;
    let kind =
        ["packet_type", "packet_number_space"].iter().find_map(|name| header.get(name).or_else(|| data.get(name)));
    let space = match kind.and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase().as_str() {
        "initial" => Space::Initial,
        "handshake" => Space::Handshake,
        _ => Space::Application,
    };
    let length = data.get("raw").and_then(|raw| raw.get("length")).or_else(|| header.get("packet_size"));
    let bytes = length.and_then(self::number).unwrap_or(0.0) as u32;
    Some(Packet { space, number, bytes })
}

fn acknowledged(data: &Value) -> Vec<(u64, u64)> {
    let frames = data.get("frames").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let acks = frames.iter().filter(|frame| {
        frame.get("frame_type").and_then(Value::as_str).is_some_and(|kind| kind.eq_ignore_ascii_case("ack"))
    });
    let ranges = acks.filter_map(|ack| ack.get("acked_ranges")?.as_array()).flatten();
    let range = |range: &Value| match range {
        Value::Array(ends) => {
            let first = number(ends.first()?)? as u64;
            Some((first, ends.get(1).and_then(number).map_or(first, |last| last as u64)))
        }
        // Draft 00 writes ranges as "3-5".
        Value::String(text) => {
            let (first, last) = text.split_once('-').unwrap_or((text, text));
            Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
        }
        _ => None,
    };
    ranges.take(MOST_RANGES).filter_map(range).filter(|(first, last)| first <= last).collect()
}

/// Reads a number, or a text that holds a number.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok()).filter(|number| number.is_finite() && *number >= 0.0)
}
