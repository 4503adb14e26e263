//! Reassembles fragmented IP packets. Only a segment's header and length matter, so the places of
//! fragments are kept, and not their bytes.

use super::Packet;
use eifel_base::ranges::{Block, Ranges};
use eifel_packet::ip::Addresses;

/// The number of incomplete packets remembered. Beyond it, the oldest is forgotten.
const MOST_WAITING: usize = 256;

/// One fragment of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part {
    pub(super) identification: u32,
    /// Offset in the payload of the IP packet, in bytes.
    pub(super) offset: u32,
    pub(super) length: u32,
    /// Whether further fragments follow behind it.
    pub(super) more: bool,
}

/// A packet whose fragments have all arrived.
pub(super) struct Whole {
    pub(super) first: Packet,
    /// Bytes of the fragments behind the first.
    pub(super) length: u32,
}

#[derive(Clone, Debug)]
struct Waiting {
    addresses: Addresses,
    identification: u32,
    first: Option<(Packet, u32)>,
    /// The places in the payload of the fragments that have arrived.
    come: Ranges,
    /// Bytes of the whole payload, once the last fragment has arrived.
    total: Option<u32>,
}

/// Packets with missing fragments.
#[derive(Clone, Debug, Default)]
pub struct Fragments {
    waiting: Vec<Waiting>,
}

impl Fragments {
    /// Adds a fragment; `first` is the packet if this is its first fragment. Returns the packet
    /// once it is complete.
    pub(super) fn take(&mut self, addresses: &Addresses, part: Part, first: Option<Packet>) -> Option<Whole> {
        let same = |known: &Waiting| known.addresses == *addresses && known.identification == part.identification;
        let index = self.waiting.iter().position(same).unwrap_or_else(|| {
            if self.waiting.len() == MOST_WAITING {
                self.waiting.remove(0);
            }
            let (addresses, identification) = (*addresses, part.identification);
            self.waiting.push(Waiting { addresses, identification, first: None, come: Ranges::default(), total: None });
            self.waiting.len() - 1
        });
        let known = &mut self.waiting[index];
        let end = part.offset.saturating_add(part.length);
        known.come.add(Block { start: part.offset.into(), end: end.into() });
        if let Some(first) = first {
            known.first = Some((first, part.length));
        }
        if !part.more {
            known.total = Some(end);
        }
        let (Some((first, length)), Some(total)) = (known.first, known.total) else { return None };
        if !known.come.covers(Block { start: 0, end: total.into() }) {
            return None;
        }
        self.waiting.remove(index);
        Some(Whole { first, length: total.saturating_sub(length) })
    }
}
