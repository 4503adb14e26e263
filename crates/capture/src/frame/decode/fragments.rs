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

impl Waiting {
    fn is_of(&self, addresses: &Addresses, part: &Part) -> bool {
        self.addresses == *addresses && self.identification == part.identification
    }
}

/// Packets with missing fragments.
#[derive(Clone, Debug, Default)]
pub struct Fragments {
    waiting: Vec<Waiting>,
    /// First fragments of packets in tunnels since the last later fragment.
    unfinished: u32,
}

/// After this number of first fragments without a later one, the capture counts as one without these: a
/// filter on ports leaves them out.
const MOST_UNFINISHED: u32 = 4;

impl Fragments {
    /// Adds the first fragment of a packet in which `inside` was found. Returns that segment if the
    /// capture does not show later fragments; otherwise it waits for them.
    pub(super) fn take_tunnelled(&mut self, addresses: &Addresses, part: Part, inside: Packet) -> Option<Packet> {
        self.unfinished = self.unfinished.saturating_add(1);
        if self.unfinished > MOST_UNFINISHED {
            return Some(inside);
        }
        self.take(addresses, part, Some(inside)).map(|whole| whole.first)
    }

    /// Adds a later fragment of a packet in a tunnel. Returns the segment inside once the packet is
    /// complete.
    pub(super) fn take_later(&mut self, addresses: &Addresses, part: Part) -> Option<Packet> {
        self.unfinished = 0;
        let is_known = |known: &Waiting| known.is_of(addresses, &part);
        self.waiting.iter().any(is_known).then(|| self.take(addresses, part, None))?.map(|whole| whole.first)
    }

    /// Adds a fragment; `first` is the packet if this is its first fragment. Returns the packet
    /// once it is complete.
    pub(super) fn take(&mut self, addresses: &Addresses, part: Part, first: Option<Packet>) -> Option<Whole> {
        let index = self.waiting.iter().position(|known| known.is_of(addresses, &part)).unwrap_or_else(|| {
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
