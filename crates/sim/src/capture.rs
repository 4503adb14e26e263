//! Captures: the packets that a node sends and gets, as pcapng.

use crate::wire;
use eifel_base::time::Instant;
use eifel_packet::ip::Version;
use eifel_packet::pcapng::{Interface, Packet, Writer};
use eifel_packet::segment::Segment;
use std::io;

/// The captures of a run.
pub struct Captures {
    ip: Version,
    taps: Vec<Tap>,
    /// Which tap each node has; `u16::MAX` for none.
    of_node: Vec<u16>,
}

struct Tap {
    node: usize,
    interface: Interface,
    writer: Writer<Vec<u8>>,
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
    /// Captures at `nodes`, by index; `names` are those of all nodes. Indices that there are not are left out.
    pub fn new(nodes: &[usize], names: &[String], ip: Version) -> io::Result<Self> {
        let mut captures = Self { ip, taps: Vec::new(), of_node: vec![NO_TAP; names.len()] };
        for &node in nodes {
            let Some(name) = names.get(node) else { continue };
            let mut writer = Writer::new(Vec::new(), concat!("eifel-sim ", env!("CARGO_PKG_VERSION")))?;
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
        let bytes = wire::bytes(self.ip, segment, path, offset, None);
        let Some(tap) = self.taps.get_mut(usize::from(self.of_node[usize::from(node)])) else { return };
        let packet = Packet { bytes: &bytes, wire_len: bytes.len() as u32, comment: None };
        if let Err(error) = tap.writer.packet(tap.interface, now.as_nanos(), packet) {
            panic!("a packet of the simulation does not fit a capture: {error}");
        }
    }

    /// The files.
    pub fn finish(self, names: &[String]) -> io::Result<Vec<Capture>> {
        self.taps
            .into_iter()
            .map(|tap| Ok(Capture { node: tap.node, name: names[tap.node].clone(), pcapng: tap.writer.finish()? }))
            .collect()
    }
}
