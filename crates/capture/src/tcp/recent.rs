//! A cache of recently used connections, indexed by the bytes in which IPv4 and TCP name their
//! ends.
//!
//! Each connection can be in one entry only, and shares it with others. The entry holds the last
//! one that was found.

use crate::frame::decode::common::Ends;
use crate::result::Flow;
use std::net::IpAddr;

/// The number of entries, a power of two. Together they fit into a processor's first-level cache.
const MOST: usize = 256;

const EMPTY: Entry = (Ends { addresses: 0, ports: 0 }, None);

/// The ends of a connection, and its place in the table's store.
type Entry = (Ends, Option<u32>);

/// Recently used connections over IPv4, outside of tunnels.
#[derive(Debug)]
pub(crate) struct RecentConnections {
    entries: Vec<Entry>,
    /// The connection found last. Most packets follow another one of their train, and need not wait
    /// for an entry to load.
    latest: Entry,
}

impl Default for RecentConnections {
    fn default() -> Self {
        Self { entries: vec![EMPTY; MOST], latest: EMPTY }
    }
}

impl RecentConnections {
    /// Returns the place of the connection between these ends, and the end that the packet comes
    /// from.
    #[inline]
    pub(crate) fn get(&mut self, ends: Ends) -> Option<(u32, usize)> {
        if let Some(found) = side(self.latest, ends) {
            return Some(found);
        }
        let stands = *self.entries.get(entry(ends))?;
        let found = side(stands, ends)?;
        self.latest = stands;
        Some(found)
    }

    /// Records that the connection with this flow is at `place` in the store.
    pub(crate) fn put(&mut self, flow: &Flow, place: u32) {
        if let Some(ends) = ends(flow) {
            self.entries[entry(ends)] = (ends, Some(place));
        }
    }

    /// Removes the connection with this flow or its reverse.
    pub(crate) fn forget(&mut self, flow: &Flow) {
        let Some(ends) = ends(flow) else { return };
        for stands in [&mut self.latest, &mut self.entries[entry(ends)]] {
            if side(*stands, ends).is_some() {
                *stands = EMPTY;
            }
        }
    }
}

/// Returns the place of an entry's connection and the end that the packet comes from, if the
/// connection is the one between these ends.
#[inline(always)]
fn side((found, place): Entry, ends: Ends) -> Option<(u32, usize)> {
    let place = place?;
    if found == ends { Some((place, 0)) } else { (found == ends.back()).then_some((place, 1)) }
}

/// Returns the index of the entry for these ends, which both directions share.
#[inline]
fn entry(ends: Ends) -> usize {
    let addresses = (ends.addresses ^ ends.addresses >> 32) as u32;
    let ports = (ends.ports ^ ends.ports >> 16) & 0xffff;
    let product = (addresses ^ ports << 16 ^ ports).wrapping_mul(0x9e37_79b9);
    (product >> 24) as usize % MOST
}

/// Returns the ends of a flow over IPv4 outside of tunnels.
pub(crate) fn ends(flow: &Flow) -> Option<Ends> {
    let (IpAddr::V4(source), IpAddr::V4(destination), 0) = (flow.source.address, flow.destination.address, flow.tunnel)
    else {
        return None;
    };
    let addresses = u64::from(source.to_bits()) << 32 | u64::from(destination.to_bits());
    let ports = u32::from(flow.source.port) << 16 | u32::from(flow.destination.port);
    Some(Ends { addresses: addresses.swap_bytes(), ports: ports.swap_bytes() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Endpoint;

    fn flow(source: [u8; 4], port: u16) -> Flow {
        let source = Endpoint { address: IpAddr::from(source), port };
        let destination = Endpoint { address: IpAddr::from([10, 0, 0, 2]), port: 443 };
        Flow { source, destination, tunnel: 0 }
    }

    fn there(source: [u8; 4], port: u16) -> Ends {
        ends(&flow(source, port)).expect("IPv4")
    }

    #[test]
    fn both_directions_find_a_recent_connection_until_another_takes_its_entry() {
        const SOURCE: [u8; 4] = [10, 0, 0, 1];
        let mut recent = RecentConnections::default();
        let (one, ends) = (flow(SOURCE, 5000), there(SOURCE, 5000));
        recent.put(&one, 7);
        assert_eq!([ends, ends.back()].map(|ends| recent.get(ends)), [Some((7, 0)), Some((7, 1))]);
        // Equal ports with exchanged addresses belong to another connection.
        assert_eq!(recent.get(Ends { ports: ends.back().ports, ..ends }), None);
        // The connection found last is found without its entry, and is removed together with the
        // entry.
        recent.entries[entry(ends)] = EMPTY;
        assert_eq!(recent.get(ends.back()), Some((7, 1)));
        recent.forget(&one);
        assert_eq!(recent.get(ends), None);
        recent.put(&one, 7);
        let other = (5001..).find(|port| entry(there(SOURCE, *port)) == entry(ends)).expect("256 entries");
        recent.put(&flow(SOURCE, other), 8);
        assert_eq!(recent.get(ends), None);
        recent.forget(&one);
        assert_eq!(recent.get(there(SOURCE, other)), Some((8, 0)));
        recent.forget(&flow(SOURCE, other));
        assert_eq!(recent.get(there(SOURCE, other)), None);
    }

    #[test]
    fn recent_connections_exclude_tunnels() {
        let mut recent = RecentConnections::default();
        recent.put(&Flow { tunnel: 3, ..flow([10, 0, 0, 1], 5000) }, 7);
        assert_eq!(recent.get(there([10, 0, 0, 1], 5000)), None);
    }
}
