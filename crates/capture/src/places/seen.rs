//! The packets of one place, by connection and direction, and their positions in the stream.

use crate::frame::decode::{self, Content, Fragments, Packet};
use crate::frame::read::Frame;
use crate::result::Flow;
use eifel_base::ranges::Block;
use eifel_packet::segment::{Flags, SackBlocks, Timestamps};
use eifel_packet::seq::{Seq, unwrap};
use std::collections::BTreeMap;

/// The position of the first sequence number of a direction. Earlier ones have room below it. Its low
/// 32 bits are zero, as those of the first position in [`wrap`](eifel_packet::seq::wrap).
pub(super) const FIRST: u64 = 1 << 32;
/// Nanoseconds within which a frame with the same identification is the same packet, captured twice.
const TWICE: u64 = 100_000_000;
/// The same without identifications, where a retransmission looks alike.
const TWICE_WITHOUT: u64 = 50_000;

/// A packet that passed a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) frame: u64,
    pub(super) nanos: u64,
    pub(super) seq: Seq,
    /// Bytes of data.
    pub(super) len: u32,
    pub(super) ack: Seq,
    pub(super) flags: Flags,
    pub(super) window: u16,
    /// Identification of IPv4; 0 without one.
    pub(super) identification: u16,
    pub(super) stamps: Option<Timestamps>,
    pub(super) sack: SackBlocks,
    /// Where its data begin; set by [`Direction::place`].
    pub(super) start: u64,
    /// Whether an earlier copy of its first byte or data behind it had passed here.
    pub(super) traced: bool,
}

/// The fields of a packet that no host on the path changes, without its length: devices cut and
/// join segments.
pub(super) type Fingerprint = (u32, u32, u32);

impl Seen {
    fn new(packet: &Packet, nanos: u64, frame: u64) -> Self {
        let segment = &packet.segment;
        Self {
            frame,
            nanos,
            seq: segment.seq,
            len: segment.payload_len,
            ack: segment.ack,
            flags: segment.flags,
            window: segment.window,
            identification: packet.identification,
            stamps: segment.options.timestamps,
            sack: segment.options.sack,
            start: 0,
            traced: false,
        }
    }

    pub(super) fn fingerprint(&self) -> Fingerprint {
        (self.seq.0, self.ack.0, self.stamps.map_or(0, |stamps| stamps.value))
    }

    /// Returns the positions of its data.
    pub(super) fn block(&self) -> Block {
        Block { start: self.start, end: self.start + u64::from(self.len) }
    }

    /// Returns the positions of its data with those of SYN and FIN.
    pub(super) fn numbered(&self) -> Block {
        let block = self.block();
        Block {
            start: block.start.saturating_sub(u64::from(self.flags.has(Flags::SYN))),
            end: block.end + u64::from(self.flags.has(Flags::FIN)),
        }
    }

    /// Returns whether both are the same but for time and identification.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let fields = |one: &Self| (one.fingerprint(), one.len, one.flags.0, one.window);
        fields(self) == fields(other)
            && self.stamps.map(|one| one.echo) == other.stamps.map(|one| one.echo)
            && self.sack.as_slice() == other.sack.as_slice()
    }

    /// Returns whether this frame, which follows `earlier`, is the same packet captured once more.
    fn is_captured_twice(&self, earlier: &Self) -> bool {
        let within = if self.identification == 0 { TWICE_WITHOUT } else { TWICE };
        self.identification == earlier.identification
            && self.nanos.saturating_sub(earlier.nanos) < within
            && self.is_like(earlier)
    }
}

/// The packets that one end of a connection sent, as they passed a place.
#[derive(Clone, Debug, Default)]
pub(super) struct Direction {
    pub(super) packets: Vec<Seen>,
    syn: Option<Seq>,
    /// The sequence number at position [`FIRST`].
    pub(super) first: Seq,
    /// The smallest MSS of its SYNs.
    pub(super) mss: Option<u16>,
}

impl Direction {
    /// Sets the positions of all packets. `first` is the sequence number at position [`FIRST`], and
    /// `near` a position near the first packet's.
    pub(super) fn place(&mut self, first: Seq, near: u64) {
        self.first = first;
        let (mut near, mut end) = (near, 0);
        for one in &mut self.packets {
            let start = unwrap(near, first, one.seq.plus(u32::from(one.flags.has(Flags::SYN))));
            (one.start, one.traced) = (start, start < end);
            end = end.max(start + u64::from(one.len));
            near = start;
        }
    }

