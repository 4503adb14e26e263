//! Which association a packet belongs to.

use super::Association;
use crate::decode::sctp::{Chunk, Packet};
use crate::flow::When;
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

/// Associations kept at a time. The oldest makes room.
const MOST: usize = 1 << 14;

/// A verification tag and the ports, as they stand in packets.
type Key = (u32, (u16, u16), u32);
/// Addresses, ports and tunnel of a packet.
type Way = ((IpAddr, u16), (IpAddr, u16), u32);

/// All associations that last.
#[derive(Debug, Default)]
pub struct Associations {
    by_tag: BTreeMap<Key, (u64, usize)>,
    /// Those of which a tag is not known yet, by the way of a packet from end 0.
    by_way: BTreeMap<Way, u64>,
    kept: BTreeMap<u64, Association>,
    order: VecDeque<u64>,
}

impl Associations {
    /// Takes a packet in. `number` is that of the association which it opens, if it does; then it is counted up. Returns an
    /// association that had to make room.
    pub(crate) fn on_packet(&mut self, packet: &Packet<'_>, when: When, number: &mut u64) -> Option<Association> {
        let way = way(packet);
        let key = (packet.tag, packet.ports, packet.tunnel);
        let known = self.by_tag.get(&key).copied();
        let known = known.filter(|(index, _)| packet.tag != 0 && self.kept.contains_key(index));
        let found = known.or_else(|| self.join(packet, &way));
        let mut evicted = None;
        let (index, side) = match found {
            Some(found) => found,
            None => {
                evicted = self.make_room();
                let index = *number;
                *number += 1;
                self.kept.insert(index, Association::new(packet, index, when));
                self.order.push_back(index);
                self.by_way.insert(way, index);
                (index, 0)
            }
        };
        if packet.tag != 0 {
            self.by_tag.insert(key, (index, side));
        }
        let back = (packet.ports.1, packet.ports.0);
        for chunk in packet.chunks() {
            if let Chunk::Init { tag, .. } | Chunk::InitAck { tag, .. } = chunk {
                self.by_tag.insert((tag, back, packet.tunnel), (index, 1 - side));
            }
        }
        if self.by_tag.len() > 4 * MOST {
            // Ends that open again and again leave tags behind.
            self.by_tag.retain(|_, (index, _)| self.kept.contains_key(index));
        }
        let association = self.kept.get_mut(&index)?;
        association.on_packet(packet, side, when);
        evicted
    }

    /// Finds the association of a packet whose tag is not known by its addresses, if that association waits for one.
    fn join(&self, packet: &Packet<'_>, way: &Way) -> Option<(u64, usize)> {
        let back = (way.1, way.0, way.2);
        let found = [(*way, 0), (back, 1)].into_iter().find_map(|(way, side)| Some((*self.by_way.get(&way)?, side)))?;
        let association = self.kept.get(&found.0)?;
        let known = association.ends[1 - found.1].tag;
        let opens = packet.chunks().any(|chunk| matches!(chunk, Chunk::Init { .. }));
        let again = packet
            .chunks()
            .any(|chunk| matches!(chunk, Chunk::Init { tag, .. } if association.ends[found.1].tag == Some(tag)));
        let waits = known.is_none() && !association.over;
        (if opens { again } else { waits || known == Some(packet.tag) }).then_some(found)
    }

    fn make_room(&mut self) -> Option<Association> {
        if self.kept.len() < MOST {
            return None;
        }
        let oldest = self.order.pop_front()?;
        let association = self.kept.remove(&oldest)?;
        let [one, other] = &association.ends;
        for (from, to) in [(one, other), (other, one)] {
            if let Some(tag) = to.tag {
                let key = (tag, (from.port, to.port), association.tunnel);
                self.by_tag.remove(&key).filter(|(index, _)| *index == oldest);
            }
        }
        let end = |side: &super::Side| (side.addresses[0], side.port);
        self.by_way.remove(&(end(one), end(other), association.tunnel));
        Some(association)
    }

    /// Takes all out, in the order in which they began.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Association> + use<> {
        std::mem::take(self).kept.into_values()
    }
}

fn way(packet: &Packet<'_>) -> Way {
    let (source, destination) = (packet.addresses.source(), packet.addresses.destination());
    ((source, packet.ports.0), (destination, packet.ports.1), packet.tunnel)
}
