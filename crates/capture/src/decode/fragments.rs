//! IP packets in parts. Of a segment only the header and the length matter, so the parts are counted, not kept.

use super::Packet;
use eifel_packet::ip::Addresses;

/// Packets of which parts are awaited at a time; the one that has waited the longest makes room.
const MOST_WAITING: usize = 256;

/// One part of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part {
    pub(super) identification: u32,
    /// Where it starts in what the packet carries.
    pub(super) offset: u32,
    pub(super) length: u32,
    /// Whether others follow behind it.
    pub(super) more: bool,
}

/// A packet of which all parts have come.
pub(super) struct Whole {
    pub(super) first: Packet,
    /// Bytes that the parts after the first carry.
    pub(super) length: u32,
}

#[derive(Clone, Debug)]
struct Waiting {
    addresses: Addresses,
    identification: u32,
    first: Option<(Packet, u32)>,
    /// Bytes of the parts that have come.
    come: u32,
    /// Bytes of the whole, once the last part has come.
    total: Option<u32>,
}

/// Packets of which parts are still to come.
#[derive(Clone, Debug, Default)]
pub struct Fragments {
    waiting: Vec<Waiting>,
}

impl Fragments {
    /// Takes a part in; `first` is the segment's header where this part holds it. A part that comes twice spoils its packet.
    pub(super) fn take(&mut self, addresses: &Addresses, part: Part, first: Option<Packet>) -> Option<Whole> {
        let same = |known: &Waiting| known.addresses == *addresses && known.identification == part.identification;
        let index = self.waiting.iter().position(same).unwrap_or_else(|| {
            if self.waiting.len() == MOST_WAITING {
                self.waiting.remove(0);
            }
            let (addresses, identification) = (*addresses, part.identification);
            self.waiting.push(Waiting { addresses, identification, first: None, come: 0, total: None });
            self.waiting.len() - 1
        });
        let known = &mut self.waiting[index];
        known.come = known.come.saturating_add(part.length);
        if let Some(first) = first {
            known.first = Some((first, part.length));
        }
        if !part.more {
            known.total = Some(part.offset.saturating_add(part.length));
        }
        let (Some((first, length)), Some(total)) = (known.first, known.total) else { return None };
        if known.come < total {
            return None;
        }
        self.waiting.remove(index);
        Some(Whole { first, length: total.saturating_sub(length) })
    }
}
