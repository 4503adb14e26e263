//! One end of a TCP flow: its connection and its counts. Sends its packets into the network.

use crate::app::Supply;
use crate::check::checked::CheckedConnection;
use crate::end::End;
use crate::liar::Liar;
use crate::network::Network;
use crate::numbering::Numbering;
use crate::packet::{NO_PACKET, Packet};
use crate::pattern;
use crate::record::recorder::Subject;
use crate::slab::{Address, Cell};
use crate::tally::Tally;
use crate::wire;
use crate::writing::Backlog;
use eifel_base::time::Instant;
use eifel_packet::datagram;
use eifel_packet::ip::Version;
use eifel_packet::segment::{Flags, Options, Segment};
use eifel_packet::seq::Seq;
use eifel_packet::tcp;
use eifel_recovery::engine::{Kind, Transmission};
use eifel_tcp::{Connection, Outgoing};

/// One end of a TCP flow.
pub struct Endpoint {
    pub connection: Connection,
    /// Bytes that its application has read.
    pub read: u64,
    /// Its slot in the event queue.
    pub slot: u32,
    /// The time of that slot's event. It is never later than the connection's timer.
    pub alarm: Instant,
    /// Index of the flow.
    pub flow: u32,
    /// Index of the link that its packets enter first.
    pub link: u32,
    /// This end's node, and the other end's node.
    pub path: (u16, u16),
    pub end: End,
    /// The address of its packets.
    pub address: Address,
    /// The numbering of its data segments.
    pub numbering: Numbering,
    pub isn: Seq,
    pub tally: Tally,
    /// Whether its application tops up the unsent bytes.
    pub supply: Supply,
    /// Data that waits for room in the send buffer; `None` if the buffer is unlimited.
    pub backlog: Option<Box<Backlog>>,
    /// Falsifies its acknowledgements; `None` for an honest end. Needs an observed run.
    pub liar: Option<Box<Liar<(Segment, Outgoing)>>>,
}

