//! Reads the header of a trace and its events, and divides a trace that has several connections.

use super::event::{destination, original_id, space, what};
use super::{Event, Key, Metrics, Names, Space, Trace, What, number};
use crate::quic::clock::Units;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The most groups of events that one trace is divided into.
const MOST_GROUPS: usize = 1 << 10;

/// Reads the events of one trace.
pub(super) struct Reader {
    head: Trace,
    /// The events of each group, in the order of their first events.
    groups: Vec<(Option<String>, Group)>,
    /// Field names of events that are lists.
    fields: Vec<String>,
    units: Units,
    relative_to_previous: bool,
    /// Time of the first event; `None` before it.
    began: Option<f64>,
    previous: f64,
}

/// The events of one group.
#[derive(Default)]
struct Group {
    names: Names,
    events: Vec<Event>,
    /// Which end logged, by the first Initial packet.
    vantage: Option<&'static str>,
    /// Whether the next Initial packet from the client has the original destination.
    retried: bool,
}

impl Reader {
    pub(super) fn new(head: &Map<String, Value>) -> Self {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let common = head.get("common_fields").and_then(Value::as_object);
        let field = |name: &str| common.and_then(|common| common.get(name));
        let configuration = head.get("configuration");
        let units = configuration
            .and_then(|one| one.get("time_units"))
            .or_else(|| field("time_units"))
            .or_else(|| head.get("time_units"));
        let format = text(field("time_format")).unwrap_or_default();
        let vantage = text(head.get("vantage_point").and_then(|point| point.get("type").or(Some(point))))
            .map(|vantage| vantage.to_ascii_lowercase())
            .filter(|vantage| vantage != "unknown");
        let names = head.get("event_fields").and_then(Value::as_array);
        let fields: Vec<String> =
            names.map(|names| names.iter().filter_map(|name| text(Some(name))).collect()).unwrap_or_default();
        let relative = fields.iter().any(|name| name == "delta_time");
        Self {
            head: Trace { vantage, names: declared(head, common), ..Trace::default() },
            groups: Vec::new(),
            fields,
            units: Units::declared(units.and_then(Value::as_str)),
            relative_to_previous: relative || format == "delta" || format == "relative_to_previous_event",
            began: None,
            previous: 0.0,
        }
    }

    pub(super) fn damaged(&mut self) {
        self.head.damaged += 1;
    }

    pub(super) fn event(&mut self, event: &Value) {
        let read = match event {
            Value::Object(event) => self.object(event),
            Value::Array(values) => self.list(values),
            _ => None,
        };
        if read.is_none() {
            self.damaged();
        }
    }

    fn object(&mut self, event: &Map<String, Value>) -> Option<()> {
        let time = event.get("time").or_else(|| event.get("relative_time"));
        let (time, delta) = match time {
            Some(time) => {
                (time, event.get("time_format").and_then(Value::as_str) == Some("relative_to_previous_event"))
            }
            None => (event.get("delta_time")?, true),
        };
        let name = event.get("name").or_else(|| event.get("event")).or_else(|| event.get("type"))?.as_str()?;
        let time_ms = self.time(time, delta)?;
        let of = |names: &[&str]| names.iter().find_map(|name| event.get(*name));
        let group = of(&["group_id", "ODCID", "odcid"]).and_then(name_of);
        let path = event.get("path_id").and_then(number).map(|path| path as u64);
        self.add(name, event.get("data").unwrap_or(&Value::Null), (time_ms, path), group);
        Some(())
    }

    fn list(&mut self, values: &[Value]) -> Option<()> {
        let place = |names: &[&str]| self.fields.iter().position(|field| names.contains(&field.as_str()));
        let time = values.get(place(&["relative_time", "time", "delta_time"]).unwrap_or(0))?;
        let name = values.get(place(&["event", "event_type", "name"]).unwrap_or(2))?.as_str()?;
        let data = values.get(place(&["data"]).unwrap_or(values.len().saturating_sub(1)))?;
        let group = place(&["group_id", "ODCID"]).and_then(|place| name_of(values.get(place)?));
        let path = place(&["path_id"]).and_then(|place| number(values.get(place)?)).map(|path| path as u64);
        let time_ms = self.time(time, false)?;
        self.add(name, data, (time_ms, path), group);
        Some(())
    }

    fn add(&mut self, name: &str, data: &Value, (time_ms, path): (f64, Option<u64>), group: Option<String>) {
        let place = match self.groups.iter().rposition(|(name, _)| *name == group) {
            Some(place) => place,
            None if self.groups.len() >= MOST_GROUPS => return,
            None => {
                self.groups.push((group, Group::default()));
                self.groups.len() - 1
            }
        };
        let into = &mut self.groups[place].1;
        into.identify(name, data);
        for what in what(name, data, path) {
            into.events.push(Event { time_ms, what });
        }
    }

    /// Returns the milliseconds since the trace began.
    fn time(&mut self, value: &Value, delta: bool) -> Option<f64> {
        let time = value.as_f64().or_else(|| value.as_str()?.parse().ok()).filter(|time| time.is_finite())?;
        let time = time * self.units.time_ms;
        self.previous = if self.relative_to_previous || delta { self.previous + time } else { time };
        let since = self.previous - *self.began.get_or_insert(self.previous);
        self.head.duration_ms = self.head.duration_ms.max(since);
        Some(since)
    }

