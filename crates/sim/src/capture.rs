//! Captures: the packets that a node sends, receives and passes on, as pcapng.

use crate::comments::{Commented, Comments};
use crate::end::End;
use crate::oracle::{JudgedRetransmission, SentData};
use crate::packet::{Contents, Packet};
use crate::record::{Record, Sink};
use crate::wire;
use eifel_base::time::Instant;
use eifel_packet::datagram;
use eifel_packet::ip::Version;
use eifel_packet::pcapng::{Interface, Packet as Frame, Writer};
use std::io::{self, Write};

pub struct Captures {
    ip: Version,
    /// Whether packets are kept whole; otherwise only their headers.
    payload: bool,
    taps: Vec<Tap>,
    /// The error of the first write that failed. Captures write nothing after it.
    failed: Option<io::Error>,
    /// Index of each node's tap; `u16::MAX` for none.
    of_node: Vec<u16>,
    /// The nodes of each flow's ends.
    ends: Vec<[u16; 2]>,
    /// The comments on frames; `None` for captures in memory. Those serve to judge tools, so they
    /// must not reveal what the simulator knows.
    comments: Option<Comments>,
}

struct Tap {
    node: usize,
    interface: Interface,
    writer: Writer<Out>,
    /// Whether the transmission of each frame is kept in `shown`. True for captures in memory.
    remembers: bool,
    shown: Vec<Shown>,
}

/// The destination of a capture.
enum Out {
    /// Memory, until the run is over.
    Memory(Vec<u8>),
    /// A stream that receives the capture while the run goes on.
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
    /// The transmission in each frame of the file.
    pub shown: Vec<Shown>,
}

/// The transmission that a frame of a capture shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shown {
    /// Index of the flow in the scenario.
    pub flow: u32,
    /// The end that sent the frame.
    pub sender: End,
    /// Number of the transmission at that end, from 0; `None` for an acknowledgement without data.
    pub transmission: Option<u64>,
}

const NO_TAP: u16 = u16::MAX;

impl Captures {
    /// Creates the captures that `kept` asks for, in memory or in the streams of `sink`. `names`
    /// are the names of all nodes. Indices that no node has are ignored.
    pub fn new(kept: &Record, names: &[String], ip: Version, sink: Option<&mut dyn Sink>) -> io::Result<Self> {
        let mut sink = sink;
        let payload = kept.keeps_payload();
        let of_node = vec![NO_TAP; names.len()];
        let mut comments = sink.is_some().then(Comments::default);
        let mut captures =
            Self { ip, payload, taps: Vec::new(), failed: None, of_node, ends: Vec::new(), comments: None };
        for &node in kept.captures() {
            let Some(name) = names.get(node) else { continue };
            let remembers = sink.is_none();
            let out = match &mut sink {
                Some(sink) => Out::Stream(sink.capture(name)?),
                None => Out::Memory(Vec::new()),
            };
            let mut writer = Writer::new(out, concat!("eifel-sim ", env!("CARGO_PKG_VERSION")))?;
            let interface = writer.interface(name)?;
            captures.of_node[node] = captures.taps.len() as u16;
            captures.taps.push(Tap { node, interface, writer, remembers, shown: Vec::new() });
            if let Some(comments) = &mut comments {
                comments.add_capture();
            }
        }
        captures.comments = comments;
        Ok(captures)
    }

    /// Notes the nodes of the next flow's ends.
    pub fn follow(&mut self, ends: [u16; 2]) {
        self.ends.push(ends);
    }

    /// Returns whether this node's packets are captured.
    pub fn wants(&self, node: u16) -> bool {
        self.of_node[usize::from(node)] != NO_TAP
    }

