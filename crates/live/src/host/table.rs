//! The connections of a host: found by their addresses and ports, or by a handle, and woken in the order of their timers.

use super::Ended;
use eifel_base::siphash::{Secret, siphash};
use eifel_base::time::Instant;
use eifel_recovery::fact::Kind;
use eifel_tcp::{Caller, Connection, Outgoing, State};
use std::collections::BTreeSet;

/// Identifies a connection. Handles are not reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Handle {
    index: u32,
    /// How many connections had the place before.
    generation: u32,
}

/// The key of a segment's connection: the peer, our address, and our port.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Key {
    pub(super) caller: Caller,
    pub(super) port: u16,
}

/// Counts of a connection's segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Segments, acknowledgements included.
    pub segments: u64,
    pub retransmissions: u64,
}

impl Tally {
    pub(super) fn count(&mut self, outgoing: &Outgoing) {
        self.segments += 1;
        let again = outgoing.transmission.is_some_and(|sent| matches!(sent.kind, Kind::Retransmission(_)));
        self.retransmissions += u64::from(again);
    }
}

struct Entry {
    key: Key,
    connection: Connection,
    tally: Tally,
    /// When the connection is woken, no later than its timer; never if no alarm is set.
    alarm: Instant,
    /// Whether it waits for its turn to send.
    in_line: bool,
}

#[derive(Default)]
struct Place {
    generation: u32,
    entry: Option<Box<Entry>>,
}

/// The connections.
pub(super) struct Table {
    places: Vec<Place>,
    vacant: Vec<u32>,
    /// Hashes of keys with their places. The keys themselves are only in the connections' entries:
    /// a tree of keys would take more memory than everything else besides the connections.
    by_hash: BTreeSet<(u64, u32)>,
    /// The secret of the hash. Peers that do not know it cannot choose keys with equal hashes.
    secret: Secret,
    /// The place found last. Consecutive packets mostly belong to one connection.
    latest: u32,
    alarms: BTreeSet<(Instant, u32)>,
}

impl Table {
    pub(super) fn new(secret: Secret) -> Self {
        let (by_hash, alarms) = Default::default();
        Self { places: Vec::new(), vacant: Vec::new(), by_hash, secret, latest: 0, alarms }
    }

    pub(super) fn len(&self) -> usize {
        self.by_hash.len()
    }

    fn hash(&self, key: &Key) -> u64 {
        let [a, b, c, d, remote] = key.caller.words();
        // Six words, because initial sequence numbers, which peers see, are hashes of five.
        siphash(&self.secret, &[u64::from(key.port), a, b, c, d, remote])
    }

    fn has(&self, index: u32, key: &Key) -> bool {
        let entry = self.places.get(index as usize).and_then(|place| place.entry.as_ref());
        entry.is_some_and(|entry| entry.key == *key)
    }

    pub(super) fn insert(&mut self, key: Key, connection: Connection) -> Handle {
        let index = self.vacant.pop().unwrap_or_else(|| {
            self.places.push(Place::default());
            (self.places.len() - 1) as u32
        });
        let hash = self.hash(&key);
        let place = &mut self.places[index as usize];
        place.entry =
            Some(Box::new(Entry { key, connection, tally: Tally::default(), alarm: Instant::NEVER, in_line: false }));
        self.by_hash.insert((hash, index));
        Handle { index, generation: place.generation }
    }

    pub(super) fn find(&mut self, key: &Key) -> Option<Handle> {
        if !self.has(self.latest, key) {
            let hash = self.hash(key);
            let mut alike = self.by_hash.range((hash, 0)..=(hash, u32::MAX)).map(|&(_, index)| index);
            self.latest = alike.find(|&index| self.has(index, key))?;
        }
        let index = self.latest;
        Some(Handle { index, generation: self.places[index as usize].generation })
    }

    fn get(&mut self, handle: Handle) -> Option<&mut Entry> {
        let place = self.places.get_mut(handle.index as usize)?;
        if place.generation == handle.generation { place.entry.as_deref_mut() } else { None }
    }

    pub(super) fn connection(&mut self, handle: Handle) -> Option<&mut Connection> {
        self.get(handle).map(|entry| &mut entry.connection)
    }

    pub(super) fn entry(&mut self, handle: Handle) -> Option<(Key, &mut Connection, &mut Tally)> {
        self.get(handle).map(|entry| (entry.key, &mut entry.connection, &mut entry.tally))
    }

    /// Returns the payload of a segment that the connection has just sent.
    pub(super) fn payload(&self, handle: Handle, start: u64, len: u32) -> [&[u8]; 2] {
        let entry = self.places.get(handle.index as usize).and_then(|place| place.entry.as_ref());
        let (front, back) = entry.map_or((&[][..], &[][..]), |entry| entry.connection.payload(start, len));
        [front, back]
    }

    pub(super) fn tally(&self, handle: Handle) -> Tally {
        let place = self.places.get(handle.index as usize).filter(|place| place.generation == handle.generation);
        place.and_then(|place| place.entry.as_ref()).map_or(Tally::default(), |entry| entry.tally)
    }

    /// Queues the connection. Returns whether it was not queued yet.
    pub(super) fn mark(&mut self, handle: Handle) -> bool {
        self.get(handle).is_some_and(|entry| !std::mem::replace(&mut entry.in_line, true))
    }

