//! Finds the association that a packet belongs to.

use super::Association;
use crate::frame::decode::sctp::{Chunk, Packet};
use crate::result::{Flow, When};
use std::collections::{BTreeMap, VecDeque};

/// The number of associations kept. Beyond it the oldest is evicted.
const MOST: usize = 1 << 14;

/// A verification tag, the ports of a packet, and its tunnel.
type Key = (u32, (u16, u16), u32);

#[derive(Debug, Default)]
pub(crate) struct Associations {
    by_tag: BTreeMap<Key, (u64, usize)>,
    /// Associations by the addresses of their first packet, to find those with an unknown tag.
    by_flow: BTreeMap<Flow, u64>,
    kept: BTreeMap<u64, Association>,
    order: VecDeque<u64>,
}

impl Associations {
    /// Handles a packet. If the packet opens an association, that gets the number `number`, which
    /// then is incremented. Returns the association evicted to make room, if any.
    pub(crate) fn on_packet(&mut self, packet: &Packet<'_>, when: When, number: &mut u64) -> Option<Association> {
        let flow = Flow::new(&packet.addresses, packet.ports, packet.tunnel);
        let key = (packet.tag, packet.ports, packet.tunnel);
        let known = self.by_tag.get(&key).copied();
        let known = known.filter(|(index, _)| packet.tag != 0 && self.kept.contains_key(index));
        let found = known.or_else(|| self.join(packet, &flow));
        let mut evicted = None;
        let (index, side) = match found {
            Some(found) => found,
            None => {
                evicted = self.make_room();
                let index = *number;
                *number += 1;
                self.kept.insert(index, Association::new(packet, index, when));
                self.order.push_back(index);
                self.by_flow.insert(flow, index);
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
            // Ends that open associations again and again leave old tags behind.
            self.by_tag.retain(|_, (index, _)| self.kept.contains_key(index));
        }
        let association = self.kept.get_mut(&index)?;
        association.on_packet(packet, side, when);
        evicted
    }

    /// Finds the association of a packet with an unknown tag by its addresses, if that association
    /// does not know the tag yet.
    fn join(&self, packet: &Packet<'_>, flow: &Flow) -> Option<(u64, usize)> {
        let back = flow.back();
        let found =
            [(*flow, 0), (back, 1)].into_iter().find_map(|(flow, side)| Some((*self.by_flow.get(&flow)?, side)))?;
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
                // A later association may have the same tag and ports.
                if self.by_tag.get(&key).is_some_and(|(index, _)| *index == oldest) {
                    self.by_tag.remove(&key);
                }
            }
        }
        let flow = Flow { source: one.endpoint(), destination: other.endpoint(), tunnel: association.tunnel };
        if self.by_flow.get(&flow) == Some(&oldest) {
            self.by_flow.remove(&flow);
        }
        Some(association)
    }

    /// Removes all associations, in the order in which they began.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Association> + use<> {
        std::mem::take(self).kept.into_values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::decode::{Content, Fragments, content};

    /// Returns an INIT over IPv4 from this port, with this initiate tag.
    fn init(port: u16, tag: u32) -> Vec<u8> {
        let mut bytes = vec![0x45, 0, 0, 52, 0, 1, 0x40, 0, 64, 132, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        bytes.extend([port.to_be_bytes(), 80_u16.to_be_bytes()].concat());
        // The destination's tag is unknown. The checksum is not checked.
        bytes.extend([0; 8]);
        bytes.extend([1, 0, 0, 20]);
        bytes.extend([tag, 65_536, 10 << 16 | 10, tag].map(u32::to_be_bytes).concat());
        bytes
    }

    struct Opened {
        associations: Associations,
        number: u64,
    }

    impl Opened {
        /// Returns the number of the association evicted to make room, if any.
        fn opens(&mut self, port: u16, tag: u32) -> Option<u64> {
            let bytes = init(port, tag);
            let mut fragments = Fragments::default();
            let Ok(Content::Sctp(packet)) = content(101, &bytes, bytes.len() as u32, &mut fragments) else {
                panic!("a packet of SCTP")
            };
            let when = When { nanos: self.number, frame: self.number + 1 };
            self.associations.on_packet(&packet, when, &mut self.number).map(|evicted| evicted.number)
        }
    }

    #[test]
    fn evicting_the_oldest_association_keeps_the_tags_of_later_ones() {
        let mut opened = Opened { associations: Associations::default(), number: 0 };
        let most = MOST as u64;
        for number in 0..most - 1 {
            assert_eq!(opened.opens(number as u16, number as u32 + 1), None);
        }
        // The first association's ends with another tag; below, its tag with other ports.
        assert_eq!(opened.opens(0, 70_000), None);
        assert_eq!((opened.number, opened.associations.kept.len() as u64), (most, most));
        let tags = opened.associations.by_tag.len();
        assert_eq!(opened.opens(60_000, 1), Some(0));
        assert_eq!(opened.opens(60_001, 80_000), Some(1));
        assert_eq!((opened.associations.kept.len() as u64, opened.associations.by_tag.len()), (most, tags));
        let Associations { by_flow, order, .. } = &opened.associations;
        assert_eq!((by_flow.len() as u64, order.len() as u64, order.front()), (most, most, Some(&2)));
        // A repeated INIT opens nothing.
        assert_eq!((opened.opens(0, 70_000), opened.number), (None, most + 2));
        assert_eq!((opened.opens(60_000, 1), opened.number), (None, most + 2));
    }
}
