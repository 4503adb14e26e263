//! Judges the losses of one trace.

use super::acks::{Ranges, path_of};
use super::events::Events;
use super::later;
use super::pair::Shown;
use super::qlog::{Ack, Key, Packet, Space, Trace, What};
use super::received::Arrivals;
use super::{LossVerdict, Losses, LostPacket, word};
use crate::result::Confidence;
use std::collections::{BTreeMap, BTreeSet};

/// The most ranges of one time that are remembered.
const MOST_NEWEST: usize = 1 << 12;

/// Adds the results for `trace` to `losses`. `other` is the log of the other end.
pub(super) fn trace(place: usize, trace: &Trace, other: Option<(&Trace, Shown)>, losses: &mut Losses) -> Limits {
    let paths = trace.multipath || other.is_some_and(|(other, _)| other.multipath);
    let ranges = Ranges::of(trace, paths);
    let any = |is: fn(&What) -> bool| trace.events.iter().any(|event| is(&event.what));
    let named = any(|what| matches!(what, What::Lost { .. }));
    let acknowledges = ranges != Ranges::Missing || any(|what| matches!(what, What::Acknowledged(_)));
    let arrivals = other.map(|(other, _)| Arrivals::of(trace, other, ranges, paths));
    let mut reading = Reading {
        place,
        paths,
        ranges,
        sent: sent(trace, paths),
        waiting: BTreeMap::new(),
        unreported: BTreeMap::new(),
        newest: Vec::new(),
        largest: BTreeMap::new(),
        ambiguous: BTreeSet::new(),
        grown: later::Largest::default(),
        events: Events::new(place, paths, (named, acknowledges)),
    };
    for event in &trace.events {
        reading.event(event.time_ms, &event.what, losses);
    }
    let end = trace.events.last().map_or(0.0, |event| event.time_ms);
    let shown = other.map(|(_, shown)| shown);
    let (largest, ambiguous) = (std::mem::take(&mut reading.largest), std::mem::take(&mut reading.ambiguous));
    let judge = Judge { paths, ranges, arrivals, shown, largest, ambiguous };
    let first = losses.packets.len() - reading.events.packets();
    for (lost, reported) in losses.packets[first..].iter_mut().zip(reading.events.reports()) {
        judge.decide(lost, reported);
        let key = judge.key(lost);
        let sent = reading.sent.get(&key).map(|sent| (sent.at_ms, lost.time_ms));
        losses.later.push(sent.and_then(|times| reading.grown.after(key, times, lost.trigger.as_deref())));
    }
    let unnamed = reading.events.unnamed();
    let mut events = reading.events.finish(end, first, losses);
    losses.events.append(&mut events);
    Limits { unnamed, notes: judge.notes(unnamed) }
}

/// What limits the results of a trace.
pub(super) struct Limits {
    /// Losses that the log counts and does not name.
    pub(super) unnamed: u64,
    pub(super) notes: Vec<&'static str>,
}

/// A packet that left.
#[derive(Clone, Copy)]
pub(super) struct Sent {
    pub(super) at_ms: f64,
    pub(super) bytes: u32,
    pub(super) in_flight: bool,
    pub(super) only_acks: bool,
}

fn sent(trace: &Trace, paths: bool) -> BTreeMap<Key, Sent> {
    let left = trace.events.iter().filter_map(|event| match event.what {
        What::Sent { packet, in_flight, only_acks } => {
            Some((packet.keyed(paths), Sent { at_ms: event.time_ms, bytes: packet.bytes, in_flight, only_acks }))
        }
        _ => None,
    });
    left.collect()
}

/// What the log shows of a lost packet besides its late ACK.
#[derive(Clone, Copy, Default)]
pub(super) struct Reported {
    pub(super) only_acks: bool,
    /// Whether an ACK from a round trip after the declaration has packets before and after it, and
    /// not the packet.
    pub(super) missing: bool,
    /// When a round trip is over since the declaration, in milliseconds.
    pub(super) settled_ms: f64,
}

struct Reading {
    place: usize,
    paths: bool,
    ranges: Ranges,
    sent: BTreeMap<Key, Sent>,
    /// Packets declared lost and not acknowledged, with their indices in the report.
    waiting: BTreeMap<Key, usize>,
    /// Those of them that no ACK has reported missing yet, with the time from which one counts, and
    /// their places among this trace's losses.
    unreported: BTreeMap<Key, (f64, usize)>,
    /// The ranges acknowledged at the latest time: a log may write them before the loss.
    newest: Vec<(f64, Key, u64)>,
    largest: Largest,
    /// Packets of which an acknowledgement answers only one.
    ambiguous: BTreeSet<Key>,
    grown: later::Largest,
    events: Events,
}

