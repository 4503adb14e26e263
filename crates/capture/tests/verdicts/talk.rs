//! Builds conversations packet by packet, and returns their verdicts.

use eifel_capture::analysis::{Analysis, Analyzer};
use eifel_capture::frame::read::Frame;
use eifel_capture::result::Cause;
use eifel_capture::result::Retransmission;
use eifel_capture::result::{Confidence, Verdict};
use eifel_packet::datagram;
use eifel_packet::ip::{Addresses, Ecn, Header};
use eifel_packet::segment::{Flags, Options, SackBlocks, Segment, Timestamps};
use eifel_packet::seq::Seq;

pub const CLIENT: u32 = 4_294_960_000;
pub const SERVER: u32 = 7;

/// Makes frames. Times are in milliseconds.
pub struct Talk {
    pub analyzer: Analyzer,
    pub frame: u64,
    pub stamps: bool,
    /// The server's newest timestamp.
    pub heard: u32,
    /// IP identification of all following packets; `None` if identifications count up.
    pub identification: Option<u16>,
    /// The last packet: time in nanoseconds, bytes, and length on the wire.
    pub last: (u64, Vec<u8>, u32),
}

impl Talk {
    /// Opens a conversation with a handshake, with SACK permitted if `sack` and timestamps if
    /// `stamps`.
    pub fn open(stamps: bool, sack: bool) -> Self {
        Self::identified(stamps, sack, None)
    }

    pub fn identified(stamps: bool, sack: bool, identification: Option<u16>) -> Self {
        let mut talk = Self {
            analyzer: Analyzer::default(),
            frame: 0,
            stamps,
            heard: 0,
            identification,
            last: Default::default(),
        };
        let offer = Options { mss: Some(1000), sack_permitted: sack, ..Options::default() };
        talk.packet(0.0, false, Flags::SYN, (0, 0), 0, (0, 0), offer);
        talk.packet(100.0, true, Flags::SYN.with(Flags::ACK), (0, 1), 0, (0, 0), offer);
        talk.packet(100.0, false, Flags::ACK, (1, 1), 0, (100, 0), Options::default());
        talk
    }

    #[expect(clippy::too_many_arguments, reason = "a packet has as many fields")]
    pub fn packet(
        &mut self,
        ms: f64,
        from_server: bool,
        flags: Flags,
        (seq, ack): (u32, u32),
        payload_len: u32,
        (value, echo): (u32, u32),
        options: Options,
    ) {
        let timestamps = self.stamps.then_some(Timestamps { value, echo });
        let (here, there) = if from_server { (SERVER, CLIENT) } else { (CLIENT, SERVER) };
        let (source_port, destination_port) = if from_server { (80, 1000) } else { (1000, 80) };
        let segment = Segment {
            source_port,
            destination_port,
            seq: Seq(here.wrapping_add(seq)),
            ack: Seq(there.wrapping_add(ack)),
            flags,
            window: 60_000,
            options: Options { timestamps, ..options },
            payload_len,
            ecn: Ecn::NotEct,
        };
        let addresses = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() };
        let addresses = if from_server { addresses.reversed() } else { addresses };
        let mut header = Header::new(addresses);
        header.identification = self.identification.unwrap_or((self.frame + 1) as u16);
        let mut bytes = Vec::new();
        datagram::emit(&header, &segment, &[], &mut bytes).expect("it fits a packet");
        let nanos = 1_000_000_000_000 + (ms * 1e6) as u64;
        let wire_len = bytes.len() as u32 + payload_len;
        self.last = (nanos, bytes, wire_len);
        self.show(0);
    }

    /// Adds the last packet to the capture, `later` nanoseconds after it was sent.
    pub fn show(&mut self, later: u64) {
        self.frame += 1;
        let (nanos, ref bytes, wire_len) = self.last;
        let nanos = nanos + later;
        self.analyzer.frame(&Frame { number: self.frame, nanos, link: 101, interface: 0, wire_len, bytes });
    }

    /// Sends segment `number` from the client, counted from 0. Returns its frame.
    pub fn data(&mut self, ms: f64, number: u32) -> u64 {
        self.packet(ms, false, Flags::ACK, (1 + number * 1000, 1), 1000, (ms as u32, self.heard), Options::default());
        self.frame
    }

    /// Acknowledges `number` segments from the server and echoes the time `echo`. `blocks` are SACK
    /// blocks in segments.
    pub fn ack(&mut self, ms: f64, number: u32, echo: u32, blocks: &[(u32, u32)]) -> u64 {
        let mut sack = SackBlocks::EMPTY;
        let position = |number: u32| Seq(CLIENT.wrapping_add(1 + number * 1000));
        for (left, right) in blocks {
            sack.push(position(*left), position(*right));
        }
        let options = Options { sack, ..Options::default() };
        self.packet(ms, true, Flags::ACK, (1, 1 + number * 1000), 0, (ms as u32, echo), options);
        self.heard = ms as u32;
        self.frame
    }

    pub fn end(self) -> Analysis {
        self.analyzer.finish()
    }
}

pub fn said(one: &Retransmission) -> (u64, Cause, Verdict, Confidence, Option<u64>) {
    (one.frame, one.cause, one.verdict, one.confidence, one.evidence_frame)
}

/// Sends ten segments; nothing comes back in time.
pub fn flight(talk: &mut Talk) {
    for number in 0..10 {
        talk.data(110.0 + f64::from(number), number);
    }
}
