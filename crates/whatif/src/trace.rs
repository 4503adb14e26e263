//! One direction of a connection as a capture next to its sender shows it: every transmission,
//! every acknowledgement.
//!
//! Segments that the sender's network card splits later are split here, so that each transmission
//! is one packet on the path.

use eifel_base::ranges::Block;
use eifel_capture::Identifications;
use eifel_capture::frame::decode::Packet;
use eifel_capture::result::Flow;
use eifel_packet::datagram;
use eifel_packet::ip::Version;
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::{Seq, unwrap};

/// Maximum number of transmissions of a trace. Ten million packets would take some hundred
/// megabytes, and far fewer show the path.
pub const MOST_TRANSMISSIONS: usize = 2_000_000;
/// Longest segment on the path in bytes, if the capture shows no MSS. The network card splits
/// longer segments.
const LONGEST_SEGMENT: u32 = 1460;

/// One packet with data that left the sender. Times are seconds since the first packet of the
/// trace.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Transmission {
    pub at: f64,
    /// Number of its frame in the capture, from 1.
    pub frame: u64,
    /// Index of the piece of the stream that it carries.
    pub piece: usize,
    /// Bytes of the IP packet.
    pub wire: u32,
}

/// A piece of the stream that is always sent as a whole. Position 1 is the first byte.
#[derive(Clone, PartialEq, Debug)]
pub struct Piece {
    pub start: u64,
    pub end: u64,
    /// Indices of its transmissions, in the order in which they left.
    pub transmissions: Vec<usize>,
}

/// An acknowledgement that the sender received.
#[derive(Clone, PartialEq, Debug)]
pub struct ReceivedAck {
    pub at: f64,
    /// First position not acknowledged.
    pub cumulative: u64,
    /// The SACK blocks above `cumulative`.
    pub sacks: Vec<Block>,
    /// Whether the ACK reports a duplicate by DSACK.
    pub dsack: bool,
    /// The receiver's timestamp.
    pub stamp: Option<u32>,
    /// Its number among the receiver's packets, by their IP identification. It means something if
    /// the [trace](Trace::numbers_acks) says so.
    pub number: u32,
    /// The first position beyond the receiver's window.
    pub edge: u64,
    /// Whether all data is acknowledged and the window is closed, so that the sender has to wait
    /// for the receiver's application.
    pub closed: bool,
}

/// The data that one end sent, and the ACKs that it received.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace {
    pub flow: Flow,
    pub transmissions: Vec<Transmission>,
    pub pieces: Vec<Piece>,
    pub acks: Vec<ReceivedAck>,
    /// When the sender's SYN left and when the SYN ACK came, in seconds. `None` unless the capture
    /// shows that the sender opened the connection.
    pub opened: Option<(f64, f64)>,
    /// Whether both ends permitted SACK, or blocks were seen.
    pub sack: bool,
    pub timestamps: bool,
    pub ipv6: bool,
    /// Largest window that the receiver announced, in bytes.
    pub window: u64,
    /// Number of positions that are missing from the capture.
    pub unseen: u64,
    /// Whether there were more transmissions than [`MOST_TRANSMISSIONS`].
    pub cut: bool,
    origin: Option<u64>,
    initial: Option<Seq>,
    identifications: Identifications,
    syn: Option<u64>,
    offered: Offered,
}

/// What both ends offered in their SYNs: the sender of the data first.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Offered {
    /// The smaller MSS.
    mss: Option<u32>,
    window_scales: [Option<u8>; 2],
    sack: [bool; 2],
}

impl Offered {
    fn on_syn(&mut self, side: usize, segment: &Segment) {
        self.window_scales[side] = segment.options.window_scale;
        self.sack[side] = segment.options.sack_permitted;
        if let Some(mss) = segment.options.mss.map(u32::from) {
            self.mss = Some(self.mss.map_or(mss, |other| other.min(mss)));
        }
    }
}