impl Endpoint {
    /// Sends everything that the connection may send now.
    #[inline(never)]
    pub fn transmit<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>) {
        loop {
            let cell = net.slab.vacant();
            let segment = cell.contents.segment_mut();
            let Some(outgoing) = self.connection.poll_transmit(net.now, segment) else { return };
            let payload_len = segment.payload_len;
            let mut bytes = length(net.ip, net.header_bytes, segment);
            let mut withheld = false;
            if let Some(transmission) = &outgoing.transmission {
                cell.packet = self.packet(transmission, payload_len);
                if transmission.copy > 0 || net.oracle.knows_losses(self.flow, self.end) {
                    if cell.packet.repeats {
                        self.tally.on_retransmission(cell.packet.transmission);
                        if cell.packet.segment == 0 {
                            self.tally.on_retransmission_without_data(cell.packet.transmission);
                        }
                    }
                    net.oracle.on_sent(self.flow, self.end, cell.packet.sent());
                }
            } else {
                cell.packet = Packet { flow: self.flow, sender: self.end, ..NO_PACKET };
                if IN_ORDER && self.liar.is_some() {
                    withheld = self.falsify(net, &outgoing);
                    bytes = length(net.ip, net.header_bytes, net.slab.vacant().contents.segment_mut());
                }
            }
            if !withheld {
                self.launch(net, &outgoing, bytes);
            }
            // An end that only receives has nothing more to send.
            if outgoing.transmission.is_none() && !self.connection.may_transmit() {
                return;
            }
        }
    }

    /// Lets the liar alter the acknowledgement in the vacant cell. Returns whether the liar keeps
    /// it from leaving now.
    fn falsify<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, outgoing: &Outgoing) -> bool {
        let Some(liar) = &mut self.liar else { return false };
        let segment = net.slab.vacant().contents.segment_mut();
        let leaves = liar.alter(segment);
        let kept = liar.keeps(net.now, leaves, || (*segment, *outgoing));
        let due = liar.held.next();
        self.wake_by(net, due);
        kept
    }

    /// Sends the held acknowledgements whose hold time is over.
    pub fn release<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>) {
        while let Some((segment, outgoing)) = self.liar.as_mut().and_then(|liar| liar.held.take(net.now)) {
            let packet = Packet { flow: self.flow, sender: self.end, ..NO_PACKET };
            let cell = net.slab.vacant();
            cell.packet = packet;
            *cell.contents.segment_mut() = segment;
            let bytes = length(net.ip, net.header_bytes, &segment);
            self.launch(net, &outgoing, bytes);
        }
    }

    /// Returns what checkers see of this end.
    pub fn checked(&self) -> CheckedConnection<'_> {
        let &Self { flow, end, ref connection, isn, read, .. } = self;
        CheckedConnection { flow, end, connection, isn, read }
    }

    /// Returns the earlier of the connection's timer and the next held acknowledgement.
    pub fn due(&self) -> Instant {
        let held = self.liar.as_ref().map_or(Instant::NEVER, |liar| liar.held.next());
        self.connection.poll_timeout().min(held)
    }

    /// Counts a transmission. Returns its packet.
    #[inline(always)]
    fn packet(&mut self, transmission: &Transmission, payload_len: u32) -> Packet {
        Packet {
            transmission: transmission.id.0 + 1,
            start: transmission.start,
            segment: self.number(transmission, payload_len),
            positions: transmission.len,
            copy: transmission.copy,
            flow: self.flow,
            sender: self.end,
            repeats: matches!(transmission.kind, Kind::Retransmission(_)),
        }
    }

    /// Sends the packet in the vacant cell. `bytes` is its length with headers.
    #[inline(always)]
    fn launch<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, outgoing: &Outgoing, bytes: u32) {
        if IN_ORDER {
            self.observe_sending(net, outgoing);
        }
        net.launch(bytes, self.address, self.link as usize);
    }

    /// Makes this end's event earlier if its connection's timer is due before it.
    #[inline(never)]
    pub fn set_alarm<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>) {
        self.wake_by(net, self.connection.poll_timeout());
    }

    /// Moves this end's event to `due` if that is earlier.
    #[inline(always)]
    fn wake_by<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, due: Instant) {
        if due < self.alarm {
            // A timer may be overdue already: it counts from a transmission in the past.
            self.alarm = due.max(net.now);
            net.queue.set(self.slot, self.alarm);
        }
    }

    /// Counts a transmission. Returns the number of its data segment; 0 if it carries no data.
    #[inline(always)]
    fn number(&mut self, transmission: &Transmission, payload_len: u32) -> u64 {
        if payload_len == 0 {
            return 0;
        }
        self.tally.counts.segments += 1;
        if transmission.copy == 0 {
            self.numbering.next(transmission.start, payload_len)
        } else {
            self.tally.counts.retransmissions += 1;
            self.numbering.of(transmission.start)
        }
    }

    /// Checks, records and captures a packet that is about to leave, and keeps its bytes.
    fn observe_sending<const IN_ORDER: bool>(&self, net: &mut Network<IN_ORDER>, outgoing: &Outgoing) {
        let handle = net.slab.next_handle();
        let Cell { packet, contents, .. } = net.slab.cell(handle);
        let Some(segment) = contents.segment() else { return };
        if let Some(checkers) = &net.observers.checkers {
            checkers.leaves(net.now, self.checked(), outgoing.transmission.as_ref(), segment);
        }
        if let Some(recorder) = &mut net.observers.recorder {
            if let Some(transmission) = &outgoing.transmission {
                let subject = Subject { flow: self.flow, end: self.end, path: 0 };
                let stamp = segment.options.timestamps.map(|stamps| stamps.value);
                recorder.sent(net.now, subject, transmission, (packet.segment, stamp));
            }
            recorder.passes(net.now, self.path.0, (packet, contents), outgoing.start);
        }
        if let Some(wire) = &mut net.observers.wire {
            let (front, back) = self.connection.payload(outgoing.start, segment.payload_len);
            let payload = [front, back].concat();
            let handle = handle as usize;
            if wire.len() <= handle {
                wire.resize(handle + 1, Vec::new());
            }
            wire[handle] = wire::bytes(net.ip, segment, self.path, outgoing.start, Some(&payload));
        }
    }

    /// Reads everything that has arrived in order. Returns whether it read anything.
    #[inline]
    pub fn read_all(&mut self, carries_bytes: bool) -> bool {
        if carries_bytes {
            return self.read_bytes(u64::MAX);
        }
        let received = self.connection.received();
        let news = received > self.read;
        self.read = received;
        news
    }

    /// Reads at most `limit` bytes that have arrived in order. Returns whether it read anything.
    pub fn read_some(&mut self, limit: u64, carries_bytes: bool) -> bool {
        if carries_bytes {
            return self.read_bytes(limit);
        }
        let count = self.connection.skip(limit);
        self.read += count;
        count > 0
    }

    /// Reads at most `limit` bytes and verifies each of them. Returns whether it read anything.
    ///
    /// # Panics
    /// Panics when a byte differs from the byte written at its offset.
    fn read_bytes(&mut self, limit: u64) -> bool {
        let before = self.read;
        let mut buffer = [0; 4096];
        loop {
            let most = (limit - (self.read - before)).min(buffer.len() as u64) as usize;
            let count = self.connection.read(&mut buffer[..most]);
            if count == 0 {
                return self.read > before;
            }
            for (index, &byte) in buffer[..count].iter().enumerate() {
                let offset = self.read + index as u64;
                assert_eq!(byte, pattern::byte(offset), "flow {}: the byte at {offset} is not the one sent", self.flow);
            }
            self.read += count as u64;
        }
    }
}

/// Returns the bytes that a segment takes on a link: its length as an IP packet, or its payload and
/// `header_bytes` if that is set.
#[inline]
fn length(ip: Version, header_bytes: Option<u32>, segment: &Segment) -> u32 {
    match header_bytes {
        Some(headers) => headers + segment.payload_len,
        None if segment.flags.has(Flags::SYN) => datagram::len(segment, ip),
        None => {
            // All other options occur only on SYNs.
            let Segment { options: Options { timestamps, sack, .. }, payload_len, .. } = *segment;
            let known = Options { timestamps, sack, ..Options::default() };
            let bytes = ip.header_len() + tcp::header_len(&known) + payload_len;
            debug_assert_eq!(bytes, datagram::len(segment, ip), "{segment:?}");
            bytes
        }
    }
}