    /// Captures a packet that passes `node`. `offset` is the offset of a segment's payload in the
    /// stream. A packet of an association is always captured whole, because chunk headers stand
    /// between its data.
    pub fn note(&mut self, now: Instant, node: u16, (packet, contents): (&Packet, &Contents), offset: u64) {
        if self.failed.is_some() {
            return;
        }
        let ends = self.ends[packet.flow as usize];
        let (bytes, wire_len) = match contents {
            Contents::Segment(segment) => {
                // An original that has arrived cannot be dropped any more, and is never judged.
                let over = !packet.repeats && ends[packet.sender.other().index()] == node;
                self.count_frame(node, packet, commented(packet, contents).filter(|_| !over));
                let path = (ends[packet.sender.index()], ends[packet.sender.other().index()]);
                let payload = if self.payload { None } else { Some(&[][..]) };
                (wire::bytes(self.ip, segment, path, offset, payload), datagram::len(segment, self.ip))
            }
            Contents::Sctp(sctp) => {
                self.count_frame(node, packet, commented(packet, contents));
                (sctp.datagram(), sctp.ip_len(self.ip))
            }
            Contents::Datagram => return,
        };
        let Some(tap) = self.taps.get_mut(usize::from(self.of_node[usize::from(node)])) else { return };
        if tap.remembers {
            let transmission = packet.transmission.checked_sub(1);
            tap.shown.push(Shown { flow: packet.flow, sender: packet.sender, transmission });
        }
        let frame = Frame { bytes: &bytes, wire_len, comment: None };
        self.failed = tap.writer.packet(tap.interface, now.as_nanos(), frame).err();
    }

    fn count_frame(&mut self, node: u16, packet: &Packet, transmissions: impl Iterator<Item = u64>) {
        if let Some(comments) = &mut self.comments {
            let capture = usize::from(self.of_node[usize::from(node)]);
            comments.frame(capture, (packet.flow, packet.sender), transmissions);
        }
    }

    /// Notes the first arrival of a transmission.
    pub fn arrived(&mut self, of: (u32, End), sent: &SentData) {
        if let Some(comments) = &mut self.comments {
            comments.arrived(of, sent);
        }
    }

    /// Notes where and why a packet was dropped.
    pub fn dropped(&mut self, (packet, contents): (&Packet, &Contents), why: (&str, &str)) {
        if let Some(comments) = &mut self.comments {
            let of = (packet.flow, packet.sender);
            commented(packet, contents).for_each(|transmission| comments.dropped(of, transmission, why));
        }
    }

    /// Notes the oracle's judgement on a retransmission.
    pub fn on_judged(&mut self, judged: &JudgedRetransmission) {
        if let Some(comments) = &mut self.comments {
            comments.on_judged(judged);
        }
    }

    /// Comments on the packet that has just arrived at this end of this flow.
    pub fn comment(&mut self, (flow, end): (u32, End), text: impl FnOnce() -> String) {
        let Some(comments) = &mut self.comments else { return };
        let tap = self.of_node[usize::from(self.ends[flow as usize][end.index()])];
        if tap != NO_TAP {
            comments.last(usize::from(tap), &text());
        }
    }

    /// Returns the captures that were kept in memory. For captures that were streamed, returns the
    /// comments and the name of the node.
    ///
    /// # Errors
    /// Returns the first error of a write.
    pub fn finish(self, names: &[String]) -> io::Result<(Vec<Capture>, Vec<Commented>)> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let mut kept = Vec::new();
        let texts = self.comments.map_or_else(Vec::new, Comments::into_texts);
        let comments = self.taps.iter().zip(texts).map(|(tap, texts)| (names[tap.node].clone(), texts)).collect();
        for tap in self.taps {
            if let Out::Memory(pcapng) = tap.writer.finish()? {
                kept.push(Capture { node: tap.node, name: names[tap.node].clone(), pcapng, shown: tap.shown });
            }
        }
        Ok((kept, comments))
    }
}

/// Returns the numbers of the transmissions in a packet on which captures comment. Of the packets of
/// an association, those are the packets with several chunks of data.
fn commented<'c>(packet: &Packet, contents: &'c Contents) -> impl Iterator<Item = u64> + 'c {
    let several = contents.sctp().map_or(&[][..], |sctp| &sctp.transmissions);
    let own = (packet.transmission > 0 && contents.segment().is_some()).then_some(packet.transmission);
    several.iter().map(|sent| sent.transmission).chain(own)
}