    /// Returns the traces: one, or one for each connection whose events share the trace.
    pub(super) fn finish(self) -> Vec<Trace> {
        let Self { head, groups, units, .. } = self;
        let mut traces: Vec<(Trace, BTreeSet<Directed>)> = Vec::new();
        for (name, mut group) in groups {
            if group.events.is_empty() && name.is_some() {
                continue;
            }
            group.names.of_events.extend(name);
            let numbers: BTreeSet<_> = group.events.iter().filter_map(directed).collect();
            let begins = group.events.first().map_or(0.0, |event| event.time_ms);
            // quinn names a connection anew after the handshake.
            let goes_on = traces.last_mut().filter(|(trace, before)| {
                trace.events.last().is_none_or(|event| event.time_ms <= begins) && before.is_disjoint(&numbers)
            });
            match goes_on {
                Some((trace, before)) => {
                    before.extend(numbers);
                    group.append_to(trace);
                }
                None => {
                    let mut trace = Trace { damaged: 0, ..head.clone() };
                    group.append_to(&mut trace);
                    traces.push((trace, numbers));
                }
            }
        }
        let mut traces: Vec<Trace> = traces.into_iter().map(|(trace, _)| trace).collect();
        if traces.is_empty() {
            traces.push(head.clone());
        }
        traces[0].damaged = head.damaged;
        for trace in &mut traces {
            settle(trace, units);
        }
        traces
    }
}

impl Group {
    /// Notes what an event tells of the connection's names and of the end that logs.
    fn identify(&mut self, name: &str, data: &Value) {
        match name.rsplit(':').next().unwrap_or_default().to_ascii_lowercase().as_str() {
            "parameters_set" => {
                self.names.original.extend(data.as_object().and_then(original_id));
            }
            "packet_received" if kind_is(data, "retry") => self.retried = true,
            side @ ("packet_sent" | "packet_received") if kind_is(data, "initial") && space(data) == Space::Initial => {
                let logs = if side == "packet_sent" { "client" } else { "server" };
                let first = self.vantage.is_none();
                let vantage = *self.vantage.get_or_insert(logs);
                if vantage == logs && (first || std::mem::take(&mut self.retried)) {
                    self.names.original.extend(destination(data));
                }
            }
            _ => {}
        }
    }

    fn append_to(self, trace: &mut Trace) {
        trace.names.original.extend(self.names.original);
        trace.names.of_events.extend(self.names.of_events);
        trace.events.extend(self.events);
        if let (None, Some(vantage)) = (&trace.vantage, self.vantage) {
            trace.vantage = Some(vantage.to_owned());
        }
    }
}

fn kind_is(data: &Value, kind: &str) -> bool {
    let named = data.get("packet_type").or_else(|| data.get("header")?.get("packet_type"));
    named.and_then(Value::as_str).is_some_and(|named| named.eq_ignore_ascii_case(kind))
}

/// Reads a name of a connection. Some drafts allow numbers.
fn name_of(value: &Value) -> Option<String> {
    let text = value.as_str().map(str::to_ascii_lowercase).or_else(|| value.as_u64().map(|number| number.to_string()));
    text.filter(|text| !text.is_empty())
}

/// Returns the names that a trace's header gives its connection.
fn declared(head: &Map<String, Value>, common: Option<&Map<String, Value>>) -> Names {
    let mut names = Names::default();
    for fields in [Some(head), common].into_iter().flatten() {
        for (name, value) in fields {
            let Some(value) = name_of(value) else { continue };
            let is_id = (16..=40).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_hexdigit());
            let into = match name.as_str() {
                "ODCID" | "odcid" => &mut names.original,
                "group_id" => &mut names.groups,
                // picoquic describes a trace by its first connection ID.
                "description" if is_id => &mut names.original,
                _ => continue,
            };
            into.insert(value);
        }
    }
    names
}

/// Whether a packet was sent, and its key.
type Directed = (bool, Key);

fn directed(event: &Event) -> Option<Directed> {
    match &event.what {
        What::Sent { packet, .. } => Some((true, packet.keyed(true))),
        What::Received { packet, .. } => Some((false, packet.keyed(true))),
        _ => None,
    }
}

/// Puts the events in order, and gives packet numbers and round trips their meaning.
fn settle(trace: &mut Trace, units: Units) {
    trace.events.sort_by(|one, other| one.time_ms.total_cmp(&other.time_ms));
    trace.multipath = has_several_paths(&trace.events);
    let scale = units.round_trips(&trace.events);
    for event in &mut trace.events {
        if let What::Metrics(Metrics { smoothed_rtt_ms, rtt_variation_ms, .. }) = &mut event.what {
            for value in [smoothed_rtt_ms, rtt_variation_ms].into_iter().flatten() {
                *value *= scale;
            }
        }
    }
}

/// Returns whether each path has packet numbers of its own: an ACK names a path, or two paths
/// carried the same number.
fn has_several_paths(events: &[Event]) -> bool {
    let mut paths: BTreeMap<(bool, u64), u64> = BTreeMap::new();
    events.iter().any(|event| match &event.what {
        What::Received { acks, .. } if acks.iter().any(|ack| ack.path.is_some()) => true,
        What::Sent { packet, .. } | What::Received { packet, .. } if packet.space == Space::Application => {
            let sent = matches!(event.what, What::Sent { .. });
            *paths.entry((sent, packet.number)).or_insert(packet.path) != packet.path
        }
        _ => false,
    })
}
