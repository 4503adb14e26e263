//! The fast path for single-chunk packets: those with one DATA chunk or one plain SACK
//! ([`Single`]).
//!
//! To an end that is evaluated [ahead of the clock](crate::lookahead), a single-chunk packet takes
//! no cell of the slab. It waits in a queue at that end. If a link drops or keeps the packet, it
//! gets a cell, as all other packets do.

use super::bundle::Form;
use super::endpoint::{Endpoint, Way};
use super::flow::AssociationFlow;
use crate::bounds::Bounds;
use crate::error::Error;
use crate::lookahead::{Foreseen, Foresighted};
use crate::network::Network;
use crate::oracle::{Role, Sent};
use crate::slab::{Arrival, End, NO_PACKET, Packet};
use eifel_base::time::Instant;
use eifel_path::link::NextEvent;
use eifel_path::parcel::Parcel;
use eifel_recovery::association::PathId;
use eifel_sctp::{Alone, Leaving, Lone, Phase, Single, Taken};

/// Replaces the handle of a packet without a cell.
pub const NO_CELL: u32 = u32::MAX;

/// A single-chunk packet without a cell.
#[derive(Clone, Copy, Default, Debug)]
pub struct Solo {
    single: Single,
    /// Number of the transmission at its sender, from 1; 0 for a SACK.
    transmission: u64,
    /// Position of its chunk; 0 for a SACK.
    start: u64,
    /// Whether it retransmits its chunk.
    repeats: bool,
}

/// The effect of a single-chunk packet at its receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum News {
    /// A message that the application has read.
    Message,
    /// A chunk that had arrived before.
    Again,
    Sack,
}

impl Solo {
    /// Returns its packet for a cell of the slab.
    fn packet(&self, flow: u32, sender: End) -> Packet {
        let &Self { transmission, start, repeats, .. } = self;
        let empty = Packet { flow, sender, bundled: true, ahead: true, ..NO_PACKET };
        if transmission == 0 {
            return empty;
        }
        Packet { transmission, start, segment: start + 1, positions: 1, repeats, ..empty }
    }

    fn sent(&self) -> Sent {
        let &Self { transmission, start, repeats, .. } = self;
        let role = if repeats { Role::Retransmission } else { Role::Original };
        Sent { transmission, start, end: start + 1, role }
    }

    /// Creates the packet of a chunk that left with this transmission.
    pub(super) fn of_chunk(lone: Lone, sent: &Sent) -> Self {
        let &Sent { transmission, start, role, .. } = sent;
        Self { single: Single::Data(lone), transmission, start, repeats: role == Role::Retransmission }
    }
}

