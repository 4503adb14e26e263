//! Judges the losses of one trace.

use super::qlog::{Event, Packet, Space, Trace, What};
use super::{CongestionEvent, LossVerdict, Losses, LostPacket, Rule, word};
use crate::result::{Confidence, StackReaction};
use std::collections::{BTreeMap, BTreeSet};

type Key = (Space, u64);

/// A congestion event while its log is being read.
struct Open {
    event: CongestionEvent,
    /// Smoothed round trip when it began, in milliseconds.
    round_trip_ms: f64,
    /// Indices of its packets in the report.
    packets: Vec<usize>,
    /// The windows reported since then: the time in milliseconds, and the bytes.
    windows: Vec<(f64, u64)>,
}

/// The number of windows kept per event.
const MOST_WINDOWS: usize = 1 << 12;
/// The assumed round trip before one is known, in milliseconds.
const ROUND_TRIP_MS: f64 = 333.0;
/// Round trips within which a stack that undoes an event has done so.
const ROUND_TRIPS: f64 = 2.0;

/// Adds the results for `trace` to `losses`; `other` is the log of the other end.
pub(super) fn trace(place: usize, trace: &Trace, other: Option<&Trace>, losses: &mut Losses) {
    let mut reading = Reading {
        place,
        received: other.map(received),
        sent: BTreeMap::new(),
        waiting: BTreeMap::new(),
        largest: BTreeMap::new(),
        cwnd: None,
        round_trip_ms: None,
        open: Vec::new(),
    };
    for event in &trace.events {
        reading.event(event, losses);
    }
    let end = trace.events.last().map_or(0.0, |event| event.time_ms);
    reading.finish(end, losses);
}

/// Returns the packets that the other end received.
fn received(other: &Trace) -> BTreeSet<Key> {
    let arrived = |event: &Event| match event.what {
        What::Received { packet, .. } => Some((packet.space, packet.number)),
        _ => None,
    };
    other.events.iter().filter_map(arrived).collect()
}

struct Reading {
    place: usize,
    received: Option<BTreeSet<Key>>,
    /// When packets left, in milliseconds.
    sent: BTreeMap<Key, f64>,
    /// Packets declared lost and not acknowledged, with their indices in the report.
    waiting: BTreeMap<Key, usize>,
    /// The largest acknowledged number of each space, and the time of the last ACK.
    largest: BTreeMap<Space, (u64, f64)>,
    cwnd: Option<u64>,
    round_trip_ms: Option<f64>,
    open: Vec<Open>,
}

impl Reading {
    fn event(&mut self, event: &Event, losses: &mut Losses) {
        let now = event.time_ms;
        match &event.what {
            What::Sent(packet) => {
                self.sent.insert((packet.space, packet.number), now);
            }
            What::Received { packet, acknowledges } => {
                for (first, last) in acknowledges {
                    self.acknowledged(packet.space, (*first, *last), now, losses);
                }
            }
            What::LostPacket { packet, trigger } => self.lost(packet, trigger.clone(), now, losses),
            What::Metrics { cwnd, smoothed_rtt_ms } => {
                self.round_trip_ms = smoothed_rtt_ms.or(self.round_trip_ms);
                self.cwnd = cwnd.or(self.cwnd);
                if let (Some(cwnd), Some(open)) = (cwnd, self.open.last_mut())
                    && open.windows.len() < MOST_WINDOWS
                {
                    open.windows.push((now, *cwnd));
                }
            }
        }
    }

    fn acknowledged(&mut self, space: Space, (first, last): (u64, u64), now: f64, losses: &mut Losses) {
        let largest = self.largest.entry(space).or_insert((last, now));
        *largest = (largest.0.max(last), now);
        let late: Vec<Key> = self.waiting.range((space, first)..=(space, last)).map(|(key, _)| *key).collect();
        for key in late {
            if let Some(place) = self.waiting.remove(&key) {
                losses.packets[place].acknowledged_ms = Some(now);
            }
        }
    }

    fn lost(&mut self, packet: &Packet, trigger: Option<String>, now: f64, losses: &mut Losses) {
        let key = (packet.space, packet.number);
        let left = self.sent.get(&key).copied();
        // RFC 9002, section 7.3.1: the loss of a packet that left before recovery began starts no
        // new event.
        let belongs = self.open.last().is_some_and(|open| left.is_none_or(|left| left <= open.event.time_ms));
        if !belongs {
            self.begin(now);
        }
        let place = losses.packets.len();
        let Some(open) = self.open.last_mut() else { return };
        open.packets.push(place);
        losses.packets.push(LostPacket {
            trace: self.place,
            time_ms: now,
            space: word(packet.space),
            packet_number: packet.number,
            bytes: packet.bytes,
            trigger,
            event: open.event.event,
            verdict: LossVerdict::Undecidable,
            confidence: Confidence::Weak,
            reason: "the log ends before an acknowledgement could tell",
            acknowledged_ms: None,
        });
        self.waiting.insert(key, place);
    }