impl Trace {
    /// Makes an empty trace of the data sent in this direction.
    pub fn new(flow: Flow) -> Self {
        Self {
            flow,
            transmissions: Vec::new(),
            pieces: Vec::new(),
            acks: Vec::new(),
            opened: None,
            sack: false,
            timestamps: false,
            ipv6: flow.source.address.is_ipv6(),
            window: 0,
            unseen: 0,
            cut: false,
            origin: None,
            initial: None,
            identifications: Identifications::default(),
            syn: None,
            offered: Offered::default(),
        }
    }

    /// Adds a packet, if it belongs to this connection. `nanos` is its time in nanoseconds since
    /// 1970, and `frame` its number in the capture.
    pub fn packet(&mut self, packet: &Packet, nanos: u64, frame: u64) {
        let ports = (packet.segment.source_port, packet.segment.destination_port);
        let flow = Flow::new(&packet.addresses, ports, packet.tunnel);
        if self.transmissions.len() >= MOST_TRANSMISSIONS {
            self.cut = true;
        } else if flow == self.flow {
            self.ours(&packet.segment, nanos, frame);
        } else if flow == self.flow.back() {
            let number = self.identifications.on_packet(packet.identification);
            self.theirs(&packet.segment, nanos, number);
        }
    }

    fn at(&mut self, nanos: u64) -> f64 {
        let origin = *self.origin.get_or_insert(nanos);
        (nanos as f64 - origin as f64) / 1e9
    }

    /// Returns the first position never sent.
    pub fn nxt(&self) -> u64 {
        self.pieces.last().map_or(1, |piece| piece.end)
    }

    /// Returns the number of acknowledged bytes, and when the last of them was acknowledged, in
    /// seconds since the first packet.
    pub fn acknowledged(&self) -> (u64, f64) {
        let (mut una, mut at) = (1, 0.0);
        for ack in &self.acks {
            if ack.cumulative > una {
                (una, at) = (ack.cumulative, ack.at);
            }
        }
        (una.min(self.nxt()) - 1, at)
    }

    fn ours(&mut self, segment: &Segment, nanos: u64, frame: u64) {
        if segment.flags.has(Flags::SYN) {
            self.on_syn(0, segment);
            self.initial = Some(segment.seq);
            if !segment.flags.has(Flags::ACK) {
                self.syn = Some(nanos);
                self.origin = Some(nanos);
            }
            return;
        }
        if segment.payload_len == 0 {
            return;
        }
        self.timestamps |= segment.options.timestamps.is_some();
        let initial = *self.initial.get_or_insert(Seq(segment.seq.0.wrapping_sub(1)));
        let start = unwrap(self.nxt(), initial, segment.seq);
        let end = start + u64::from(segment.payload_len);
        if self.syn.is_none() && self.origin.is_none() {
            self.origin = Some(nanos);
        }
        let at = self.at(nanos);
        let version = if self.ipv6 { Version::V6 } else { Version::V4 };
        let headers = datagram::len(segment, version).saturating_sub(segment.payload_len);
        if start < self.nxt() {
            self.again((start, end.min(self.nxt())), headers, at, frame);
        }
        let mut from = start.max(self.nxt());
        if from > self.nxt() {
            self.unseen += from - self.nxt();
        }
        let most = u64::from(self.most());
        while from < end {
            let to = (from + most).min(end);
            let piece = self.pieces.len();
            self.pieces.push(Piece { start: from, end: to, transmissions: vec![self.transmissions.len()] });
            self.transmissions.push(Transmission { at, frame, piece, wire: headers + (to - from) as u32 });
            from = to;
        }
    }

    /// Returns whether the receiver numbers its packets, so that missing ACKs show.
    pub fn numbers_acks(&self) -> bool {
        self.identifications.counts()
    }

    /// Returns the largest payload that the path carries in one segment.
    fn most(&self) -> u32 {
        let options = if self.timestamps { 12 } else { 0 };
        self.offered.mss.unwrap_or(LONGEST_SEGMENT).saturating_sub(options).max(1)
    }