/// The largest acknowledged number of each number space, and the time of the last ACK.
type Largest = BTreeMap<(Space, u64), (u64, f64)>;

impl Reading {
    fn event(&mut self, now: f64, what: &What, losses: &mut Losses) {
        if self.newest.first().is_some_and(|(at, ..)| *at < now) {
            self.newest.clear();
        }
        match what {
            What::Sent { packet, .. } => self.events.sent(packet.keyed(self.paths), packet.bytes),
            What::Received { packet, acks } => {
                for ack in acks {
                    self.ack(packet.space, ack, now, losses);
                }
            }
            What::Acknowledged(packets) => {
                let keys: Vec<Key> = packets.iter().map(|packet| packet.keyed(self.paths)).collect();
                let late: Vec<Key> = keys.iter().filter(|key| self.waiting.contains_key(key)).copied().collect();
                self.late(&late, now, losses);
                if let Some(largest) = late.iter().copied().max() {
                    self.events.ack(now, &late, (largest, self.sent.get(&largest).copied()));
                }
                keys.iter().for_each(|key| self.grown.on_acknowledged(now, *key));
                keys.into_iter().for_each(|key| self.remember(now, key, key.2));
            }
            What::AcknowledgedOneOf(packets) => {
                self.ambiguous.extend(packets.iter().map(|packet| packet.keyed(self.paths)));
            }
            What::Lost { packet, trigger } => self.lost(packet, trigger.clone(), now, losses),
            What::Counted(counted) => self.events.counted(now, *counted, &self.sent),
            What::Metrics(metrics) => self.events.metrics(now, metrics),
            What::Closed => {}
        }
    }

    fn ack(&mut self, space: Space, ack: &Ack, now: f64, losses: &mut Losses) {
        let path = path_of(ack, self.paths);
        let ranges = self.ranges.read(ack);
        let mut late = Vec::new();
        for (first, last) in ranges.clone() {
            late.extend(self.waiting.range((space, path, first)..=(space, path, last)).map(|(key, _)| *key));
            self.remember(now, (space, path, first), last);
        }
        let largest = ranges.clone().next_back().map(|(_, last)| (space, path, last));
        self.late(&late, now, losses);
        self.report_missing((space, path), ranges, now);
        if let Some(largest) = largest {
            let known = self.largest.entry((space, path)).or_insert((largest.2, now));
            *known = (known.0.max(largest.2), now);
            self.grown.on_acknowledged(now, largest);
            self.events.ack(now, &late, (largest, self.sent.get(&largest).copied()));
        }
    }

    fn remember(&mut self, now: f64, first: Key, last: u64) {
        if self.newest.len() < MOST_NEWEST {
            self.newest.push((now, first, last));
        }
    }

    fn late(&mut self, keys: &[Key], now: f64, losses: &mut Losses) {
        for key in keys {
            if let Some(place) = self.waiting.remove(key) {
                losses.packets[place].acknowledged_ms = Some(now);
                self.unreported.remove(key);
            }
        }
    }

    /// Notes the lost packets in the gaps of an ACK. Below its first range the receiver may have
    /// forgotten what arrived.
    fn report_missing(&mut self, (space, path): (Space, u64), ranges: impl Iterator<Item = (u64, u64)>, now: f64) {
        if self.unreported.is_empty() {
            return;
        }
        let mut before: Option<u64> = None;
        for (first, last) in ranges {
            if let Some(before) = before.filter(|before| before + 1 < first) {
                let gap = (space, path, before + 1)..=(space, path, first - 1);
                let told = self.unreported.range(gap).filter(|(_, (from, _))| now >= *from);
                let told: Vec<(Key, usize)> = told.map(|(key, (_, place))| (*key, *place)).collect();
                for (key, place) in told {
                    self.unreported.remove(&key);
                    self.events.reported_missing(place);
                }
            }
            before = Some(last.max(before.unwrap_or(0)));
        }
    }

    fn lost(&mut self, packet: &Packet, trigger: Option<String>, now: f64, losses: &mut Losses) {
        let key = packet.keyed(self.paths);
        let left = self.sent.get(&key).copied();
        let place = losses.packets.len();
        let (event, settles_ms) = self.events.lost(now, key, left);
        let known = left.map_or(0, |left| left.bytes);
        losses.packets.push(LostPacket {
            trace: self.place,
            path_id: self.paths.then_some(packet.path),
            time_ms: now,
            space: word(packet.space),
            packet_number: packet.number,
            bytes: if packet.bytes > 0 { packet.bytes } else { known },
            trigger,
            event,
            verdict: LossVerdict::Undecidable,
            confidence: Confidence::Weak,
            reason: "",
            acknowledged_ms: None,
        });
        if self.newest.iter().any(|(_, first, last)| *first <= key && key <= (first.0, first.1, *last)) {
            losses.packets[place].acknowledged_ms = Some(now);
            return;
        }
        self.waiting.insert(key, place);
        self.unreported.insert(key, (settles_ms, self.events.packets() - 1));
    }
}

