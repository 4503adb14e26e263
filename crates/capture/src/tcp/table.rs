//! The table of connections: a hash table with open addressing over a store of bounded size.
//!
//! The standard library's table would take twice as long to hash, and its order differs between
//! runs.

use super::connection::Connection;
use super::recent::RecentConnections;
use crate::frame::decode::common::Ends;
use crate::frame::decode::{Packet, without_vlans};
use crate::result::{Endpoint, Flow};
use crate::stream::SpareRings;

/// The number of connections kept. Beyond it, each new one evicts another: if possible one that is
/// over, and one that has been idle for long.
pub const MOST_CONNECTIONS: usize = 1 << 17;

const FREE: u32 = u32::MAX;

/// Up to this number of connections, all of them fit into a processor's second-level cache.
const MANY: usize = 2048;

/// The current connections.
#[derive(Debug)]
pub(crate) struct Table {
    /// Indices into `store`; at most stream of the slots are taken.
    pub(crate) slots: Vec<u32>,
    pub(crate) store: Vec<Option<Box<Connection>>>,
    free: Vec<u32>,
    /// The place in `store` at which the next search for a connection to evict begins.
    hand: usize,
    /// The place of the connection found last, because packets come in trains.
    last: u32,
    pub(crate) recent: RecentConnections,
    spare: SpareRings,
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
            recent: RecentConnections::default(),
            spare: SpareRings::default(),
            large: false,
        }
    }
}

impl Table {
    pub(crate) fn len(&self) -> usize {
        self.store.len() - self.free.len()
    }

    /// Returns whether loading connections ahead and sharing memory between them pays off.
    pub(crate) fn is_large(&self) -> bool {
        self.large
    }

    /// Returns the connection found last and the end that sent the packet, if the packet belongs to
    /// it.
    #[inline]
    pub(crate) fn last_used(&mut self, packet: &Packet) -> Option<(&mut Connection, usize)> {
        let connection = self.store.get_mut(self.last as usize)?.as_mut()?;
        let side = connection.side_of(packet)?;
        Some((connection, side))
    }

    /// Returns the connection between these ends, over IPv4 and outside of tunnels, and the end
    /// that sent the packet. `None` does not mean that it does not exist: only [`find`](Self::find)
    /// tells that. A large table adds the memory that connections leave to each other.
    #[inline]
    pub(crate) fn recently_used(&mut self, ends: Ends) -> Option<(&mut Connection, usize, Option<&mut SpareRings>)> {
        let (place, side) = self.recent.get(ends)?;
        let connection = self.store.get_mut(place as usize)?.as_mut()?;
        self.last = place;
        Some((connection, side, self.large.then_some(&mut self.spare)))
    }

    /// Returns the connection with this flow or its reverse, and the end that is the flow's source.
    #[cold]
    #[inline(never)]
    pub(crate) fn find(&mut self, flow: &Flow) -> Option<(&mut Connection, usize)> {
        let mut place = self.last;
        let mut side = self.side(place, flow);
        if side.is_none() {
            place = self.search(flow)?;
            side = self.side(place, flow);
        }
        self.last = place;
        let side = side?;
        let connection = self.store.get_mut(place as usize)?.as_mut()?;
        self.recent.put(&connection.flow, place);
        Some((connection, side))
    }

    #[inline]
    fn side(&self, place: u32, flow: &Flow) -> Option<usize> {
        self.store.get(place as usize)?.as_ref()?.side(flow)
    }

    /// Returns the slots in which a connection with this hash may be, from its home on. The search
    /// ends at a free slot.
    #[inline]
    pub(super) fn probe(&self, hash: u64) -> impl Iterator<Item = usize> + use<> {
        let mask = self.slots.len() - 1;
        (hash as usize & mask..).map(move |at| at & mask)
    }

    fn search(&self, flow: &Flow) -> Option<u32> {
        let places = self.probe(hash(flow)).map(|at| self.slots[at]);
        places.take_while(|place| *place != FREE).find(|place| self.side(*place, flow).is_some())
    }

    /// Returns the connections between the ends of a flow in other VLANs, each with the end that is the
    /// flow's source.
    pub(crate) fn in_other_vlans(&self, flow: &Flow) -> impl Iterator<Item = (&Connection, usize)> {
        let places = self.probe(hash(flow)).map(|at| self.slots[at]).take_while(|place| *place != FREE);
        let connections = places.filter_map(|place| self.store.get(place as usize)?.as_deref());
        connections.filter_map(|one| {
            let network = one.flow.tunnel;
            let differs = network != flow.tunnel && without_vlans(network) == without_vlans(flow.tunnel);
            let side = one.side(&Flow { tunnel: network, ..*flow })?;
            differs.then_some((one, side))
        })
    }

