//! Captures: the packets that a node sends and receives, as pcapng.

use crate::record::{Record, Sink};
use crate::wire;
use eifel_base::time::Instant;
use eifel_packet::datagram;
use eifel_packet::ip::Version;
use eifel_packet::pcapng::{Interface, Packet, Writer};
use eifel_packet::segment::Segment;
use std::io::{self, Write};

pub struct Captures {
    ip: Version,
    /// Whether packets are kept whole; otherwise only their headers are.
    payload: bool,
    taps: Vec<Tap>,
    /// The first write that failed. Captures write nothing after it.
    failed: Option<io::Error>,
    /// Index of each node's tap; `u16::MAX` for none.
    of_node: Vec<u16>,
}

struct Tap {
    node: usize,
    interface: Interface,
    writer: Writer<Out>,
}

/// The place that a capture is written to.
enum Out {
    /// Memory, until the run is over.
    Memory(Vec<u8>),
    /// A stream that takes the capture while it grows.
    Stream(Box<dyn Write>),
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Memory(kept) => kept.write(bytes),
            Self::Stream(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Memory(_) => Ok(()),
            Self::Stream(out) => out.flush(),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Capture {
    pub node: usize,
    pub name: String,
    /// The contents of the pcapng file.
    pub pcapng: Vec<u8>,
}

const NO_TAP: u16 = u16::MAX;

impl Captures {
    /// Creates the captures that `kept` asks for, in memory or in the streams of `sink`. `names`
    /// are the names of all nodes. Indices that no node has are ignored.
    pub fn new(kept: &Record, names: &[String], ip: Version, sink: Option<&mut dyn Sink>) -> io::Result<Self> {
        let mut sink = sink;
        let payload = kept.keeps_payload();
        let mut captures = Self { ip, payload, taps: Vec::new(), failed: None, of_node: vec![NO_TAP; names.len()] };
        for &node in kept.captures() {
            let Some(name) = names.get(node) else { continue };
            let out = match &mut sink {
                Some(sink) => Out::Stream(sink.capture(name)?),
                None => Out::Memory(Vec::new()),
            };
            let mut writer = Writer::new(out, concat!("eifel-sim ", env!("CARGO_PKG_VERSION")))?;
            let interface = writer.interface(name)?;
            captures.of_node[node] = captures.taps.len() as u16;
            captures.taps.push(Tap { node, interface, writer });
        }
        Ok(captures)
    }

    /// Returns whether this node's packets are captured.
    pub fn wants(&self, node: u16) -> bool {
        self.of_node[usize::from(node)] != NO_TAP
    }

    /// Captures a segment that passes `node` on its `path` from one node to another. `offset` is
    /// the place of its payload in the stream.
    pub fn note(&mut self, now: Instant, node: u16, segment: &Segment, path: (u16, u16), offset: u64) {
        if self.failed.is_some() {
            return;
        }
        let payload = if self.payload { None } else { Some(&[][..]) };
        let bytes = wire::bytes(self.ip, segment, path, offset, payload);
        let Some(tap) = self.taps.get_mut(usize::from(self.of_node[usize::from(node)])) else { return };
        let packet = Packet { bytes: &bytes, wire_len: datagram::len(segment, self.ip), comment: None };
        self.failed = tap.writer.packet(tap.interface, now.as_nanos(), packet).err();
    }

    /// Returns the captures that were kept in memory.
    ///
    /// # Errors The first error of a write.
    pub fn finish(self, names: &[String]) -> io::Result<Vec<Capture>> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let mut kept = Vec::new();
        for tap in self.taps {
            if let Out::Memory(pcapng) = tap.writer.finish()? {
                kept.push(Capture { node: tap.node, name: names[tap.node].clone(), pcapng });
            }
        }
        Ok(kept)
    }
}