/// Decides about packets once their log is read.
struct Judge {
    paths: bool,
    ranges: Ranges,
    arrivals: Option<Arrivals>,
    shown: Option<Shown>,
    largest: Largest,
    ambiguous: BTreeSet<Key>,
}

impl Judge {
    fn key(&self, lost: &LostPacket) -> Key {
        let space = match lost.space {
            "initial" => Space::Initial,
            "handshake" => Space::Handshake,
            _ => Space::Application,
        };
        (space, lost.path_id.unwrap_or(0), lost.packet_number)
    }

    fn decide(&self, lost: &mut LostPacket, reported: &Reported) {
        let key = self.key(lost);
        let (largest, last_ack_ms) = self.largest.get(&(key.0, key.1)).copied().unwrap_or((0, 0.0));
        let later_acks = largest > key.2 && last_ack_ms >= reported.settled_ms;
        let arrived = self.arrivals.as_ref().map(|arrivals| arrivals.arrived(key, lost.time_ms));
        let by_other_end = if self.shown == Some(Shown::ByPackets) { Confidence::Likely } else { Confidence::Certain };
        let by_ack = match self.ranges {
            Ranges::Contradictory => Confidence::Weak,
            Ranges::Exclusive => Confidence::Likely,
            Ranges::Inclusive | Ranges::Missing => Confidence::Certain,
        };
        use super::received::Arrived::{No, NotYet, Unknown, Yes};
        let undecided = |reason| (LossVerdict::Undecidable, Confidence::Weak, reason);
        (lost.verdict, lost.confidence, lost.reason) = match (lost.acknowledged_ms, arrived.unwrap_or(Unknown)) {
            (Some(_), No(_)) => undecided("the logs contradict each other: it is acknowledged, and did not arrive"),
            (Some(_), _) => (LossVerdict::Spurious, by_ack, "it was acknowledged after it was declared lost"),
            (None, Yes) => (LossVerdict::Spurious, by_ack.max(by_other_end), "the other end has received it"),
            (None, No(how)) => {
                (LossVerdict::Genuine, how.max(by_other_end).max(by_ack), "the other end has not received it")
            }
            (None, NotYet | Unknown) if self.ambiguous.contains(&key) => {
                undecided("an acknowledgement answers it or another transmission of the same data")
            }
            // What it acknowledges goes on after its log.
            (None, NotYet) if reported.missing => {
                let limit = by_other_end.max(by_ack).max(Confidence::Likely);
                (LossVerdict::Genuine, limit, "the other end has not received it")
            }
            (None, NotYet | Unknown) if reported.only_acks => {
                undecided("it holds only ACK frames, which need no acknowledgement")
            }
            (None, NotYet | Unknown) if self.ranges == Ranges::Missing => {
                undecided("the log has no acknowledged ranges, and no log of the other end")
            }
            (None, NotYet | Unknown) if self.ranges == Ranges::Contradictory => {
                undecided("the acknowledged ranges of the log contradict each other")
            }
            (None, NotYet | Unknown) if reported.missing => (
                LossVerdict::Genuine,
                by_ack.max(Confidence::Likely),
                "for a round trip, later packets are acknowledged and it is not",
            ),
            (None, NotYet | Unknown) if later_acks => (
                LossVerdict::Genuine,
                Confidence::Weak,
                "for a round trip, later packets are acknowledged; the receiver may have forgotten it",
            ),
            (None, NotYet | Unknown) => undecided("the log ends before an acknowledgement could tell"),
        };
    }

    /// Returns what limits the verdicts, in sentences.
    fn notes(&self, unnamed: u64) -> Vec<&'static str> {
        let mut notes = Vec::new();
        if unnamed > 0 {
            notes.push("the log counts the packets declared lost and does not name them, so they cannot be judged");
        }
        match self.ranges {
            Ranges::Exclusive => notes.push(
                "the acknowledged ranges end before the number that is written last, against the schema: nothing is certain",
            ),
            Ranges::Contradictory => notes.push(
                "the acknowledged ranges cannot be true (adjacent ranges, or packets not logged as sent): nothing is certain",
            ),
            Ranges::Inclusive | Ranges::Missing => {}
        }
        if self.shown == Some(Shown::ByPackets) {
            notes.push("joined with the other end by packet numbers and times, because the logs share no name");
        }
        if self.arrivals.as_ref().is_some_and(|arrivals| !arrivals.complete) {
            notes.push("the log of the other end lacks packets that it acknowledged");
        }
        if self.paths {
            notes.push("each path has its own packet numbers");
        }
        notes
    }
}
