//! Reads the records of any transport that numbers its transmissions: comma-separated values, a row
//! for each transmission, declared loss, acknowledgement and arrival.
//!
//! docs/reference/captures.md describes the columns. The rows of the sender and of the receiver may
//! stand in one file, or in two that name the same connection.

use super::qlog::{Ack, Event, Metrics, Packet, Space, Trace, What};
use csv::{Reader, StringRecord};
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

/// The most ranges read from one acknowledgement.
const MOST_RANGES: usize = 1 << 12;

/// All columns. Each file has the first two.
const COLUMNS: [&str; 9] =
    ["time_s", "event", "number", "bytes", "trigger", "cwnd", "ssthresh", "srtt_ms", "connection"];
const EVENTS: &str = "sent, lost, acked, acked-one-of, received, window or closed";

/// Returns whether a text begins with a header that has time and event among its columns.
pub(super) fn is_facts(first: &str) -> bool {
    let header = first.trim_start_matches('\u{feff}').trim_start().lines().next().unwrap_or_default();
    let columns: Vec<&str> = header.split(',').map(name_of_column).collect();
    ["time_s", "event"].iter().all(|column| columns.contains(column))
}

fn name_of_column(cell: &str) -> &str {
    cell.trim().trim_matches('"').trim()
}

/// Reads a whole file. A connection that the rows do not name has the name of the file.
///
/// # Errors
/// Returns one line with the line of the fault and what was expected.
pub(super) fn read(file: &str, text: &str) -> Result<Vec<Trace>, String> {
    let mut reader = Reader::from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let header = reader.headers().map_err(|error| fault(&error))?.clone();
    let columns = Columns::of(&header)?;
    let mut ends = Ends::default();
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).map_err(|error| fault(&error))? {
        let line = record.position().map_or(0, csv::Position::line);
        let row = Row { columns: &columns, record: &record, line };
        row.add_to(&mut ends, file).map_err(|what| format!("line {line}: {what}"))?;
    }
    ends.finish()
}

/// Returns a fault of the table's form as one line.
fn fault(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            format!("line {line}: {len} cells; expected {expected_len}, as in the header")
        }
        _ => error.to_string(),
    }
}

/// The place of each known column.
struct Columns([Option<usize>; COLUMNS.len()]);

impl Columns {
    fn of(header: &StringRecord) -> Result<Self, String> {
        let mut places = [None; COLUMNS.len()];
        for (place, cell) in header.iter().enumerate() {
            let name = name_of_column(cell);
            let Some(column) = COLUMNS.iter().position(|column| *column == name) else {
                return Err(format!("line 1: unknown column {name:?}; expected some of {}", COLUMNS.join(", ")));
            };
            if places[column].replace(place).is_some() {
                return Err(format!("line 1: column {name} stands twice"));
            }
        }
        Ok(Self(places))
    }
}

/// One end's events of one connection, while they are being read.
#[derive(Default)]
struct End {
    events: Vec<Event>,
    /// The line of each transmission.
    sent: BTreeMap<u64, u64>,
    /// ACKs so far, which number the packets that brought them.
    acks: u64,
}

/// Both ends of each connection.
#[derive(Default)]
struct Ends {
    senders: BTreeMap<String, End>,
    receivers: BTreeMap<String, End>,
    /// Milliseconds of the first row; `None` before it.
    began: Option<f64>,
}

impl Ends {
    fn finish(self) -> Result<Vec<Trace>, String> {
        let began = self.began.ok_or("no row; expected one for each transmission, loss and acknowledgement")?;
        let ends = self.senders.into_iter().map(|end| (end, "sender"));
        let ends = ends.chain(self.receivers.into_iter().map(|end| (end, "receiver")));
        Ok(ends.map(|((connection, end), vantage)| trace(connection, end, vantage, began)).collect())
    }
}

fn trace(connection: String, end: End, vantage: &str, began: f64) -> Trace {
    let mut trace = Trace { vantage: Some(vantage.to_owned()), events: end.events, ..Trace::default() };
    trace.names.groups = BTreeSet::from([connection]);
    for event in &mut trace.events {
        event.time_ms -= began;
    }
    trace.events.sort_by(|one, other| one.time_ms.total_cmp(&other.time_ms));
    let last = |events: &[Event]| Some(events.last()?.time_ms - events.first()?.time_ms);
    trace.duration_ms = last(&trace.events).unwrap_or(0.0);
    trace
}

/// A row, with what its cells mean.
struct Row<'a> {
    columns: &'a Columns,
    record: &'a StringRecord,
    line: u64,
}