    fn begin(&mut self, now: f64) {
        let event = CongestionEvent {
            trace: self.place,
            event: self.open.len() as u32 + 1,
            time_ms: now,
            lost: 0,
            late: 0,
            cwnd_before: self.cwnd,
            cwnd_after: None,
            stack_noticed: StackReaction::CannotBeTold,
            rules: rules(&[]),
        };
        let round_trip_ms = self.round_trip_ms.unwrap_or(ROUND_TRIP_MS);
        self.open.push(Open { event, round_trip_ms, packets: Vec::new(), windows: Vec::new() });
    }

    fn finish(self, end: f64, losses: &mut Losses) {
        for open in &self.open {
            for place in &open.packets {
                self.judge(&mut losses.packets[*place], open.round_trip_ms);
            }
        }
        let mut next_begins = end;
        let mut events = Vec::new();
        for open in self.open.into_iter().rev() {
            let began = open.event.time_ms;
            events.push(settle(open, next_begins, losses));
            next_begins = began;
        }
        events.reverse();
        losses.events.append(&mut events);
    }

    fn judge(&self, lost: &mut LostPacket, round_trip_ms: f64) {
        let space = match lost.space {
            "initial" => Space::Initial,
            "handshake" => Space::Handshake,
            _ => Space::Application,
        };
        let arrived = self.received.as_ref().map(|received| received.contains(&(space, lost.packet_number)));
        let (largest, last_ack) = self.largest.get(&space).copied().unwrap_or((0, 0.0));
        let later_acks = largest > lost.packet_number && last_ack >= lost.time_ms + round_trip_ms;
        (lost.verdict, lost.confidence, lost.reason) = match (lost.acknowledged_ms, arrived) {
            (Some(_), _) => {
                (LossVerdict::Spurious, Confidence::Certain, "it was acknowledged after it was declared lost")
            }
            (None, Some(true)) => (LossVerdict::Spurious, Confidence::Certain, "the other end has received it"),
            (None, Some(false)) if later_acks => {
                (LossVerdict::Genuine, Confidence::Certain, "the other end has not received it")
            }
            (None, None) if later_acks => (
                LossVerdict::Genuine,
                Confidence::Likely,
                "for a round trip, later packets are acknowledged and it is not",
            ),
            _ => return,
        };
    }
}

/// Returns an event with its results once its packets are judged. Windows count until the next
/// event, at `until`.
fn settle(open: Open, until: f64, losses: &Losses) -> CongestionEvent {
    let Open { mut event, round_trip_ms, packets, windows } = open;
    let times: Vec<Option<f64>> = packets.iter().map(|place| losses.packets[*place].acknowledged_ms).collect();
    event.lost = times.len();
    event.late = times.iter().flatten().count();
    event.rules = rules(&times);
    let within = |from: f64, for_ms: f64| {
        windows.iter().filter(move |(at, _)| (from..=(from + for_ms).min(until)).contains(at)).map(|(_, cwnd)| *cwnd)
    };
    event.cwnd_after = within(event.time_ms, round_trip_ms).min();
    let all_late = times.iter().copied().collect::<Option<Vec<f64>>>();
    let last = all_late.and_then(|times| times.into_iter().reduce(f64::max));
    event.stack_noticed = match (last, event.cwnd_before, event.cwnd_after) {
        (Some(last), Some(before), Some(after)) if after < before => {
            // The stack may already undo at the first late ACK.
            let most = within(event.time_ms, last - event.time_ms + ROUND_TRIPS * round_trip_ms).max();
            match most {
                Some(most) if most >= before => StackReaction::Undone,
                Some(_) => StackReaction::NotUndone,
                None => StackReaction::CannotBeTold,
            }
        }
        _ => StackReaction::CannotBeTold,
    };
    event
}

/// Returns the results of the known rules. `times` has the late ACK of each packet of an event, if
/// any.
fn rules(times: &[Option<f64>]) -> [Rule; 3] {
    let late = times.iter().flatten().count();
    let all = late == times.len() && late > 0;
    let last = times.iter().flatten().copied().reduce(f64::max);
    let first = times.first().copied().flatten();
    let share = if times.is_empty() { 0.0 } else { late as f64 / times.len() as f64 };
    let whole = |undone: bool| if undone { 1.0 } else { 0.0 };
    [
        Rule {
            rule: "all-acknowledged",
            stacks: "quinn, msquic, neqo, picoquic",
            takes_back: whole(all),
            time_ms: last.filter(|_| all),
        },
        Rule { rule: "first-acknowledged", stacks: "quiche", takes_back: whole(first.is_some()), time_ms: first },
        Rule { rule: "in-proportion", stacks: "", takes_back: share, time_ms: last },
    ]
}
