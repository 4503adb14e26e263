//! Loads the state of connections into the caches before their packets are handled.
//!
//! In a capture with many connections, the first packet of a train mostly belongs to a connection
//! that is in no cache. Its state is in several places, each of which leads to the next. A
//! processor that looks up one connection waits for memory at each place. This module loads the
//! first place of many connections, then the second place of all of them, and so on. So the
//! processor waits for many places at once. The loaded values are not used, and packets have the
//! same effects without this module.

use super::connection::Connection;
use super::direction::Direction;
use super::recent;
use super::table::{Table, hash_of};
use crate::frame::decode::common::Ends;
use crate::order::Fingerprint;
use std::hint::black_box;

/// The connections of the announced frames.
#[derive(Debug, Default)]
pub(crate) struct Preload {
    /// The ends of each train's connection.
    ends: Vec<Ends>,
    /// The indices of these connections in the table's store.
    places: Vec<u32>,
}

impl Preload {
    /// Adds the ends of an announced packet.
    #[inline]
    pub(crate) fn add(&mut self, ends: Ends) {
        if self.ends.last().is_none_or(|last| *last != ends && *last != ends.back()) {
            self.ends.push(ends);
        }
    }

    /// Loads the connections of the added packets, and enters them in the table of recent
    /// connections.
    pub(crate) fn load(&mut self, table: &mut Table) {
        let mask = table.slots.len() - 1;
        self.places.clear();
        self.places.extend(self.ends.iter().map(|ends| table.slots[hash_of(*ends) as usize & mask]));
        let connections = self.places.iter().filter_map(|place| table.store.get(*place as usize)?.as_deref());
        black_box(connections.fold(0, |sum, connection| sum ^ read_connection(connection)));
        self.places.clear();
        self.places.extend(self.ends.drain(..).filter_map(|ends| table.prepare(ends)));
        let connections = || self.places.iter().filter_map(|place| table.store.get(*place as usize)?.as_deref());
        let directions = || connections().flat_map(|connection| connection.directions.iter().flatten());
        black_box(directions().fold(0, |sum, one| sum ^ read_direction(one)));
        black_box(directions().fold(0, |sum, one| sum ^ one.stream.order.touch()));
        black_box(directions().fold(0, |sum, one| sum ^ one.stream.order.touch_first()));
    }
}

impl Table {
    /// Returns the place of the connection between these ends, and enters it in the table of recent
    /// connections.
    fn prepare(&mut self, ends: Ends) -> Option<u32> {
        if let Some((place, _)) = self.recent.get(ends) {
            return Some(place);
        }
        for place in self.probe(hash_of(ends)).map(|at| self.slots[at]) {
            // A free slot has no place in the store.
            let flow = self.store.get(place as usize)?.as_ref()?.flow;
            if recent::ends(&flow).is_some_and(|found| found == ends || found == ends.back()) {
                self.recent.put(&flow, place);
                return Some(place);
            }
        }
        None
    }
}

/// Reads a field from each cache line of a connection.
fn read_connection(connection: &Connection) -> u64 {
    let [one, other] = &connection.sides;
    let trips = one.round_trip.shortest().unwrap_or(0) ^ other.round_trip.shortest().unwrap_or(0);
    let duplicates = one.duplicates.may_be_duplicate(Fingerprint::default())
        ^ other.duplicates.may_be_duplicate(Fingerprint::default());
    connection.last ^ connection.duplicates ^ trips ^ u64::from(duplicates) ^ u64::from(connection.flow.tunnel)
}

/// Reads a field from each cache line of a direction.
fn read_direction(Direction { stream, .. }: &Direction) -> u64 {
    stream.out.len() as u64
        ^ stream.nxt
        ^ stream.last_sent
        ^ stream.counts.segments
        ^ stream.counts.acks
        ^ u64::from(stream.largest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Endpoint, Flow, When};
    use std::net::IpAddr;

    /// More connections than the table of recent connections holds.
    const ALL: u16 = 3000;

    fn flow(number: u16) -> Flow {
        let source = Endpoint { address: IpAddr::from([10, 0, 0, 1]), port: 1000 + number };
        Flow { source, destination: Endpoint { address: IpAddr::from([10, 0, 0, 2]), port: 443 }, tunnel: 0 }
    }

    #[test]
    fn connections_that_were_loaded_are_found_without_a_search() {
        let mut table = Table::default();
        for number in 0..ALL {
            table.insert(Connection::new(flow(number), number.into(), When::default()));
        }
        let found = |table: &mut Table, number| {
            let ends = recent::ends(&flow(number)).unwrap();
            let there = table.recently_used(ends).map(|(one, side, _)| (one.number, side));
            (there, table.recently_used(ends.back()).map(|(one, side, _)| (one.number, side)))
        };
        assert!(table.is_large());
        assert_eq!(found(&mut table, 7), (None, None));
        // Connections that share an entry displace each other; these three do not share one.
        let (mut preload, soon) = (Preload::default(), [7, 1500, 2900]);
        for number in soon {
            let ends = recent::ends(&flow(number)).unwrap();
            [ends, ends.back(), ends].into_iter().for_each(|ends| preload.add(ends));
        }
        assert_eq!(preload.ends.len(), soon.len());
        preload.add(recent::ends(&flow(ALL)).unwrap());
        preload.load(&mut table);
        assert_eq!(preload.places, soon.map(u32::from));
        for number in soon {
            assert_eq!(found(&mut table, number), (Some((number.into(), 0)), Some((number.into(), 1))));
        }
        assert_eq!(found(&mut table, ALL), (None, None));
        // A removed connection is not found any more.
        table.remove(&flow(7));
        assert_eq!(found(&mut table, 7), (None, None));
        preload.add(recent::ends(&flow(7)).unwrap());
        preload.load(&mut table);
        assert_eq!((preload.places.len(), found(&mut table, 7)), (0, (None, None)));
    }

    #[test]
    fn connections_with_one_slot_are_all_found() {
        let mut table = Table::default();
        for number in 0..ALL {
            table.insert(Connection::new(flow(number), number.into(), When::default()));
        }
        let mut preload = Preload::default();
        (0..ALL).for_each(|number| preload.add(recent::ends(&flow(number)).unwrap()));
        preload.load(&mut table);
        assert!(preload.places.iter().copied().eq(0..u32::from(ALL)));
    }

    #[test]
    fn the_hashes_of_a_flow_and_of_its_wire_bytes_are_equal() {
        for number in 0..ALL {
            let flow = flow(number);
            let ends = recent::ends(&flow).unwrap();
            let hash = crate::tcp::hash(&flow);
            assert_eq!([ends, ends.back()].map(hash_of), [hash, hash]);
        }
    }
}