    /// Returns the packets of a sender without those that its capture shows twice.
    pub(super) fn sent(&self) -> Vec<Seen> {
        let mut sent: Vec<Seen> = Vec::with_capacity(self.packets.len());
        for one in &self.packets {
            let recent = sent.iter().rev().take_while(|other| one.nanos.saturating_sub(other.nanos) < TWICE).take(16);
            if !recent.into_iter().any(|other| one.is_captured_twice(other)) {
                sent.push(*one);
            }
        }
        sent
    }

    /// Returns the packets with data.
    pub(super) fn data(&self) -> impl Iterator<Item = &Seen> {
        self.packets.iter().filter(|one| one.len > 0)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.data().map(|one| u64::from(one.len)).sum()
    }

    pub(super) fn has_syn(&self) -> bool {
        self.syn.is_some()
    }
}

/// Adds to a sequence number.
pub(super) trait Plus {
    fn plus(self, count: u32) -> Self;
}

impl Plus for Seq {
    fn plus(self, count: u32) -> Self {
        Self(self.0.wrapping_add(count))
    }
}

/// A connection at one place.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub(super) flow: Flow,
    /// The packets from the flow's source, and those to it.
    pub(super) ways: [Direction; 2],
}

/// A capture at one place of a path.
#[derive(Debug)]
pub struct Place {
    pub(super) name: String,
    pub(super) file: String,
    pub(super) connections: Vec<Connection>,
    /// The latest connection of each flow, and whether the flow is its reverse.
    current: BTreeMap<Flow, (usize, usize)>,
    fragments: Fragments,
    pub(super) frames: u64,
    /// The first and the last time of a frame.
    pub(super) nanos: (u64, u64),
    pub(super) error: Option<String>,
}

impl Place {
    /// Returns a place without frames. Both names are for the report.
    pub fn new(name: &str, file: &str) -> Self {
        Self {
            name: name.to_owned(),
            file: file.to_owned(),
            connections: Vec::new(),
            current: BTreeMap::new(),
            fragments: Fragments::default(),
            frames: 0,
            nanos: (u64::MAX, 0),
            error: None,
        }
    }

    /// Notes why the rest of the capture could not be read.
    pub fn note_error(&mut self, error: Option<String>) {
        self.error = error;
    }

    /// Returns the number of frames so far.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Adds the next frame.
    pub fn frame(&mut self, frame: &Frame<'_>) {
        self.frames += 1;
        self.nanos = (self.nanos.0.min(frame.nanos), self.nanos.1.max(frame.nanos));
        let mut fragments = std::mem::take(&mut self.fragments);
        decode::each(frame.link, frame.bytes, frame.wire_len, &mut fragments, |content| {
            if let Ok(Content::Tcp(packet)) = content {
                self.packet(&packet, frame.nanos);
            }
        });
        self.fragments = fragments;
    }

    fn packet(&mut self, packet: &Packet, nanos: u64) {
        let ports = (packet.segment.source_port, packet.segment.destination_port);
        let flow = Flow::new(&packet.addresses, ports, packet.tunnel);
        let (at, side) = self.connection(flow, packet);
        let way = &mut self.connections[at].ways[side];
        let seen = Seen::new(packet, nanos, self.frames);
        if seen.flags.has(Flags::SYN) {
            way.syn = Some(seen.seq);
            way.mss = packet.segment.options.mss.into_iter().chain(way.mss).min();
        }
        way.packets.push(seen);
    }

    /// Returns the place of the packet's connection and the side that sent it. A SYN with another
    /// number begins a new connection.
    fn connection(&mut self, flow: Flow, packet: &Packet) -> (usize, usize) {
        let segment = &packet.segment;
        let opens = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        if let Some(&(at, side)) = self.current.get(&flow) {
            let way = &self.connections[at].ways[side];
            if !opens || way.packets.is_empty() || way.syn == Some(segment.seq) {
                return (at, side);
            }
        }
        let at = self.connections.len();
        self.connections.push(Connection { flow, ways: <[Direction; 2]>::default() });
        self.current.insert(flow, (at, 0));
        self.current.insert(flow.back(), (at, 1));
        (at, 0)
    }
}
