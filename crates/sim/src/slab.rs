//! Packets as values in one array. A handle identifies a packet under way. A duplicate made by the
//! network adds a reference.

use crate::end::End;
use crate::oracle::SentData;
use crate::packet::{Contents, NO_PACKET, Packet};
use eifel_path::parcel::Label;

/// A packet under way, with its contents. It takes two adjacent cache lines.
#[repr(C, align(128))]
pub struct Cell {
    pub packet: Packet,
    /// Number of places in the network that hold this packet. For a free cell, [`FREE`] and the
    /// index of the next free cell. With a separate field, a cell would exceed two cache lines.
    references: u32,
    /// The link that the packet entered last.
    link: u16,
    /// Whether it has reached its destination.
    reached: bool,
    pub contents: Contents,
}

impl Cell {
    /// Returns the transmissions in the packet.
    pub fn transmissions(&self) -> impl Iterator<Item = SentData> + '_ {
        let several = self.contents.sctp().map_or(&[][..], |sctp| &sctp.transmissions);
        let single = (self.packet.transmission > 0 && several.is_empty()).then(|| self.packet.sent());
        several.iter().copied().chain(single)
    }

    /// Returns the label by which elements of a link select the packet.
    pub fn label(&self) -> Label {
        let Packet { flow, copy, segment, .. } = self.packet;
        Label { flow, copy, segment, takes_marks: segment > 0 && self.contents.takes_marks() }
    }
}

/// Replaces the index of the next free cell if there is none.
const NONE: u32 = !FREE;
/// The bit that marks a free cell.
const FREE: u32 = 1 << 31;

/// The most packets that a core's own caches hold: a quarter of a megabyte.
const CACHED: usize = 1 << 11;

/// Whether a packet arrives for the first time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrival {
    First,
    /// The arrival of a duplicate that the network made.
    Again,
}

/// What a network needs to know of a packet to forward it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Address {
    /// Index of the flow in the scenario.
    pub flow: u32,
    /// Index of the destination node.
    pub destination: u16,
    pub sender: End,
    /// Whether its receiving end is [evaluated ahead of the clock](crate::lookahead).
    pub ahead: bool,
}

impl Address {
    /// Any address.
    pub const NONE: Self = Self { flow: 0, destination: 0, sender: End::From, ahead: false };
}

pub struct Slab {
    cells: Vec<Cell>,
    /// Stored separately, so that forwarding touches little memory.
    addresses: Vec<Address>,
    /// The cell to use next, which is the last one freed. At least one cell is always free.
    first_free: u32,
}

impl Default for Slab {
    fn default() -> Self {
        let mut slab = Self { cells: Vec::new(), addresses: Vec::new(), first_free: NONE };
        slab.grow();
        slab
    }
}

impl Slab {
    /// Returns the cell of the next packet. The caller fills it in place, because contents are
    /// expensive to copy, and then [sends](Self::send) it.
    #[inline]
    pub fn vacant(&mut self) -> &mut Cell {
        &mut self.cells[self.first_free as usize]
    }

    /// Sends the packet in the [vacant](Self::vacant) cell to `address`, with one reference.
    /// Returns its handle.
    #[inline]
    pub fn send(&mut self, address: Address) -> u32 {
        let handle = self.first_free;
        let index = handle as usize;
        self.addresses[index] = address;
        let cell = &mut self.cells[index];
        self.first_free = cell.references & !FREE;
        cell.references = 1;
        cell.reached = false;
        if self.first_free == NONE {
            self.grow();
        }
        handle
    }

    /// Returns the number of cells, including free cells.
    #[cfg(test)]
    pub fn cells(&self) -> usize {
        self.cells.len()
    }

    /// Returns the handle that the next packet will get.
    pub fn next_handle(&self) -> u32 {
        self.first_free
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.first_free = self.cells.len() as u32;
        self.addresses.push(Address::NONE);
        self.cells.push(Cell {
            packet: NO_PACKET,
            contents: Contents::Datagram,
            references: FREE | NONE,
            link: u16::MAX,
            reached: false,
        });
    }

    /// Returns the packet's address.
    #[inline]
    pub fn address(&self, handle: u32) -> Address {
        self.addresses[handle as usize]
    }

    #[inline]
    pub fn get(&self, handle: u32) -> &Packet {
        &self.cell(handle).packet
    }

    /// Returns the packet and its contents, to change them.
    pub fn cell_mut(&mut self, handle: u32) -> &mut Cell {
        &mut self.cells[handle as usize]
    }

    /// Returns the packet and its contents.
    #[inline]
    pub fn cell(&self, handle: u32) -> &Cell {
        &self.cells[handle as usize]
    }

    /// Adds a reference for a duplicate that the network made.
    pub fn add_reference(&mut self, handle: u32) {
        self.cells[handle as usize].references += 1;
    }