impl Endpoint {
    /// Sends the single-chunk packets that may leave now. Returns whether no other packet may
    /// leave.
    #[inline(never)]
    pub(super) fn transmit_singles<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>) -> bool {
        let Some(association) = &mut self.association else { return true };
        match association.poll_single(net.now) {
            Leaving::Nothing => true,
            Leaving::Other => false,
            Leaving::Sack(bare, path) => {
                let way = self.way_of(path);
                let solo = Solo { single: Single::Sack(bare), transmission: 0, start: 0, repeats: false };
                self.send_solo(net, way, &solo);
                // A SACK leaves alone if no data waits. It answers everything that has arrived.
                true
            }
            Leaving::Chunks(path) => self.transmit_lones(net, path),
        }
    }

    /// Sends the packets with one new chunk that may leave on `path` now. Returns whether no other
    /// packet may leave.
    #[inline]
    fn transmit_lones<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, path: PathId) -> bool {
        let way = self.way_of(path);
        let mut first = true;
        loop {
            let Some(association) = &mut self.association else { return true };
            match association.poll_lone(net.now, path, first) {
                Alone::Nothing => return true,
                Alone::Other => return false,
                Alone::Chunk(lone, id, start) => {
                    first = false;
                    let solo = Solo { single: Single::Data(lone), transmission: id.0 + 1, start, repeats: false };
                    self.tallies[way].counts.segments += 1;
                    if net.oracle.knows_losses(self.flow, self.end) {
                        net.oracle.left(self.flow, self.end, solo.sent());
                    }
                    self.send_solo(net, way, &solo);
                }
            }
        }
    }

    /// Returns the way of a path. The association may have its paths in another order than `ways`.
    #[inline]
    fn way_of(&self, path: PathId) -> usize {
        match &self.association {
            Some(association) if self.ways.len() > 1 => self.path_to(&association.outgoing(path)).0,
            _ => 0,
        }
    }

    /// Sends a packet on a way, without being inlined. For callers that send few packets.
    #[inline(never)]
    pub(super) fn send_rare_solo<const IN_ORDER: bool>(&self, net: &mut Network<IN_ORDER>, way: usize, solo: &Solo) {
        self.send_solo(net, way, solo);
    }

    /// Sends a packet on a way.
    // Inlined: if the packet went through memory, its fields would be read back in pairs before
    // they are stored.
    #[inline(always)]
    fn send_solo<const IN_ORDER: bool>(&self, net: &mut Network<IN_ORDER>, way: usize, solo: &Solo) {
        let Way { destination, link, .. } = self.ways[way];
        let bytes = net.ip.header_len() + solo.single.len();
        let span = &net.spans[link];
        if self.ahead && span.leads_ahead && span.background.is_empty() {
            return net.offer_solo((link, destination), bytes, (self.flow, self.end), solo);
        }
        net.bundles.place(net.slab.next_handle()).form = Form::Single(solo.single, way as u16);
        net.slab.vacant().packet = Packet { ahead: self.ahead, ..solo.packet(self.flow, self.end) };
        net.launch(bytes, destination, link);
    }

    /// Processes a packet without a cell on the fast path. Counts the bytes that the application
    /// reads, and reports the arrival to the oracle. Returns `None`, with nothing changed, if the
    /// fast path does not apply.
    #[inline]
    pub(super) fn take_solo<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, solo: &Solo) -> Option<News> {
        let news = self.take_numbers(net.now, &solo.single, 0)?;
        if news != News::Sack {
            net.oracle.arrived(self.flow, self.end.other(), solo.sent(), u64::MAX);
        }
        Some(news)
    }

    /// Processes a packet without a cell on the full path of the association. Returns `false`, with
    /// nothing changed, if there is no open association.
    #[inline(never)]
    fn take_solo_fully<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, solo: &Solo) -> bool {
        let Self { association, ways, flow, end, .. } = self;
        let Some(association) = association.as_mut().filter(|open| open.phase() != Phase::Closed) else { return false };
        association.handle_single(net.now, &ways[0].addresses.reversed(), &solo.single);
        if solo.transmission > 0 {
            let accepted = if association.has_received(solo.start) { u64::MAX } else { solo.start };
            net.oracle.arrived(*flow, end.other(), solo.sent(), accepted);
        }
        true
    }

    /// Processes a packet with a cell on the fast path, and releases it. Returns `None`, with
    /// nothing changed, if the fast path does not apply.
    #[inline]
    pub(super) fn take_single<const IN_ORDER: bool>(
        &mut self,
        net: &mut Network<IN_ORDER>,
        handle: u32,
    ) -> Option<News> {
        let Form::Single(ref single, way) = net.bundles.get(handle).form else { return None };
        let news = self.take_numbers(net.now, single, usize::from(way))?;
        let (cell, arrival) = net.slab.reach(handle);
        if news != News::Sack {
            let chunk = crate::network::sent(&cell.packet);
            match arrival {
                Arrival::First => _ = net.oracle.arrived(self.flow, self.end.other(), chunk, u64::MAX),
                Arrival::Again => net.oracle.arrived_again(self.flow, self.end.other(), chunk, u64::MAX),
            }
        }
        net.slab.release(handle);
        Some(news)
    }

    /// Processes a packet that arrived on a way, and counts the bytes that the application reads.
    /// Returns `None`, with nothing changed, if the fast path does not apply.
    #[inline(always)]
    fn take_numbers(&mut self, now: Instant, single: &Single, way: usize) -> Option<News> {
        let association = self.association.as_mut().filter(|association| !association.has_events())?;
        match single {
            Single::Data(lone) => {
                let path = match self.ways.get(way).filter(|_| self.ways.len() > 1) {
                    Some(way) => association.path_of(way.addresses.destination())?,
                    None => PathId(0),
                };
                match association.take_lone(now, path, lone)? {
                    Taken::Read => {
                        self.reader.bytes += u64::from(lone.data_len());
                        Some(News::Message)
                    }
                    Taken::Again => Some(News::Again),
                }
            }
            Single::Sack(bare) => association.take_bare(now, bare).then_some(News::Sack),
        }
    }

    /// Gives a cell to a packet that has arrived at this end without a cell. Returns its handle.
    pub(super) fn house<const IN_ORDER: bool>(&self, net: &mut Network<IN_ORDER>, solo: &Solo) -> u32 {
        net.house(self.ways[0].node, (self.flow, self.end.other()), solo)
    }
}

