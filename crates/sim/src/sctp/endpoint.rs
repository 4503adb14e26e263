//! One end of a flow over SCTP: its association, and its ways into the network.

use super::liar::Liar;
use super::messages::{Reader, Writer};
use crate::app::Step;
use crate::app::session::Session;
use crate::check::checked::CheckedAssociation;
use crate::end::End;
use crate::network::Network;
use crate::oracle::{Role, SentData};
use crate::packet::{Charges, NO_PACKET, Packet};
use crate::record::recorder::Subject;
use crate::slab::{Address, Arrival, Cell};
use crate::tally::Tally;
use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::Chunk;
use eifel_recovery::association::PathId;
use eifel_recovery::engine::Kind;
use eifel_recovery::fact::Transmission;
use eifel_sctp::{Association, Listener, ListenerAction, Processed};

/// The way of one path from this end to the other end.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// The addresses at both ends of the path.
    pub addresses: Addresses,
    /// Index of this end's node.
    pub node: u16,
    /// Index of the link that packets enter first.
    pub link: usize,
    /// Index of the node at the other end.
    pub destination: u16,
    /// What links charge for this end's packets.
    pub charges: Charges,
}

/// One end of a flow over SCTP.
pub struct Endpoint {
    /// Answers packets that belong to no association.
    pub listener: Listener,
    /// `None` at the answering end before it has accepted the association.
    pub association: Option<Association>,
    /// Index of the flow.
    pub flow: u32,
    pub end: End,
    /// Whether the other end is [evaluated ahead of the clock](crate::lookahead).
    pub ahead: bool,
    /// The ways of all paths, indexed by path.
    pub ways: Vec<Way>,
    /// Timeouts, fast retransmits and verdicts of each path.
    pub tallies: Vec<Tally>,
    /// Retransmissions on all paths that the oracle judged spurious.
    pub spurious: u64,
    pub writer: Writer,
    pub reader: Reader,
    /// Whether its application reads messages at once, and does not verify them.
    pub drains: bool,
    /// Whether the association shuts down once everything is written.
    pub closes: bool,
    /// Falsifies its SACKs; `None` for an honest end. Needs an observed run.
    pub liar: Option<Box<Liar>>,
    /// Its slot in the event queue.
    pub slot: u32,
    /// The time of that slot's event. It is never later than the association's timer.
    pub alarm: Instant,
}