    fn again(&mut self, (start, end): (u64, u64), headers: u32, at: f64, frame: u64) {
        let mut piece = self.pieces.partition_point(|piece| piece.end <= start);
        while let Some(known) = self.pieces.get_mut(piece).filter(|piece| piece.start < end) {
            known.transmissions.push(self.transmissions.len());
            self.transmissions.push(Transmission {
                at,
                frame,
                piece,
                wire: headers + (known.end - known.start) as u32,
            });
            piece += 1;
        }
    }

    fn on_syn(&mut self, side: usize, segment: &Segment) {
        self.offered.on_syn(side, segment);
        self.sack = self.offered.sack == [true; 2];
    }

    fn theirs(&mut self, segment: &Segment, nanos: u64, number: u32) {
        if segment.flags.has(Flags::SYN) {
            self.on_syn(1, segment);
            if let (Some(syn), true) = (self.syn, segment.flags.has(Flags::ACK)) {
                self.opened = Some((0.0, (nanos.saturating_sub(syn)) as f64 / 1e9));
            }
            return;
        }
        let (Some(initial), true) = (self.initial, segment.flags.has(Flags::ACK)) else { return };
        if self.pieces.is_empty() || segment.flags.has(Flags::RST) {
            return;
        }
        let cumulative = unwrap(self.nxt(), initial, segment.ack);
        // A FIN also takes a position.
        if cumulative > self.nxt() + 1 {
            return;
        }
        let shift = match self.offered.window_scales {
            [Some(_), Some(scale)] => scale.min(14),
            _ => 0,
        };
        let window = u64::from(segment.window) << shift;
        self.window = self.window.max(window);
        let position = |seq| unwrap(cumulative, initial, seq);
        let (mut sacks, mut dsack) = (Vec::new(), false);
        for (left, right) in segment.options.sack.as_slice() {
            let block = Block { start: position(*left), end: position(*right) };
            if block.start >= cumulative && block.start < block.end {
                sacks.push(block);
            } else {
                dsack = true;
            }
        }
        self.sack |= !sacks.is_empty() || dsack;
        let stamp = segment.options.timestamps.map(|stamps| stamps.value);
        let at = self.at(nanos);
        self.acks.push(ReceivedAck {
            at,
            cumulative,
            sacks,
            dsack,
            stamp,
            number,
            edge: cumulative + window,
            closed: window == 0 && cumulative >= self.nxt(),
        });
    }

    /// Returns the payload of a full segment: the most common length.
    pub fn payload(&self) -> u32 {
        let mut lengths = std::collections::BTreeMap::<u64, u32>::new();
        for piece in &self.pieces {
            *lengths.entry(piece.end - piece.start).or_default() += 1;
        }
        lengths.into_iter().max_by_key(|(length, count)| (*count, *length)).map_or(0, |(length, _)| length as u32)
    }
    /// Returns the columns of the time-sequence graph.
    pub fn columns(&self) -> Vec<(&'static str, Vec<f64>)> {
        let of_sent = |value: &dyn Fn(&Transmission, &Piece) -> f64| {
            self.transmissions
                .iter()
                .map(|transmission| value(transmission, &self.pieces[transmission.piece]))
                .collect()
        };
        let of_acks = |value: &dyn Fn(&ReceivedAck) -> f64| self.acks.iter().map(value).collect();
        let of_sacks = |value: &dyn Fn(&ReceivedAck, &Block) -> f64| {
            self.acks.iter().flat_map(|ack| ack.sacks.iter().map(move |block| value(ack, block))).collect()
        };
        vec![
            ("sent_s", of_sent(&|transmission, _| transmission.at)),
            ("start", of_sent(&|_, piece| piece.start as f64)),
            ("end", of_sent(&|_, piece| piece.end as f64)),
            ("frame", of_sent(&|transmission, _| transmission.frame as f64)),
            ("heard_s", of_acks(&|ack| ack.at)),
            ("cumulative", of_acks(&|ack| ack.cumulative as f64)),
            ("edge", of_acks(&|ack| ack.edge as f64)),
            ("sack_s", of_sacks(&|ack, _| ack.at)),
            ("sack_start", of_sacks(&|_, block| block.start as f64)),
            ("sack_end", of_sacks(&|_, block| block.end as f64)),
        ]
    }
}