impl AssociationFlow {
    /// Handles a packet [ahead](Foresighted::receive_ahead) of the clock. The caller has taken it
    /// from the lookahead. If it has no cell, the flow's following packets without cells are
    /// handled too. This ends at any other packet, or when the oracle has settled a judgement.
    /// Returns the number of events.
    ///
    /// # Errors
    /// Those of [`Bounds::look`].
    // Not inlined: it would take registers from the loop for connections.
    #[inline(never)]
    pub fn receive_row<const IN_ORDER: bool>(
        &mut self,
        net: &mut Network<IN_ORDER>,
        bounds: &mut Bounds,
        flow: u32,
        (handle, mut end, mut arrives): (u32, End, Instant),
    ) -> Result<u64, Error> {
        if handle != NO_CELL {
            return Ok(self.receive_ahead(net, handle, end, arrives));
        }
        let mut events = 0;
        while let Some(ends) = &mut self.ends {
            if ends[end.index()].alarm <= arrives {
                events += self.expire(net, end, arrives);
            }
            events += 1;
            net.now = arrives;
            self.receive_solo(net, end);
            if net.oracle.has_settled() {
                break;
            }
            let Some(next) = net.lookahead.next_arrival_of_solo(flow) else { break };
            (end, arrives) = next;
            if bounds.turn() {
                bounds.look(arrives, net.under_way(), &net.spans)?;
            }
        }
        Ok(events)
    }

    /// Handles the next packet without a cell at an end.
    #[inline(always)]
    fn receive_solo<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, end: End) {
        let Some(ends) = &mut self.ends else { return };
        let endpoint = &mut ends[end.index()];
        let solo = net.lookahead.next_solo(end);
        if let Some(news) = endpoint.take_solo(net, &solo) {
            return self.go_on(net, end, news);
        }
        if endpoint.take_solo_fully(net, &solo) {
            return self.pump(net, end);
        }
        let handle = endpoint.house(net, &solo);
        self.receive(net, handle, end);
    }
}

impl<const IN_ORDER: bool> Network<IN_ORDER> {
    /// Offers a packet to the last link before an end that is evaluated ahead. The packet gets a
    /// cell if the link drops or keeps it.
    #[inline(always)]
    fn offer_solo(&mut self, (link, destination): (usize, u16), bytes: u32, (flow, sender): (u32, End), solo: &Solo) {
        let Self { spans, lookahead, outcomes, now, .. } = self;
        let mut foreseen = false;
        let goes_on = |arrives| {
            let parcel = Parcel { handle: NO_CELL, bytes };
            foreseen = lookahead.foresee(sender.other(), Foreseen { arrives, parcel, flow });
            foreseen
        };
        let parcel = Parcel { handle: self.slab.next_handle(), bytes };
        let event = spans[link].link.offer_through(*now, parcel, goes_on, outcomes);
        if foreseen {
            return self.lookahead.add_solo(sender.other(), solo);
        }
        self.house(destination, (flow, sender), solo);
        self.note_through(link, event);
    }

    /// Puts a packet into the vacant cell. Returns its handle.
    #[cold]
    #[inline(never)]
    fn house(&mut self, destination: u16, (flow, sender): (u32, End), solo: &Solo) -> u32 {
        self.bundles.place(self.slab.next_handle()).form = Form::Single(solo.single, 0);
        self.slab.vacant().packet = solo.packet(flow, sender);
        self.slab.send(destination)
    }

    /// Handles the event and the outcomes of a link for a parcel that did not go on.
    fn note_through(&mut self, link: usize, event: NextEvent) {
        if event == NextEvent::First {
            self.queue.begin(link as u32, self.spans[link].link.next_event());
        }
        self.note_offer(link);
    }
}
