//! The table of connections: a hash table with open addressing over a store of bounded size.
//!
//! The standard library's table would take twice as long to hash, and its order differs between
//! runs.

use super::recent::Recent;
use super::sent::Spare;
use super::{Connection, Way};
use crate::decode::Packet;
use crate::decode::common::Ends;

/// The number of connections kept. Beyond it, each new one evicts another: if possible one that is
/// over, and one that has been idle for long.
pub const MOST_CONNECTIONS: usize = 1 << 17;

const FREE: u32 = u32::MAX;

/// Up to this number of connections, all of them fit into a processor's second-level cache.
const MANY: usize = 2048;

/// The current connections.
#[derive(Debug)]
pub struct Table {
    /// Indices into `store`; at most half of the slots are taken.
    pub(super) slots: Vec<u32>,
    pub(super) store: Vec<Option<Box<Connection>>>,
    free: Vec<u32>,
    /// The place in `store` at which the next search for a connection to evict begins.
    hand: usize,
    /// The place of the connection found last, because packets come in trains.
    last: u32,
    pub(super) recent: Recent,
    spare: Spare,
    /// The cached value of [`is_large`](Self::is_large), which is needed for every packet.
    large: bool,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            slots: vec![FREE; 64],
            store: Vec::new(),
            free: Vec::new(),
            hand: 0,
            last: FREE,
            recent: Recent::default(),
            spare: Spare::default(),
            large: false,
        }
    }
}

impl Table {
    /// Returns the number of connections.
    pub fn len(&self) -> usize {
        self.store.len() - self.free.len()
    }

    /// Returns whether loading connections ahead and sharing memory between them pays off.
    pub(crate) fn is_large(&self) -> bool {
        self.large
    }

    /// Returns whether there are no connections.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the connection found last and the end that sent the packet, if the packet belongs to
    /// it.
    #[inline]
    pub fn same(&mut self, packet: &Packet) -> Option<(&mut Connection, usize)> {
        let connection = self.store.get_mut(self.last as usize)?.as_mut()?;
        let side = connection.side_of(packet)?;
        Some((connection, side))
    }

    /// Returns the connection between these ends, over IPv4 and outside of tunnels, and the end
    /// that sent the packet. `None` does not mean that it does not exist: only [`find`](Self::find)
    /// tells that. A large table adds the memory that connections leave to each other.
    #[inline]
    pub(crate) fn between(&mut self, ends: Ends) -> Option<(&mut Connection, usize, Option<&mut Spare>)> {
        let (place, side) = self.recent.get(ends)?;
        let connection = self.store.get_mut(place as usize)?.as_mut()?;
        self.last = place;
        Some((connection, side, self.large.then_some(&mut self.spare)))
    }

    /// Returns the connection with this way or its reverse, and the end that is the way's source.
    #[cold]
    #[inline(never)]
    pub fn find(&mut self, way: &Way) -> Option<(&mut Connection, usize)> {
        let mut place = self.last;
        let mut side = self.side(place, way);
        if side.is_none() {
            place = self.search(way)?;
            side = self.side(place, way);
        }
        self.last = place;
        let side = side?;
        let connection = self.store.get_mut(place as usize)?.as_mut()?;
        self.recent.put(&connection.way, place);
        Some((connection, side))
    }

    #[inline]
    fn side(&self, place: u32, way: &Way) -> Option<usize> {
        self.store.get(place as usize)?.as_ref()?.side(way)
    }

