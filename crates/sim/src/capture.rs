//! Captures: the packets that a node sends and gets, as pcapng.

use crate::record::{Record, Sink};
use crate::wire;
use eifel_base::time::Instant;
use eifel_packet::datagram;
use eifel_packet::ip::Version;
use eifel_packet::pcapng::{Interface, Packet, Writer};
use eifel_packet::segment::Segment;
use std::io::{self, Write};

/// The captures of a run.
pub struct Captures {
    ip: Version,
    /// Whether packets are kept whole; if not, their headers alone.
    payload: bool,
    taps: Vec<Tap>,
    /// The first write that failed; nothing is written after it.
    failed: Option<io::Error>,
    /// Which tap each node has; `u16::MAX` for none.
    of_node: Vec<u16>,
}

struct Tap {
    node: usize,
    interface: Interface,
    writer: Writer<Out>,
}

/// Where a capture is kept.
enum Out {
    /// Whole, until the run is over.
    Memory(Vec<u8>),
    /// Nowhere: it is written as it grows.
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

/// A capture of one node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Capture {
    /// Index of the node.
    pub node: usize,
    /// The node's name.
    pub name: String,
    /// The file.
    pub pcapng: Vec<u8>,
}

const NO_TAP: u16 = u16::MAX;

impl Captures {
    /// Captures what `kept` asks for, in memory or as `sink` says; `names` are those of all nodes. Indices that there are
    /// not are left out.
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

    /// Whether this node's packets are captured.
    pub fn wants(&self, node: u16) -> bool {
        self.of_node[usize::from(node)] != NO_TAP
    }

    /// A segment passes `node`, on its way from one node to another; `offset` is that of its payload in the stream.
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

    /// Those that were kept in memory.
    ///
    /// # Errors
    /// The first that a write gave.
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