    /// Notes that the packet enters `link`. The write also fetches the packet into the cache
    /// without waiting, so that it is cached when the packet arrives.
    #[inline]
    pub fn forward(&mut self, handle: u32, link: u16) {
        self.cells[handle as usize].link = link;
    }

    /// Brings packets into the caches, all at the same time. One after the other, as they are
    /// received, each would take the memory's full latency. Few packets are in the caches already.
    #[inline]
    pub fn fetch(&self, handles: impl Iterator<Item = u32>) {
        if self.cells.len() <= CACHED {
            return;
        }
        let read = handles.fold(0, |read, handle| {
            let Cell { references, contents, .. } = self.cell(handle);
            read ^ references ^ contents.segment().map_or(0, |segment| segment.payload_len)
        });
        // The compiler would leave out reads without a use.
        std::hint::black_box(read);
    }

    /// Notes that the packet arrives at its destination. Returns it with its contents.
    #[inline]
    pub fn arrive(&mut self, handle: u32) -> (&Cell, Arrival) {
        let cell = &mut self.cells[handle as usize];
        let arrival = if cell.reached { Arrival::Again } else { Arrival::First };
        cell.reached = true;
        (cell, arrival)
    }

    /// Removes a reference. Frees the cell if it was the last.
    #[inline]
    pub fn release(&mut self, handle: u32) {
        let cell = &mut self.cells[handle as usize];
        debug_assert!(cell.references & FREE == 0, "a packet, last on link {}, is released too often", cell.link);
        cell.references -= 1;
        if cell.references == 0 {
            cell.references = FREE | self.first_free;
            self.first_free = handle;
        }
    }

    /// Removes a reference to a packet for a copy that the network dropped. Returns whether the
    /// packet is lost: no copy has arrived, and none will.
    pub fn drop_one(&mut self, handle: u32) -> bool {
        let cell = &self.cells[handle as usize];
        let lost = cell.references == 1 && !cell.reached;
        self.release(handle);
        lost
    }

    /// Returns the most packets that were ever under way at the same time, or slightly more.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Counts the references to packets under way.
    pub fn references(&self) -> u64 {
        self.cells.iter().filter(|cell| cell.references & FREE == 0).map(|cell| u64::from(cell.references)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_packet::ip::Ecn;
    use eifel_packet::segment::Segment;

    fn send(slab: &mut Slab, packet: Packet) -> u32 {
        slab.vacant().packet = packet;
        slab.send(Address::NONE)
    }

    #[test]
    fn a_handle_is_used_again_when_the_last_reference_is_gone() {
        let mut slab = Slab::default();
        let first = send(&mut slab, NO_PACKET);
        slab.add_reference(first);
        assert_eq!(slab.references(), 2);
        slab.release(first);
        assert_ne!(send(&mut slab, NO_PACKET), first);
        slab.release(first);
        assert_eq!(send(&mut slab, Packet { copy: 7, ..NO_PACKET }), first);
        assert_eq!(slab.get(first).copy, 7);
        assert_eq!(slab.references(), 2);
    }

    #[test]
    fn a_duplicated_packet_is_lost_with_its_last_copy_only() {
        let mut slab = Slab::default();
        let handle = send(&mut slab, NO_PACKET);
        slab.add_reference(handle);
        assert!(!slab.drop_one(handle));
        assert!(slab.drop_one(handle));
        let handle = send(&mut slab, NO_PACKET);
        slab.add_reference(handle);
        assert_eq!(slab.arrive(handle).1, Arrival::First);
        slab.release(handle);
        assert!(!slab.drop_one(handle));
        let handle = send(&mut slab, NO_PACKET);
        assert_eq!(slab.arrive(handle).1, Arrival::First);
        assert_eq!(slab.arrive(handle).1, Arrival::Again);
    }

    #[test]
    fn a_packet_and_its_contents_fit_two_cache_lines() {
        assert!(size_of::<Cell>() <= 128, "{}", size_of::<Cell>());
    }

    #[test]
    fn data_segments_take_marks_and_nothing_else_does() {
        let mut slab = Slab::default();
        for (transmission, segment, ecn, takes_marks) in [
            (1, 1, Some(Ecn::Ect0), true),
            (9, 2, Some(Ecn::Ect0), true),
            (1, 1, Some(Ecn::NotEct), false),
            (1, 0, Some(Ecn::Ect0), false),
            (0, 0, Some(Ecn::Ect0), false),
            (0, 1, None, false),
        ] {
            let cell = slab.vacant();
            cell.packet = Packet { flow: 3, copy: 2, segment, transmission, ..NO_PACKET };
            cell.contents = ecn.map_or(Contents::Datagram, |ecn| Contents::Segment(Segment { ecn, ..Segment::EMPTY }));
            let expected = Label { flow: 3, copy: 2, segment, takes_marks };
            assert_eq!(cell.label(), expected, "{transmission} {segment} {ecn:?}");
        }
    }
}
