//! The packets that the other end has received.

use super::acks::{Ranges, path_of};
use super::qlog::{Key, Space, Trace, What};
use crate::result::Confidence;
use eifel_base::ranges::{Block, Ranges as Merged};
use std::collections::{BTreeMap, BTreeSet};

/// How long a network may hold a packet, in milliseconds. Handovers and repairs on a link end sooner.
const LONGEST_HOLD_MS: f64 = 1000.0;

/// Packets that the other end has logged as received.
pub(super) struct Arrivals {
    received: BTreeSet<Key>,
    /// When the latest packet that arrived on each path had left, in milliseconds.
    latest_ms: BTreeMap<u64, f64>,
    /// Whether the log shows the end of the connection.
    closed: bool,
    /// Whether each packet that the other end acknowledged is in its log.
    pub(super) complete: bool,
}

/// Whether a packet arrived.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Arrived {
    Yes,
    No(Confidence),
    /// It is not in the log, which ends before later packets arrived.
    NotYet,
    Unknown,
}

impl Arrivals {
    /// Reads the log `other` of the end that receives from the end that logged `trace`.
    pub(super) fn of(trace: &Trace, other: &Trace, ranges: Ranges, paths: bool) -> Self {
        let received: BTreeSet<Key> = other
            .events
            .iter()
            .filter_map(|event| match &event.what {
                What::Received { packet, .. } => Some(packet.keyed(paths)),
                _ => None,
            })
            .collect();
        let logged: BTreeSet<Key> = other.events.iter().filter_map(|event| sent(&event.what, paths)).collect();
        let mut latest_ms = BTreeMap::new();
        let mut complete = true;
        let mut acknowledged: BTreeMap<(Space, u64), Merged> = BTreeMap::new();
        for event in &trace.events {
            if let Some(key) = sent(&event.what, paths).filter(|key| received.contains(key)) {
                let latest = latest_ms.entry(key.1).or_insert(event.time_ms);
                *latest = event.time_ms.max(*latest);
            }
            let What::Received { packet, acks } = &event.what else { continue };
            // The log of the other end may end before it sent this ACK.
            if !logged.contains(&packet.keyed(paths)) {
                continue;
            }
            for ack in acks {
                let space = (packet.space, path_of(ack, paths));
                let merged = acknowledged.entry(space).or_default();
                for (first, last) in ranges.read(ack) {
                    let block = Block { start: first, end: last.saturating_add(1) };
                    merged.insert(block, |new| complete &= has_logged(&received, space, new));
                }
            }
        }
        let closed = other.events.iter().any(|event| matches!(event.what, What::Closed));
        Self { received, latest_ms, closed, complete }
    }

    /// Returns whether a packet arrived that was declared lost at `declared_ms`. The log has to go
    /// on until packets arrive that left later.
    pub(super) fn arrived(&self, key: Key, declared_ms: f64) -> Arrived {
        if self.received.contains(&key) {
            return Arrived::Yes;
        }
        let latest = self.latest_ms.get(&key.1).copied().unwrap_or(f64::NEG_INFINITY);
        match () {
            () if !self.complete => Arrived::Unknown,
            () if self.closed || latest >= declared_ms + LONGEST_HOLD_MS => Arrived::No(Confidence::Certain),
            () if latest < declared_ms => Arrived::NotYet,
            () => Arrived::No(Confidence::Likely),
        }
    }
}

fn sent(what: &What, paths: bool) -> Option<Key> {
    match what {
        What::Sent { packet, .. } => Some(packet.keyed(paths)),
        _ => None,
    }
}

/// Returns whether all acknowledged packets are logged, from the first one in the log on.
fn has_logged(received: &BTreeSet<Key>, (space, path): (Space, u64), acknowledged: Block) -> bool {
    let Some((_, _, least)) = received.range((space, path, 0)..=(space, path, u64::MAX)).next() else { return true };
    let (start, end) = (acknowledged.start.max(*least), acknowledged.end);
    start >= end || received.range((space, path, start)..(space, path, end)).count() as u64 == end - start
}
