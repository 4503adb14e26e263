//! The unit of times and of round trips in a log.

use super::qlog::{Event, Key, Space, What};
use std::collections::BTreeMap;

/// How far a reported round trip may be from one that the log shows, as a factor. Units are 1000
/// apart.
const FACTOR: f64 = 25.0;

/// Milliseconds per unit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Units {
    /// Of an event's time.
    pub(super) time_ms: f64,
    /// Of a round trip, if the log follows the schema.
    round_trip_ms: f64,
}

impl Units {
    /// Reads the unit that a log declares. Up to draft 01 it holds for round trips too; later logs
    /// declare none, and everything is in milliseconds.
    pub(super) fn declared(unit: Option<&str>) -> Self {
        let unit = match unit {
            Some("us") => 0.001,
            Some("ns") => 0.000_001,
            Some("s") => 1000.0,
            _ => 1.0,
        };
        Self { time_ms: unit, round_trip_ms: unit }
    }

    /// Returns the milliseconds per unit of the reported round trips. Some stacks report
    /// microseconds or seconds beside times in milliseconds, so the declared unit only holds if the
    /// round trips of the log's own packets agree.
    pub(super) fn round_trips(&self, events: &[Event]) -> f64 {
        let Some((reported, seen)) = pair(events) else { return self.round_trip_ms };
        let off = |unit: f64| (reported * unit / seen).ln().abs();
        if off(self.round_trip_ms) <= FACTOR.ln() {
            return self.round_trip_ms;
        }
        let units = [1000.0, 1.0, 0.001, 0.000_001];
        let nearest = units.into_iter().min_by(|one, other| off(*one).total_cmp(&off(*other)));
        nearest.filter(|unit| off(*unit) <= FACTOR.ln()).unwrap_or(self.round_trip_ms)
    }
}

/// Returns a reported round trip and one that packets show, in milliseconds, or `None` if the log
/// lacks one of them.
fn pair(events: &[Event]) -> Option<(f64, f64)> {
    let mut reports = Vec::new();
    for event in events {
        if let What::Metrics(metrics) = &event.what {
            reports.extend(metrics.smoothed_rtt_ms.filter(|rtt| *rtt > 0.0));
        }
    }
    // The first value, 333 ms before anything is measured, is not near the path's round trip.
    let reported = middle_of(reports)?;
    let (acknowledged, lost) = samples(events);
    let seen = middle_of(acknowledged).or_else(|| middle_of(lost)).or_else(|| first_answer(events))?;
    (seen > 0.0).then_some((reported, seen))
}

fn middle_of(mut values: Vec<f64>) -> Option<f64> {
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// Returns the times from packets to the ACKs of which they are the largest number, and to the
/// declarations that they are lost, which follow a round trip after they left.
fn samples(events: &[Event]) -> (Vec<f64>, Vec<f64>) {
    let mut sent: BTreeMap<Key, f64> = BTreeMap::new();
    let (mut acknowledged, mut lost) = (Vec::new(), Vec::new());
    for event in events {
        match &event.what {
            What::Sent { packet, .. } => drop(sent.insert(packet.keyed(true), event.time_ms)),
            What::Received { packet, acks } => {
                for ack in acks {
                    let Some((_, last)) = ack.ranges.last() else { continue };
                    let key = (packet.space, ack.path.unwrap_or(packet.path), *last);
                    acknowledged.extend(sent.remove(&key).map(|left| event.time_ms - left));
                }
            }
            What::Lost { packet, .. } => lost.extend(sent.get(&packet.keyed(true)).map(|left| event.time_ms - left)),
            _ => {}
        }
    }
    (acknowledged, lost)
}

/// Returns the time from the first packet, if it is an Initial packet, to the first one received
/// after it: about a round trip, because a handshake goes to and fro.
fn first_answer(events: &[Event]) -> Option<f64> {
    let first = events.iter().find(|event| matches!(event.what, What::Sent { .. }))?;
    let left = match &first.what {
        What::Sent { packet, .. } if packet.space == Space::Initial => first.time_ms,
        _ => return None,
    };
    let received = |event: &&Event| event.time_ms > left && matches!(event.what, What::Received { .. });
    Some(events.iter().find(received)?.time_ms - left)
}