impl Row<'_> {
    /// Returns the cell of a column; empty if the file does not have it.
    fn cell(&self, name: &str) -> &str {
        let column = COLUMNS.iter().position(|column| *column == name);
        let place = column.and_then(|column| self.columns.0[column]);
        place.and_then(|place| self.record.get(place)).unwrap_or_default().trim()
    }

    /// Reads the cell of a column; `None` if it is empty.
    fn value<T: FromStr>(&self, column: &str, expected: &str) -> Result<Option<T>, String> {
        let cell = self.cell(column);
        if cell.is_empty() {
            return Ok(None);
        }
        cell.parse().map(Some).map_err(|_| format!("{column} {cell:?}; expected {expected}"))
    }

    fn add_to(&self, ends: &mut Ends, file: &str) -> Result<(), String> {
        let time: Option<f64> = self.value("time_s", "seconds")?;
        let time = time.filter(|time| time.is_finite()).ok_or("time_s is missing; expected seconds")?;
        let time_ms = time * 1000.0;
        ends.began = Some(ends.began.map_or(time_ms, |began| began.min(time_ms)));
        let connection = match self.cell("connection") {
            "" => file.to_owned(),
            name => name.to_owned(),
        };
        let event = self.cell("event");
        if event == "closed" {
            // Both ends end, if both are in the file.
            for end in [ends.senders.get_mut(&connection), ends.receivers.get_mut(&connection)].into_iter().flatten() {
                end.events.push(Event { time_ms, what: What::Closed });
            }
            return Ok(());
        }
        let of_end = if event == "received" { &mut ends.receivers } else { &mut ends.senders };
        let end = of_end.entry(connection).or_default();
        let what = match event {
            "sent" => {
                let packet = self.packet()?;
                if let Some(before) = end.sent.insert(packet.number, self.line) {
                    let number = packet.number;
                    return Err(format!(
                        "{number} was sent before, in line {before}; expected a number of its own for each transmission"
                    ));
                }
                What::Sent { packet, in_flight: true, only_acks: false }
            }
            "lost" => {
                let trigger = self.cell("trigger");
                What::Lost { packet: self.packet()?, trigger: (!trigger.is_empty()).then(|| trigger.to_owned()) }
            }
            "acked" => {
                let ack = self.ack()?;
                end.acks += 1;
                What::Received { packet: packet(end.acks, 0), acks: vec![ack] }
            }
            "acked-one-of" => {
                let packets: Vec<Packet> = self.numbers()?.into_iter().map(|one| packet(one, 0)).collect();
                if packets.len() == 1 { What::Acknowledged(packets) } else { What::AcknowledgedOneOf(packets) }
            }
            "received" => {
                for number in self.numbers()? {
                    let what = What::Received { packet: packet(number, 0), acks: Vec::new() };
                    end.events.push(Event { time_ms, what });
                }
                return Ok(());
            }
            "window" => What::Metrics(Metrics {
                cwnd: self.value("cwnd", "bytes")?,
                ssthresh: self.value("ssthresh", "bytes")?,
                smoothed_rtt_ms: self.value("srtt_ms", "milliseconds")?,
                ..Metrics::default()
            }),
            other => return Err(format!("event {other:?}; expected {EVENTS}")),
        };
        end.events.push(Event { time_ms, what });
        Ok(())
    }

    fn packet(&self) -> Result<Packet, String> {
        let number = self.value("number", "the number of a transmission")?;
        let number = number.ok_or("number is missing; expected the number of a transmission")?;
        Ok(packet(number, self.value("bytes", "bytes")?.unwrap_or(0)))
    }

    fn numbers(&self) -> Result<Vec<u64>, String> {
        let cell = self.cell("number");
        let read =
            |word: &str| word.parse().map_err(|_| format!("number {cell:?}; expected numbers with spaces between"));
        let numbers: Vec<u64> = cell.split_whitespace().map(read).collect::<Result<_, _>>()?;
        if numbers.is_empty() { Err("number is missing; expected one or more".to_owned()) } else { Ok(numbers) }
    }

    /// Reads what an acknowledgement reports: numbers and ranges as `0-4`, with spaces between.
    fn ack(&self) -> Result<Ack, String> {
        let cell = self.cell("number");
        let expected = || format!("number {cell:?}; expected numbers and ranges, for instance 0-4 7 9-12");
        let number = |word: &str| word.parse::<u64>().map_err(|_| expected());
        let mut ranges = Vec::new();
        for word in cell.split_whitespace() {
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(expected());
            }
            ranges.push((first, last));
        }
        if ranges.is_empty() || ranges.len() > MOST_RANGES {
            return Err(expected());
        }
        ranges.sort_unstable();
        Ok(Ack { path: None, ranges, single: true, adjacent: false })
    }
}

fn packet(number: u64, bytes: u32) -> Packet {
    Packet { space: Space::Application, path: 0, number, bytes }
}
