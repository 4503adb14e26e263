//! Finds the traces of the two ends of one connection.
//!
//! Names decide where both logs have them. Else packets decide: their numbers, times and losses
//! differ between connections, even if the same program makes them.

use super::qlog::{Key, Names, Packet, Trace, What};
use std::collections::{BTreeMap, BTreeSet};

/// The least packets in each direction that may show that two logs are of one connection.
const LEAST_PACKETS: u64 = 8;
/// The most packets in a hundred that one end may have received and the other not have logged, if
/// both share only a group, and if they share the original destination. Loggers drop events.
const MOST_FOREIGN: u64 = 2;
const MOST_FOREIGN_OF_ONE_ID: u64 = 50;
/// The most traces whose packets are compared with each other: the cost grows with their square.
const MOST_COMPARED: usize = 64;
/// Bytes below which a packet is probably an ACK, whose loss no end declares.
const SMALL: u32 = 100;

/// What shows that two traces are of one connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Shown {
    ByNames,
    ByPackets,
}

/// The other end of a trace.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct OtherEnd {
    /// Its place among the traces.
    pub(super) place: usize,
    pub(super) shown: Shown,
}

/// Why two traces are not of one connection.
const OTHER_NAMES: &str = "not joined with the other log: they name different connections";
const OTHER_PACKETS: &str = "not joined with the other log: it has packets that this end did not send";
const NOTHING_SHOWN: &str = "not joined with the other log: nothing shows that they are of one connection";

/// Returns the other end of each trace, and of the only two traces why they are not joined.
pub(super) fn other_ends(traces: &[&Trace]) -> (Vec<Option<OtherEnd>>, Option<&'static str>) {
    let mut ends = vec![None; traces.len()];
    let mut found = Vec::new();
    let mut why = None;
    for (one, this) in traces.iter().enumerate() {
        for (other, that) in traces.iter().enumerate().skip(one + 1).filter(|(_, that)| are_opposite(this, that)) {
            match compare(this, that, traces.len() <= MOST_COMPARED) {
                Ok((shown, matched)) => found.push((shown, u64::MAX - matched, one, other)),
                Err(reason) if traces.len() == 2 => why = Some(reason),
                Err(_) => {}
            }
        }
    }
    // Names come before packets, and then the pair with the most packets in common.
    found.sort_unstable();
    for (shown, _, one, other) in found {
        if ends[one].is_none() && ends[other].is_none() {
            ends[one] = Some(OtherEnd { place: other, shown });
            ends[other] = Some(OtherEnd { place: one, shown });
        }
    }
    (ends, why)
}

/// Returns whether one trace may be of one end and the other of the other end.
fn are_opposite(one: &Trace, other: &Trace) -> bool {
    let (one, other) = (one.vantage.as_deref(), other.vantage.as_deref());
    let ends = ["client", "server", "sender", "receiver"];
    let end = |vantage: Option<&str>| vantage.is_none_or(|vantage| ends.contains(&vantage));
    end(one) && end(other) && (one != other || one.is_none())
}

/// Returns what shows that two traces are of one connection, and the number of packets that both
/// logged.
fn compare(one: &Trace, other: &Trace, by_packets: bool) -> Result<(Shown, u64), &'static str> {
    let named = names(&one.names, &other.names);
    match named {
        Some(false) => return Err(OTHER_NAMES),
        None if !by_packets => return Err(NOTHING_SHOWN),
        _ => {}
    }
    let paths = one.multipath || other.multipath;
    let ways = [Direction::new(one, other, paths), Direction::new(other, one, paths)];
    let matched = ways.iter().map(|way| way.matched).sum();
    let one_id = !one.names.original.is_disjoint(&other.names.original);
    let most = if one_id { MOST_FOREIGN_OF_ONE_ID } else { MOST_FOREIGN };
    if ways.iter().any(|way| way.contradicts(most)) {
        return Err(OTHER_PACKETS);
    }
    if named == Some(true) {
        return Ok((Shown::ByNames, matched));
    }
    if ways.iter().all(Direction::agrees) && times_agree(&ways, shortest_round_trip(one, other)) {
        return Ok((Shown::ByPackets, matched));
    }
    Err(NOTHING_SHOWN)
}

/// Returns whether two traces have one name, or different ones; `None` if the names do not tell.
fn names(one: &Names, other: &Names) -> Option<bool> {
    let both = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
        (!one.is_empty() && !other.is_empty()).then(|| !one.is_disjoint(other))
    };
    // Many stacks use the original destination as the group.
    let all = |names: &Names| names.original.iter().chain(&names.groups).cloned().collect::<BTreeSet<_>>();
    match (both(&one.original, &other.original), both(&one.groups, &other.groups)) {
        (Some(same), _) => Some(same),
        (None, Some(same)) => Some(same),
        (None, None) => {
            let with_events = |names: &Names| &all(names) | &names.of_events;
            both(&with_events(one), &with_events(other)).filter(|same| *same)
        }
    }
}