    /// Inserts a connection that must not be in the table. Returns the connection evicted for it,
    /// if any.
    pub(crate) fn insert(&mut self, connection: Connection) -> Option<Box<Connection>> {
        let evicted = if self.len() == MOST_CONNECTIONS { self.evict() } else { None };
        if (self.len() + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let flow = connection.flow;
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
        self.enter(&flow, place);
        self.recent.put(&flow, place);
        self.last = place;
        self.large = self.len() > MANY;
        evicted
    }

    /// Removes the connection with this flow or its reverse.
    pub(crate) fn remove(&mut self, flow: &Flow) -> Option<Box<Connection>> {
        let place = self.search(flow)?;
        let mask = self.slots.len() - 1;
        let mut at = self.probe(hash(flow)).find(|at| self.slots[*at] == place)?;
        // Move the entries behind it up, unless they are in their proper place.
        let mut next = (at + 1) & mask;
        while let Some(other) = self.store.get(self.slots[next] as usize).and_then(Option::as_ref) {
            let home = hash(&other.flow) as usize & mask;
            if (next.wrapping_sub(home) & mask) >= (next.wrapping_sub(at) & mask) {
                self.slots[at] = self.slots[next];
                at = next;
            }
            next = (next + 1) & mask;
        }
        self.slots[at] = FREE;
        self.recent.forget(flow);
        self.free.push(place);
        self.large = self.len() > MANY;
        self.store[place as usize].take()
    }

    /// Iterates over all connections.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Connection> {
        self.store.iter().flatten().map(AsRef::as_ref)
    }

    /// Removes all connections. If none was removed before, they come in the order of insertion.
    pub(crate) fn drain(self) -> impl Iterator<Item = Box<Connection>> {
        self.store.into_iter().flatten()
    }

    fn enter(&mut self, flow: &Flow, place: u32) {
        if let Some(at) = self.probe(hash(flow)).find(|at| self.slots[*at] == FREE) {
            self.slots[at] = place;
        }
    }

    fn grow(&mut self) {
        self.slots = vec![FREE; self.slots.len() * 2];
        for place in 0..self.store.len() {
            if let Some(flow) = self.store[place].as_ref().map(|connection| connection.flow) {
                self.enter(&flow, place as u32);
            }
        }
    }

    /// Evicts one of the next connections from `hand` on: the one idle for longest, of those that
    /// are over if there are any.
    fn evict(&mut self) -> Option<Box<Connection>> {
        const LOOKED_AT: usize = 64;
        let mut chosen: Option<(bool, u64, Flow)> = None;
        for _ in 0..LOOKED_AT {
            self.hand = (self.hand + 1) % self.store.len();
            let Some(connection) = &self.store[self.hand] else { continue };
            let candidate = (!connection.is_over(), connection.last, connection.flow);
            if chosen.is_none_or(|chosen| (candidate.0, candidate.1) < (chosen.0, chosen.1)) {
                chosen = Some(candidate);
            }
        }
        chosen.and_then(|(_, _, flow)| self.remove(&flow))
    }
}

/// Returns a hash that is equal for both directions, and in all VLANs.
pub(crate) fn hash(flow: &Flow) -> u64 {
    let mixed = |end: &Endpoint| {
        let address = match end.address {
            std::net::IpAddr::V4(address) => u64::from(address.to_bits()),
            std::net::IpAddr::V6(address) => {
                let bits = address.to_bits();
                (bits >> 64) as u64 ^ (bits as u64).rotate_left(23)
            }
        };
        mix(address, end.port)
    };
    let network = without_vlans(flow.tunnel);
    both(mixed(&flow.source).wrapping_add(mixed(&flow.destination)).wrapping_add(u64::from(network)))
}

/// Returns the same hash for a flow over IPv4 outside of tunnels.
pub(crate) fn hash_of(ends: Ends) -> u64 {
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
    use crate::result::{Endpoint, When};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn flow(number: u16) -> Flow {
        let end = |port| Endpoint { port, ..Endpoint::default() };
        Flow { source: end(number), destination: end(1000), tunnel: 0 }
    }

    proptest! {
        #[test]
        fn the_table_finds_inserted_connections_until_they_are_removed(steps in prop::collection::vec((0u16..200, any::<bool>()), 1..600)) {
            let mut table = Table::default();
            let mut model = BTreeMap::new();
            for (index, (number, insert)) in steps.into_iter().enumerate() {
                let Flow { source, destination, tunnel } = flow(number);
                let back = Flow { source: destination, destination: source, tunnel };
                if insert && !model.contains_key(&number) {
                    prop_assert!(table.insert(Connection::new(flow(number), index as u64, When::default())).is_none());
                    model.insert(number, index as u64);
                } else if !insert {
                    prop_assert_eq!(table.remove(&back).map(|one| one.number), model.remove(&number));
                }
                prop_assert_eq!(table.len(), model.len());
                let found = table.find(&flow(number)).map(|(one, side)| (one.number, side));
                prop_assert_eq!(found, model.get(&number).map(|index| (*index, 0)));
                let found = table.find(&back).map(|(one, side)| (one.number, side));
                prop_assert_eq!(found, model.get(&number).map(|index| (*index, 1)));
            }
        }
    }
}
