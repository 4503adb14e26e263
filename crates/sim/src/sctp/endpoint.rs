//! One end of a flow over SCTP: its association, and its ways into the network.

use super::bundle::{Bundle, Bundles, Form, sent};
use super::liar::Liar;
use super::messages::{Reader, Writer};
use super::opening::ports;
use super::solo::Solo;
use crate::network::Network;
use crate::oracle::{Role, Sent};
use crate::record::recorder::Subject;
use crate::slab::{Arrival, End, NO_PACKET, Packet};
use crate::tally::Tally;
use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::Addresses;
use eifel_recovery::association::PathId;
use eifel_recovery::fact::Transmission;
use eifel_sctp::{Association, Heard, Listener, Next, Outgoing, Phase};

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
    /// Processes a packet. Returns the answer of the listener, if it has to answer the packet.
    pub fn take(&mut self, now: Instant, bundle: &Bundle) -> Option<(Addresses, Vec<u8>)> {
        if let Some(association) = self.association.as_mut().filter(|open| open.phase() != Phase::Closed) {
            match bundle.form {
                Form::Bytes => association.handle_packet(now, &bundle.addresses, &bundle.bytes),
                Form::Plain => association.handle_plain(now, &bundle.addresses, &bundle.plain),
                Form::Single(single, way) => {
                    association.handle_single(now, &self.ways[usize::from(way)].addresses.reversed(), &single);
                }
            }
            return None;
        }
        let mut written = Vec::new();
        let (addresses, bytes) = match bundle.form {
            Form::Bytes => (bundle.addresses, &bundle.bytes),
            Form::Plain => {
                bundle.plain.emit(&mut written);
                (bundle.addresses, &written)
            }
            Form::Single(single, way) => {
                single.emit(ports(self.end.other()), &mut written);
                (self.ways[usize::from(way)].addresses.reversed(), &written)
            }
        };
        match self.listener.handle_packet(now, &addresses, bytes) {
            Heard::Nothing => None,
            Heard::Answer(addresses, bytes) => Some((addresses, bytes)),
            Heard::Accepted(association) => {
                // An old cookie could open another association. It is ignored.
                self.association.get_or_insert(*association);
                None
            }
        }
    }

    /// Reports the arrival of a packet's chunks to the oracle. Must run after the association has
    /// processed the packet.
    pub fn tell_arrival<const IN_ORDER: bool>(&self, net: &mut Network<IN_ORDER>, handle: u32, arrival: Arrival) {
        let of = (self.flow, self.end.other());
        let packet = *net.slab.get(handle);
        for index in 0..packet.positions as usize {
            let chunk = net.bundles.chunk(&packet, handle, index);
            let kept = self.association.as_ref().is_some_and(|association| association.has_received(chunk.start));
            let accepted = if kept { u64::MAX } else { chunk.start };
            match arrival {
                Arrival::First => {
                    let news = net.oracle.arrived(of.0, of.1, chunk, accepted);
                    if IN_ORDER && let Some(recorder) = &mut net.observers.recorder {
                        recorder.arrived(net.now, of, &chunk, news);
                    }
                }
                Arrival::Again => net.oracle.arrived_again(of.0, of.1, chunk, accepted),
            }
        }
    }

    /// Records a packet that has arrived. Must run before the association processes it.
    pub fn record<const IN_ORDER: bool>(&self, net: &mut Network<IN_ORDER>, handle: u32) {
        let Some(recorder) = &mut net.observers.recorder else { return };
        let (packet, bundle) = (net.slab.get(handle), net.bundles.get(handle));
        let from = bundle.addresses.source();
        let way = self.ways.iter().find(|way| way.addresses.destination() == from).unwrap_or(&self.ways[0]);
        recorder.passes_bundle(net.now, way.node, packet, bundle);
        if let Some(association) = &self.association {
            recorder.sacked(net.now, (self.flow, self.end), association, &bundle.bytes);
        }
    }

    /// Records the variables of each path, after an input.
    pub fn observe<const IN_ORDER: bool>(&self, net: &mut Network<IN_ORDER>) {
        let (Some(recorder), Some(association)) = (&mut net.observers.recorder, &self.association) else { return };
        recorder.association(net.now, (self.flow, self.end), self.ways.len(), association);
    }

    /// Returns the time of the next SACK, or [`Instant::NEVER`] if none is due. `None` if a packet
    /// may leave earlier.
    #[inline]
    pub fn silent_until(&self, now: Instant) -> Option<Instant> {
        let written = self.writer.is_empty() && !self.closes;
        self.association.as_ref().filter(|_| written)?.silent_until(now)
    }

    /// Writes as much as the association has room for, and sends everything that may leave now.
    pub fn transmit<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>) {
        let Some(association) = &mut self.association else { return };
        if !self.writer.is_empty() {
            self.writer.write(association);
        }
        if self.closes && self.writer.is_empty() {
            self.closes = false;
            association.shutdown();
        }
        if IN_ORDER || !self.transmit_singles(net) {
            self.transmit_others(net);
        }
    }

    /// [Transmits](Self::transmit) after a single-chunk packet has arrived. While a message waits
    /// in the association, the number of messages behind it makes no difference. So further
    /// messages are written only once none waits. Returns whether only single-chunk packets left.
    #[inline]
    pub fn transmit_waiting<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>) -> bool {
        let Some(association) = &self.association else { return true };
        // If all waiting bytes fit into the association, it must get them: it may close only then.
        let enough = self.writer.is_empty() && !self.closes
            || association.has_waiting() && self.writer.exceeds(association.send_room());
        let quickly = enough && self.transmit_singles(net);
        if !quickly {
            self.transmit(net);
        }
        quickly
    }

    /// Sends everything that may leave now. The next packet may have any form.
    #[inline(never)]
    fn transmit_others<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>) {
        loop {
            let empty = self.empty();
            let Some(association) = &mut self.association else { return };
            let handle = net.slab.next_handle();
            let Some((outgoing, bundle)) = poll::<IN_ORDER>(net.now, association, &mut net.bundles, handle) else {
                return;
            };
            if IN_ORDER && self.liar.as_mut().is_some_and(|liar| liar.falsify(net.now, &mut bundle.bytes, outgoing)) {
                continue;
            }
            bundle.addresses = outgoing.addresses;
            let path = path_to(&self.ways, &outgoing);
            let transmissions = association.transmissions();
            let packet = packet(empty, transmissions);
            // A single-chunk packet stores only its way, so it must have that way's addresses.
            let straight = outgoing.addresses == self.ways[path.0].addresses;
            let lone = match (bundle.form, transmissions) {
                (Form::Plain, [only]) if straight => bundle.plain.lone().map(|lone| Solo::of_chunk(lone, &sent(only))),
                _ => None,
            };
            if packet.positions > 1 {
                bundle.chunks.extend(transmissions.iter().map(sent));
            }
            net.slab.vacant().packet = packet;
            if IN_ORDER && let Some(recorder) = &mut net.observers.recorder {
                let subject = Subject { flow: self.flow, end: self.end, path: path.0 };
                for transmission in association.transmissions() {
                    recorder.sent(net.now, subject, transmission, transmission.start + 1);
                }
            }
            self.count(net, path);
            match lone {
                Some(lone) => self.send_rare_solo(net, path.0, &lone),
                None => self.launch(net, path),
            }
            if !IN_ORDER && self.transmit_singles(net) {
                return;
            }
        }
    }

    /// Returns a packet from this end without transmissions.
    #[inline]
    pub(super) fn empty(&self) -> Packet {
        Packet { flow: self.flow, sender: self.end, bundled: true, ahead: self.ahead, ..NO_PACKET }
    }

    /// Counts the chunks of the packet that leaves on `path`, and reports them to the oracle.
    fn count<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, path: PathId) {
        let (flow, sender) = (self.flow, self.end);
        let packet = net.slab.vacant().packet;
        for index in 0..packet.positions as usize {
            let chunk = net.bundles.chunk(&packet, net.slab.next_handle(), index);
            let tally = &mut self.tallies[path.0].counts;
            tally.segments += 1;
            let again = chunk.role == Role::Retransmission;
            tally.retransmissions += u64::from(again);
            if again && let Some(tally) = self.tallies.iter_mut().find(|tally| tally.opening().is_some()) {
                tally.on_retransmission(chunk.transmission);
            }
            if again || net.oracle.knows_losses(flow, sender) {
                net.oracle.left(flow, sender, chunk);
            }
        }
    }

    /// Sends the packet in the vacant cell, with its bundle, on `path`.
    pub(super) fn launch<const IN_ORDER: bool>(&self, net: &mut Network<IN_ORDER>, path: PathId) {
        let way = &self.ways[path.0];
        let bundle = net.bundles.get(net.slab.next_handle());
        let bytes = bundle.ip_len(net.ip);
        if IN_ORDER && let Some(recorder) = &mut net.observers.recorder {
            recorder.passes_bundle(net.now, way.node, &net.slab.vacant().packet, bundle);
        }
        net.launch(bytes, way.destination, way.link);
    }

    /// Makes this end's event earlier if its timer is due before it.
    pub fn set_alarm<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>) {
        self.set_alarm_to(net, self.due());
    }

    /// Moves this end's event to `due` if that is earlier.
    #[inline]
    pub fn set_alarm_to<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, due: Instant) {
        if due < self.alarm {
            self.alarm = due.max(net.now);
            net.queue.set(self.slot, self.alarm);
        }
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
    pub fn due(&self) -> Instant {
        let held = self.liar.as_ref().map_or(Instant::NEVER, |liar| liar.due());
        self.association.as_ref().map_or(Instant::NEVER, Association::poll_timeout).min(held)
    }

    /// Returns the path on which a packet leaves. Each address of the peer belongs to only one
    /// path.
    #[inline]
    pub(super) fn path_to(&self, outgoing: &Outgoing) -> PathId {
        path_to(&self.ways, outgoing)
    }

    /// Returns whether the association has existed and is closed, and all its messages are read.
    #[inline]
    pub fn is_closed(&self) -> bool {
        let over = |association: &Association| association.phase() == Phase::Closed && !association.is_readable();
        self.association.as_ref().is_some_and(over)
    }
}