/// What one end sent and the other received.
#[derive(Default)]
struct Direction {
    /// Packets that both logged.
    matched: u64,
    /// Packets between others that were received and not sent.
    foreign: u64,
    /// Packets with a size in both logs, and those whose sizes differ by more or less than most do:
    /// an end may leave out the tag of encryption.
    sized: u64,
    resized: u64,
    /// Packets between others that were sent and not received, and those not declared lost.
    missing: u64,
    unexplained: u64,
    /// The least difference of the times, in milliseconds; the clocks differ.
    least_ms: Option<f64>,
}

impl Direction {
    fn new(sender: &Trace, receiver: &Trace, paths: bool) -> Self {
        let mut sent: BTreeMap<Key, (f64, Packet, bool)> = BTreeMap::new();
        let mut lost = BTreeSet::new();
        for event in &sender.events {
            match &event.what {
                What::Sent { packet, in_flight, .. } => {
                    let counts = *in_flight && !(1..SMALL).contains(&packet.bytes);
                    sent.insert(packet.keyed(paths), (event.time_ms, *packet, counts));
                }
                What::Lost { packet, .. } => drop(lost.insert(packet.keyed(paths))),
                _ => {}
            }
        }
        let (mut received, mut sizes) = (BTreeSet::new(), BTreeMap::<i64, u64>::new());
        let mut way = Self::default();
        for event in &receiver.events {
            let What::Received { packet, .. } = &event.what else { continue };
            let key = packet.keyed(paths);
            received.insert(key);
            match sent.get(&key) {
                Some((left, other, _)) => {
                    way.matched += 1;
                    let delay = event.time_ms - left;
                    way.least_ms = Some(way.least_ms.map_or(delay, |least| least.min(delay)));
                    if packet.bytes > 0 && other.bytes > 0 {
                        *sizes.entry(i64::from(packet.bytes) - i64::from(other.bytes)).or_default() += 1;
                    }
                }
                None => way.foreign += u64::from(is_between(key, &sent)),
            }
        }
        way.sized = sizes.values().sum();
        way.resized = way.sized - sizes.values().max().unwrap_or(&0);
        let known: BTreeMap<Key, ()> = received.iter().map(|key| (*key, ())).collect();
        for (key, (_, _, counts)) in &sent {
            if *counts && !received.contains(key) && is_between(*key, &known) {
                way.missing += 1;
                way.unexplained += u64::from(!lost.contains(key));
            }
        }
        if lost.is_empty() {
            // The log may not show losses.
            way.unexplained = 0;
        }
        way
    }

    /// Returns whether the receiver has packets that the sender never sent.
    fn contradicts(&self, most: u64) -> bool {
        self.foreign * 100 > (self.matched + self.foreign) * most
    }

    /// Returns whether the packets alone show that both logs are of one connection.
    fn agrees(&self) -> bool {
        self.matched >= LEAST_PACKETS
            && self.foreign == 0
            && self.resized * 20 <= self.sized
            && self.unexplained * 5 <= self.missing
    }
}

/// Returns whether packets of a number space before and after this one are known.
fn is_between<T>((space, path, number): Key, known: &BTreeMap<Key, T>) -> bool {
    let before =
        number.checked_sub(1).is_some_and(|last| known.range((space, path, 0)..=(space, path, last)).next().is_some());
    before && known.range((space, path, number + 1)..=(space, path, u64::MAX)).next().is_some()
}

/// Returns whether the times of both directions fit the round trip. The clocks' difference cancels.
fn times_agree(ways: &[Direction; 2], round_trip_ms: Option<f64>) -> bool {
    let (Some(there), Some(back)) = (ways[0].least_ms, ways[1].least_ms) else { return false };
    let sum = there + back;
    sum >= 0.0 && round_trip_ms.is_none_or(|most| sum <= most * 1.5 + 5.0)
}

/// Returns the longer of both ends' shortest round trips: one of the logs may have another unit.
fn shortest_round_trip(one: &Trace, other: &Trace) -> Option<f64> {
    let shortest = |trace: &Trace| {
        let reported = trace.events.iter().filter_map(|event| match &event.what {
            What::Metrics(metrics) => metrics.smoothed_rtt_ms,
            _ => None,
        });
        reported.reduce(f64::min)
    };
    [shortest(one), shortest(other)].into_iter().flatten().reduce(f64::max)
}