    /// Ends the connection's turn: sets its alarm if it is due earlier than known, and removes the
    /// connection if it is over.
    pub(super) fn settle(&mut self, handle: Handle) -> Option<Ended> {
        let entry = self.get(handle)?;
        entry.in_line = false;
        let (due, before) = (entry.connection.poll_timeout(), entry.alarm);
        if entry.connection.state() == State::Closed {
            return self.remove(handle);
        }
        if due < before {
            entry.alarm = due;
            self.alarms.remove(&(before, handle.index));
            self.alarms.insert((due, handle.index));
        }
        None
    }

    fn remove(&mut self, handle: Handle) -> Option<Ended> {
        let place = self.places.get_mut(handle.index as usize)?;
        let entry = place.entry.take()?;
        place.generation = place.generation.wrapping_add(1);
        self.vacant.push(handle.index);
        let hash = self.hash(&entry.key);
        self.by_hash.remove(&(hash, handle.index));
        self.alarms.remove(&(entry.alarm, handle.index));
        Some(Ended { connection: entry.connection, tally: entry.tally })
    }

    /// Returns the time of the first alarm.
    pub(super) fn next_alarm(&self) -> Instant {
        self.alarms.first().map_or(Instant::NEVER, |&(at, _)| at)
    }

    /// Returns the next connection whose alarm is due at `now`, and clears the alarm.
    pub(super) fn take_alarm(&mut self, now: Instant) -> Option<Handle> {
        let &(at, index) = self.alarms.first().filter(|(at, _)| *at <= now)?;
        self.alarms.remove(&(at, index));
        let place = &mut self.places[index as usize];
        place.entry.as_mut()?.alarm = Instant::NEVER;
        Some(Handle { index, generation: place.generation })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_packet::ip::Addresses;
    use eifel_packet::segment::Segment;
    use eifel_packet::seq::Seq;
    use eifel_recovery::engine::{Config, Engine};
    use eifel_tcp::{Ports, Settings};
    use eifel_testkit::random::Random;
    use std::collections::BTreeMap;

    fn key(number: u64) -> Key {
        let addresses =
            Addresses::V4 { source: [10, 0, 0, number as u8 % 2].into(), destination: [10, 0, 0, 9].into() };
        Key { caller: Caller { addresses, port: 80 + number as u16 / 2 % 2 }, port: 5000 + number as u16 / 4 }
    }

    fn calls(key: &Key) -> Connection {
        let ports = Ports { local: key.port, remote: key.caller.port };
        let engine = Engine::new(&Config::default()).unwrap();
        Connection::connect(&Settings::default(), engine, ports, Seq(1))
    }

    /// Compares with a map of keys. A connection that is over makes room for another one with its key, and its handle
    /// means nothing any more.
    #[test]
    fn the_connection_table_equals_a_naive_map() {
        let mut random = Random(3);
        let (mut removed, mut woken) = (0, 0);
        for case in 0..60 {
            let mut table = Table::new([case, 7]);
            let (mut naive, mut stale) = (BTreeMap::new(), Vec::new());
            let mut now = Instant::ZERO;
            for _ in 0..150 {
                let key = key(random.below(12));
                match (random.below(4), naive.get(&key).copied()) {
                    (0 | 1, None) => {
                        let handle = table.insert(key, calls(&key));
                        assert!(!stale.contains(&handle), "handles are not reused");
                        naive.insert(key, handle);
                        // The SYN leaves, and its timer runs.
                        assert!(table.mark(handle) && !table.mark(handle), "it waits for its turn once");
                        let mut syn = Segment::EMPTY;
                        let sent = table.connection(handle).unwrap().poll_transmit(now, &mut syn).unwrap();
                        table.entry(handle).unwrap().2.count(&sent);
                        assert!(table.settle(handle).is_none() && table.mark(handle));
                        assert!(table.settle(handle).is_none());
                    }
                    (2, Some(handle)) => {
                        table.connection(handle).unwrap().abort();
                        let ended = table.settle(handle).unwrap();
                        assert!(ended.tally.segments >= 1 && ended.connection.state() == State::Closed);
                        naive.remove(&key);
                        stale.push(handle);
                        removed += 1;
                    }
                    _ => {}
                }
                for number in 0..12 {
                    let key = self::key(number);
                    assert_eq!(table.find(&key), naive.get(&key).copied(), "{case}");
                }
                assert_eq!(table.len(), naive.len());
                assert!(naive.values().all(|&handle| table.tally(handle).segments >= 1));
                for &handle in &stale {
                    assert!(table.connection(handle).is_none() && table.settle(handle).is_none());
                    assert!(!table.mark(handle) && table.tally(handle) == Tally::default());
                }
                let due = |table: &mut Table| {
                    let all = naive.values().map(|&handle| table.connection(handle).unwrap().poll_timeout());
                    all.min().unwrap_or(Instant::NEVER)
                };
                let next = due(&mut table);
                assert_eq!(table.next_alarm(), next, "{case}");
                if random.below(6) > 0 || next == Instant::NEVER {
                    continue;
                }
                assert!(now >= next || table.take_alarm(now).is_none(), "nothing is due yet");
                now = now.max(next);
                while let Some(handle) = table.take_alarm(now) {
                    let connection = table.connection(handle).unwrap();
                    assert!(connection.poll_timeout() <= now);
                    connection.handle_timeout(now);
                    let mut syn = Segment::EMPTY;
                    while connection.poll_transmit(now, &mut syn).is_some() {}
                    let over = table.settle(handle).is_some();
                    if over {
                        naive.retain(|_, one| *one != handle);
                        stale.push(handle);
                    }
                    woken += 1;
                }
            }
        }
        assert!(removed > 500 && woken > 500, "{removed} {woken}");
    }
}