/// Puts the next packet into the bundle with this handle. A run that is not observed gets values if
/// it can.
#[inline]
fn poll<'b, const IN_ORDER: bool>(
    now: Instant,
    association: &mut Association,
    bundles: &'b mut Bundles,
    handle: u32,
) -> Option<(Outgoing, &'b mut Bundle)> {
    let next = if IN_ORDER { Next::Other } else { association.poll_plain(now, || bundles.plain(handle)) };
    match next {
        Next::Nothing => None,
        Next::Plain(outgoing) => Some((outgoing, bundles.get_mut(handle))),
        Next::Other => {
            let bundle = bundles.vacant(handle);
            let outgoing = association.poll_transmit(now, &mut bundle.bytes)?;
            Some((outgoing, bundle))
        }
    }
}

/// Returns the packet with these transmissions. `empty` is the sender's packet without them.
#[inline]
fn packet(empty: Packet, transmissions: &[Transmission]) -> Packet {
    let Some(first) = transmissions.first() else { return empty };
    let Sent { transmission, start, role, .. } = sent(first);
    let (segment, positions, repeats) = (start + 1, transmissions.len() as u32, role == Role::Retransmission);
    Packet { transmission, start, segment, positions, repeats, ..empty }
}

/// Returns the path on which a packet leaves. Each address of the peer belongs to only one path.
#[inline]
pub(super) fn path_to(ways: &[Way], outgoing: &Outgoing) -> PathId {
    let to = outgoing.addresses.destination();
    if let Some(path) =
        outgoing.path.filter(|path| ways.get(path.0).is_some_and(|way| way.addresses.destination() == to))
    {
        return path;
    }
    PathId(ways.iter().position(|way| way.addresses.destination() == to).unwrap_or_default())
}