    fn search(&self, way: &Way) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let mut at = hash(way) as usize & mask;
        loop {
            let place = self.slots[at];
            if place == FREE {
                return None;
            }
            if self.side(place, way).is_some() {
                return Some(place);
            }
            at = (at + 1) & mask;
        }
    }

    /// Inserts a connection that must not be in the table. Returns the connection evicted for it,
    /// if any.
    pub fn insert(&mut self, connection: Connection) -> Option<Box<Connection>> {
        let evicted = if self.len() == MOST_CONNECTIONS { self.evict() } else { None };
        if (self.len() + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let way = connection.way;
        let place = match self.free.pop() {
            Some(place) => {
                self.store[place as usize] = Some(Box::new(connection));
                place
            }
            None => {
                self.store.push(Some(Box::new(connection)));
                self.store.len() as u32 - 1
            }
        };
        self.enter(&way, place);
        self.recent.put(&way, place);
        self.last = place;
        self.large = self.len() > MANY;
        evicted
    }

    /// Removes the connection with this way or its reverse.
    pub fn remove(&mut self, way: &Way) -> Option<Box<Connection>> {
        let place = self.search(way)?;
        let mask = self.slots.len() - 1;
        let mut at = hash(way) as usize & mask;
        while self.slots[at] != place {
            at = (at + 1) & mask;
        }
        // Move the entries behind it up, unless they are in their proper place.
        let mut next = (at + 1) & mask;
        while let Some(other) = self.store.get(self.slots[next] as usize).and_then(Option::as_ref) {
            let home = hash(&other.way) as usize & mask;
            if (next.wrapping_sub(home) & mask) >= (next.wrapping_sub(at) & mask) {
                self.slots[at] = self.slots[next];
                at = next;
            }
            next = (next + 1) & mask;
        }
        self.slots[at] = FREE;
        self.recent.forget(way);
        self.free.push(place);
        self.large = self.len() > MANY;
        self.store[place as usize].take()
    }

    /// Iterates over all connections.
    pub fn iter(&self) -> impl Iterator<Item = &Connection> {
        self.store.iter().flatten().map(AsRef::as_ref)
    }

    /// Removes all connections. If none was removed before, they come in the order of insertion.
    pub fn drain(self) -> impl Iterator<Item = Box<Connection>> {
        self.store.into_iter().flatten()
    }

    fn enter(&mut self, way: &Way, place: u32) {
        let mask = self.slots.len() - 1;
        let mut at = hash(way) as usize & mask;
        while self.slots[at] != FREE {
            at = (at + 1) & mask;
        }
        self.slots[at] = place;
    }

    fn grow(&mut self) {
        self.slots = vec![FREE; self.slots.len() * 2];
        for place in 0..self.store.len() {
            if let Some(way) = self.store[place].as_ref().map(|connection| connection.way) {
                self.enter(&way, place as u32);
            }
        }
    }

    /// Evicts one of the next connections from `hand` on: the one idle for longest, of those that
    /// are over if there are any.
    fn evict(&mut self) -> Option<Box<Connection>> {
        const LOOKED_AT: usize = 64;
        let mut chosen: Option<(bool, u64, Way)> = None;
        for _ in 0..LOOKED_AT {
            self.hand = (self.hand + 1) % self.store.len();
            let Some(connection) = &self.store[self.hand] else { continue };
            let candidate = (!connection.is_over(), connection.last, connection.way);
            if chosen.is_none_or(|chosen| (candidate.0, candidate.1) < (chosen.0, chosen.1)) {
                chosen = Some(candidate);
            }
        }
        chosen.and_then(|(_, _, way)| self.remove(&way))
    }
}

/// Returns a hash that is equal for both directions.
pub(crate) fn hash(way: &Way) -> u64 {
    let mixed = |end: &super::Endpoint| {
        let address = match end.address {
            std::net::IpAddr::V4(address) => u64::from(address.to_bits()),
            std::net::IpAddr::V6(address) => {
                let bits = address.to_bits();
                (bits >> 64) as u64 ^ (bits as u64).rotate_left(23)
            }
        };
        mix(address, end.port)
    };
    both(mixed(&way.source).wrapping_add(mixed(&way.destination)).wrapping_add(u64::from(way.tunnel)))
}

/// Returns the same hash for a way over IPv4 outside of tunnels.
pub(super) fn hash_of(ends: Ends) -> u64 {
    let (addresses, ports) = (ends.addresses.swap_bytes(), ends.ports.swap_bytes());
    let source = mix(addresses >> 32, (ports >> 16) as u16);
    both(source.wrapping_add(mix(addresses & 0xffff_ffff, ports as u16)))
}

#[inline]
fn mix(address: u64, port: u16) -> u64 {
    (address ^ u64::from(port) << 40 ^ u64::from(port)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[inline]
fn both(sum: u64) -> u64 {
    let product = (sum ^ sum >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    product ^ product >> 29
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::{Endpoint, When};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn way(number: u16) -> Way {
        let end = |port| Endpoint { port, ..Endpoint::default() };
        Way { source: end(number), destination: end(1000), tunnel: 0 }
    }

    proptest! {
        #[test]
        fn it_finds_what_was_put_in_and_not_taken_out(steps in prop::collection::vec((0u16..200, any::<bool>()), 1..600)) {
            let mut table = Table::default();
            let mut model = BTreeMap::new();
            for (index, (number, insert)) in steps.into_iter().enumerate() {
                let Way { source, destination, tunnel } = way(number);
                let back = Way { source: destination, destination: source, tunnel };
                if insert && !model.contains_key(&number) {
                    prop_assert!(table.insert(Connection::new(way(number), index as u64, When::default())).is_none());
                    model.insert(number, index as u64);
                } else if !insert {
                    prop_assert_eq!(table.remove(&back).map(|one| one.number), model.remove(&number));
                }
                prop_assert_eq!(table.len(), model.len());
                let found = table.find(&way(number)).map(|(one, side)| (one.number, side));
                prop_assert_eq!(found, model.get(&number).map(|index| (*index, 0)));
                let found = table.find(&back).map(|(one, side)| (one.number, side));
                prop_assert_eq!(found, model.get(&number).map(|index| (*index, 1)));
            }
        }
    }
}