impl Endpoint {
    /// Processes the packet with this handle, reports its arrival to the oracle, and releases it.
    #[inline(always)]
    pub fn take<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, handle: u32) -> Processed {
        let (Cell { packet, contents, .. }, arrival) = net.slab.arrive(handle);
        let Some(sctp) = contents.sctp() else { return Processed::Fully };
        match self.association.as_mut().filter(|open| !open.is_closed()) {
            Some(association) => {
                let processed = association.handle(net.now, &sctp.addresses, &sctp.packet);
                let (flow, sender, start) = (self.flow, packet.sender, packet.start);
                let usual = packet.positions == 1 && arrival == Arrival::First && !IN_ORDER;
                let told = usual
                    && association.has_received(start)
                    && net.oracle.arrived_in_order(flow, sender, start, start + 1);
                if packet.positions > 0 && !told {
                    self.report_arrival(net, handle, arrival);
                }
                net.slab.release(handle);
                processed
            }
            None => {
                self.listen(net, handle, arrival);
                Processed::Fully
            }
        }
    }

    /// Lets the application read available messages, or schedules a later read. Returns its step.
    #[inline(always)]
    pub fn read<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, session: &mut Session) -> Option<Step> {
        let Self { association: Some(association), reader, drains, end, .. } = self else { return None };
        let news = match session.reader {
            None if *drains => reader.note_drained(association),
            _ if !association.is_readable() => false,
            None => reader.read(association, u64::MAX),
            Some(_) => session.read_slowly(
                (net.now, &mut net.queue, *end),
                association,
                |association, limit| reader.read(association, limit),
                |association| association.is_readable(),
            ),
        };
        if news { session.app.read(net.now, *end, reader.bytes) } else { None }
    }

    /// Hands the packet with this handle to the listener, and sends its answer.
    #[inline(never)]
    fn listen<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, handle: u32, arrival: Arrival) {
        let Some(sctp) = net.slab.cell(handle).contents.sctp() else { return };
        let heard = self.listener.handle(net.now, &sctp.addresses, &sctp.packet);
        if let ListenerAction::Accepted(association) = heard {
            // An old cookie could open another association. It is ignored.
            let association = self.association.get_or_insert(*association);
            if self.drains {
                association.drain();
            }
            self.report_arrival(net, handle, arrival);
            return net.slab.release(handle);
        }
        self.report_arrival(net, handle, arrival);
        net.slab.release(handle);
        if let ListenerAction::Reply(addresses, packet) = heard {
            self.send(net, addresses, packet);
        }
    }

    /// Reports the arrival of a packet's chunks to the oracle. Must run after the association has
    /// processed the packet.
    #[inline(never)]
    fn report_arrival<const IN_ORDER: bool>(&self, net: &mut Network<IN_ORDER>, handle: u32, arrival: Arrival) {
        let of = (self.flow, self.end.other());
        let Network { slab, oracle, observers, now, .. } = net;
        for chunk in slab.cell(handle).transmissions() {
            let kept = self.association.as_ref().is_some_and(|association| association.has_received(chunk.start));
            let accepted = if kept { u64::MAX } else { chunk.start };
            match arrival {
                Arrival::First => {
                    let news = oracle.arrived(of.0, of.1, chunk, accepted);
                    if IN_ORDER && let Some(recorder) = &mut observers.recorder {
                        recorder.arrived(*now, of, &chunk, news);
                    }
                }
                Arrival::Again => oracle.arrived_again(of.0, of.1, chunk, accepted),
            }
        }
    }

    /// Drops the bytes for which the association has no room.
    pub fn drop_waiting(&mut self) {
        if let Some(association) = &mut self.association {
            self.writer.write_all(association);
        }
        self.writer.drop_waiting();
    }

    /// Returns what checkers see of this end.
    pub fn checked(&self) -> CheckedAssociation<'_> {
        CheckedAssociation { flow: self.flow, end: self.end, association: self.association.as_ref() }
    }

    /// Records a packet that has arrived. Must run before the association processes it.
    pub fn record<const IN_ORDER: bool>(&self, net: &mut Network<IN_ORDER>, handle: u32) {
        let Some(recorder) = &mut net.observers.recorder else { return };
        let Cell { packet, contents, .. } = net.slab.cell(handle);
        let Some(sctp) = contents.sctp() else { return };
        let from = sctp.addresses.source();
        let way = self.ways.iter().find(|way| way.addresses.destination() == from).unwrap_or(&self.ways[0]);
        recorder.passes(net.now, way.node, (packet, contents), 0);
        if let Some(association) = &self.association {
            recorder.sacked(net.now, (self.flow, self.end), association, &sctp.packet);
        }
    }

    /// Records the variables of each path, after an input.
    pub fn observe<const IN_ORDER: bool>(&self, net: &mut Network<IN_ORDER>) {
        let (Some(recorder), Some(association)) = (&mut net.observers.recorder, &self.association) else { return };
        recorder.association(net.now, (self.flow, self.end), self.ways.len(), association);
    }

    /// Writes as much as the association has room for, and sends everything that may leave now.
    #[inline(always)]
    pub fn transmit<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>) {
        let Some(association) = &mut self.association else { return };
        if self.writer.write(association) && self.closes {
            self.closes = false;
            association.shutdown();
        }
        while let Some(association) = &mut self.association {
            let cell = net.slab.vacant();
            let sctp = cell.contents.sctp_mut();
            let Some(outgoing) = association.poll_transmit(net.now, &mut sctp.packet) else { return };
            sctp.addresses = *association.addresses(&outgoing);
            if IN_ORDER && self.liar.as_mut().is_some_and(|liar| liar.falsify(net.now, sctp)) {
                continue;
            }
            if IN_ORDER && net.observers.wire.is_some() {
                let bytes = sctp.packet.to_bytes();
                sctp.packet = eifel_sctp::Packet::parse(&bytes).expect("an association's own packet can be read");
            }
            sctp.transmissions.clear();
            let path = path_to(&self.ways, &sctp.addresses);
            let bytes = self.ways[path.0].charges.bytes(sctp, net.ip);
            let transmissions = association.transmissions();
            let empty = Packet { flow: self.flow, sender: self.end, ..NO_PACKET };
            if let Some(first) = transmissions.first() {
                let SentData { transmission, start, role, .. } = sent(first);
                let (positions, repeats) = (transmissions.len() as u32, role == Role::Retransmission);
                let (segment, copy) = (start + 1, first.copy);
                cell.packet = Packet { transmission, start, segment, positions, copy, repeats, ..empty };
                if transmissions.len() > 1 {
                    sctp.transmissions.extend(transmissions.iter().map(sent));
                }
                if IN_ORDER && let Some(recorder) = &mut net.observers.recorder {
                    let subject = Subject { flow: self.flow, end: self.end, path: path.0 };
                    let stamp = sctp.packet.chunks().map_while(Result::ok).find_map(|chunk| match chunk {
                        Chunk::Timestamp(stamps) => Some(stamps.value),
                        _ => None,
                    });
                    for transmission in transmissions {
                        recorder.sent(net.now, subject, transmission, (transmission.start + 1, stamp));
                    }
                }
                let tally = &mut self.tallies[path.0];
                if transmissions.len() == 1 && role == Role::Original && !net.oracle.knows_losses(self.flow, self.end) {
                    tally.counts.segments += 1;
                } else {
                    self.count(net, path);
                }
            } else {
                cell.packet = empty;
            }
            self.launch(net, path, bytes);
            if !outgoing.more {
                return;
            }
        }
    }

    /// Counts the chunks of the packet that leaves on `path`, and reports them to the oracle.
    #[inline(never)]
    fn count<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, path: PathId) {
        let (flow, sender) = (self.flow, self.end);
        let Network { slab, oracle, .. } = net;
        for chunk in slab.vacant().transmissions() {
            let tally = &mut self.tallies[path.0].counts;
            tally.segments += 1;
            let again = chunk.role == Role::Retransmission;
            tally.retransmissions += u64::from(again);
            if again && let Some(tally) = self.tallies.iter_mut().find(|tally| tally.opening().is_some()) {
                tally.on_retransmission(chunk.transmission);
            }
            if again || oracle.knows_losses(flow, sender) {
                oracle.on_sent(flow, sender, chunk);
            }
        }
    }

    /// Sends the packet in the vacant cell on `path`. `bytes` is its length with headers.
    #[inline(always)]
    pub(super) fn launch<const IN_ORDER: bool>(&self, net: &mut Network<IN_ORDER>, path: PathId, bytes: u32) {
        let way = &self.ways[path.0];
        if IN_ORDER && let Some(recorder) = &mut net.observers.recorder {
            let Cell { packet, contents, .. } = net.slab.vacant();
            recorder.passes(net.now, way.node, (packet, contents), 0);
        }
        let address = Address { flow: self.flow, destination: way.destination, sender: self.end, ahead: self.ahead };
        net.launch(bytes, address, way.link);
    }

    /// Makes this end's event earlier if its timer is due before it.
    #[inline]
    pub fn set_alarm<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>) {
        let due = self.due::<IN_ORDER>();
        self.wake_by(net, due);
    }

    /// Moves this end's event to `due` if that is earlier.
    #[inline]
    pub fn wake_by<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, due: Instant) {
        if due < self.alarm {
            self.alarm = due.max(net.now);
            net.queue.set(self.slot, self.alarm);
        }
    }

    /// Returns the time of the next SACK, or [`Instant::NEVER`] if none is due. `None` if a packet
    /// may have to be sent earlier.
    #[inline]
    pub fn silent_until(&self, now: Instant) -> Option<Instant> {
        let silent = self.writer.is_empty() && !self.closes;
        self.association.as_ref().filter(|_| silent)?.silent_until(now)
    }

    /// Handles the timer if it is due. Returns whether it was.
    pub fn run_timer(&mut self, now: Instant) -> bool {
        match &mut self.association {
            Some(association) if association.poll_timeout() <= now => {
                association.handle_timeout(now);
                true
            }
            _ => false,
        }
    }

    /// Sets this end's event to the timer, which is due at `due`.
    pub fn renew_alarm<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, due: Instant) {
        // A past deadline that the association leaves in place would stop time.
        self.alarm = if due <= net.now { net.now + Duration::from_nanos(1) } else { due };
        net.queue.set(self.slot, self.alarm);
    }

    /// Returns the earlier of the association's timer and the next held packet of a liar.
    #[inline]
    pub fn due<const IN_ORDER: bool>(&self) -> Instant {
        let held = self.liar.as_ref().filter(|_| IN_ORDER).map_or(Instant::NEVER, |liar| liar.due());
        self.association.as_ref().map_or(Instant::NEVER, Association::poll_timeout).min(held)
    }

    /// Returns whether messages have arrived that the application has not read.
    pub fn has_unread(&self) -> bool {
        let unread = |association: &Association| association.is_readable() || association.drained() > self.reader.bytes;
        self.association.as_ref().is_some_and(unread)
    }

    /// Returns whether the association has existed and is closed, and all its messages are read.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.association.as_ref().is_some_and(Association::is_closed) && !self.has_unread()
    }
}

/// Returns a chunk's transmission as the oracle sees it.
#[inline]
fn sent(transmission: &Transmission) -> SentData {
    let role = match transmission.kind {
        Kind::Retransmission(_) => Role::Retransmission,
        Kind::New | Kind::WindowProbe => Role::Original,
    };
    SentData { transmission: transmission.id.0 + 1, start: transmission.start, end: transmission.start + 1, role }
}

/// Returns the path on which a packet leaves. Each address of the peer belongs to only one path.
#[inline]
pub(super) fn path_to(ways: &[Way], addresses: &Addresses) -> PathId {
    if ways.len() == 1 {
        return PathId(0);
    }
    let to = addresses.destination();
    PathId(ways.iter().position(|way| way.addresses.destination() == to).unwrap_or_default())
}
