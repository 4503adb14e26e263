//! Converts between packets as scripts write them and segments on the wire.

use core::fmt::{self, Write};
use std::net::Ipv4Addr;

use crate::script::{Packet, TcpOption};
use eifel_packet::ip::{Addresses, Ecn};
use eifel_packet::options;
use eifel_packet::segment::{Flags, Marks, Options, Segment};
use eifel_packet::seq::Seq;
use eifel_packet::tcp;

/// Bytes of a TCP header without options.
const FIXED: usize = 20;

const LETTERS: [(Flags, char); 10] = [
    (Flags::SYN, 'S'),
    (Flags::FIN, 'F'),
    (Flags::RST, 'R'),
    (Flags::PSH, 'P'),
    (Flags::URG, 'U'),
    (Flags::ECE, 'E'),
    (Flags::CWR, 'W'),
    (Flags::SENT_AGAIN, 'X'),
    (Flags::ANSWERS_SENT_AGAIN, 'Y'),
    (Flags::ACK, '.'),
];

/// The sequence numbers on the wire that are 0 in a script.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origins {
    pub(super) iss: u32,
    pub(super) irs: u32,
}

impl Origins {
    /// Converts a packet of the peer; `None` if its options cannot be read.
    pub(super) fn arriving(self, packet: &Packet, ports: (u16, u16)) -> Option<Segment> {
        let mut options = options::parse(&written(packet.options.as_deref().unwrap_or_default())).ok()?;
        let mut sack = options::parse(&[]).ok()?.sack;
        for (left, right) in options.sack.as_slice() {
            sack.push(Seq(left.0.wrapping_add(self.iss)), Seq(right.0.wrapping_add(self.iss)));
        }
        options.sack = sack;
        let has_ack = packet.flags.has(Flags::ACK);
        Some(Segment {
            source_port: ports.0,
            destination_port: ports.1,
            seq: Seq(packet.seq.wrapping_add(self.irs)),
            ack: if has_ack { Seq(packet.ack.wrapping_add(self.iss)) } else { Seq(packet.ack) },
            flags: packet.flags,
            window: packet.window.unwrap_or(0),
            options,
            payload_len: packet.len,
            ecn: packet.ecn.unwrap_or_default(),
        })
    }

    /// Converts a segment of the connection.
    pub(super) fn leaving(self, segment: &Segment) -> Packet {
        let has_ack = segment.flags.has(Flags::ACK);
        let mut list = listed(&segment.options);
        for option in &mut list {
            if let TcpOption::Sack(blocks) = option {
                for (left, right) in blocks {
                    (*left, *right) = (left.wrapping_sub(self.irs), right.wrapping_sub(self.irs));
                }
            }
        }
        Packet {
            flags: segment.flags,
            seq: segment.seq.0.wrapping_sub(self.iss),
            compares_seq: true,
            len: segment.payload_len,
            ack: if has_ack { segment.ack.0.wrapping_sub(self.irs) } else { segment.ack.0 },
            window: Some(segment.window),
            options: Some(list),
            ecn: Some(segment.ecn),
        }
    }
}

/// Returns the bytes that a connection writes for these options.
fn bytes_of(options: &Options) -> Vec<u8> {
    let nowhere = Addresses::V4 { source: Ipv4Addr::UNSPECIFIED, destination: Ipv4Addr::UNSPECIFIED };
    let segment = Segment { options: *options, ..Segment::EMPTY };
    let mut bytes = Vec::new();
    // The only error is too many SACK blocks, which leaves nothing written.
    let _ = tcp::emit(&segment, &[], &nowhere, &mut bytes);
    bytes.split_off(FIXED.min(bytes.len()))
}

/// Returns the bytes of a list of options.
fn written(list: &[TcpOption]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for option in list {
        match option {
            TcpOption::End => bytes.push(0),
            TcpOption::Nop => bytes.push(1),
            TcpOption::Mss(mss) => {
                bytes.extend([2, 4]);
                bytes.extend(mss.to_be_bytes());
            }
            TcpOption::WindowScale(shift) => bytes.extend([3, 3, *shift]),
            TcpOption::SackPermitted => bytes.extend([4, 2]),
            TcpOption::Sack(blocks) => {
                bytes.extend([5, 2 + 8 * blocks.len() as u8]);
                for (left, right) in blocks {
                    bytes.extend(left.to_be_bytes());
                    bytes.extend(right.to_be_bytes());
                }
            }
            TcpOption::Marks(marks) => {
                let padded = bytes_of(&Options { marks: Some(*marks), ..Options::default() });
                bytes.extend(padded.into_iter().skip_while(|byte| *byte == 1));
            }
            TcpOption::Timestamps { value, echo } => {
                bytes.extend([8, 10]);
                bytes.extend(value.to_be_bytes());
                bytes.extend(echo.to_be_bytes());
            }
        }
    }
    bytes
}

/// Lists a segment's options, in the order of its bytes and with their padding.
fn listed(of: &Options) -> Vec<TcpOption> {
    let bytes = bytes_of(of);
    let mut list = Vec::new();
    let mut left = bytes.as_slice();
    let word = |edge: &[u8]| edge.iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
    while let [kind, after @ ..] = left {
        let length = if *kind <= 1 { 1 } else { after.first().map_or(1, |length| usize::from(*length).max(1)) };
        let body = left.get(2..length).unwrap_or_default();
        match (kind, body) {
            (0, _) => list.push(TcpOption::End),
            (1, _) => list.push(TcpOption::Nop),
            (2, _) => list.push(TcpOption::Mss(word(body) as u16)),
            (3, [shift]) => list.push(TcpOption::WindowScale(*shift)),
            (4, _) => list.push(TcpOption::SackPermitted),
            (5, _) => {
                let blocks = body.chunks(8).map(|block| {
                    let (first, second) = block.split_at(4.min(block.len()));
                    (word(first), word(second))
                });
                list.push(TcpOption::Sack(blocks.collect()));
            }
            (253, _) => {
                let marks =
                    left.get(..length).and_then(|option| options::parse(option).ok()).and_then(|read| read.marks);
                list.extend(marks.map(TcpOption::Marks));
            }
            (8, _) if body.len() == 8 => {
                list.push(TcpOption::Timestamps { value: word(&body[..4]), echo: word(&body[4..]) });
            }
            _ => {}
        }
        left = left.get(length..).unwrap_or_default();
    }
    list
}

/// Returns flags as scripts write them.
pub(super) fn letters(flags: Flags) -> String {
    let letters: String = LETTERS.iter().filter(|(flag, _)| flags.has(*flag)).map(|(_, letter)| *letter).collect();
    if letters.is_empty() { "-".into() } else { letters }
}

/// Returns the name of an ECN field that is not clear.
fn marked(ecn: Ecn) -> Option<&'static str> {
    match ecn {
        Ecn::NotEct => None,
        Ecn::Ect0 => Some("ect0"),
        Ecn::Ect1 => Some("ect1"),
        Ecn::Ce => Some("ce"),
    }
}

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.ecn.and_then(marked) {
            write!(f, "[{name}] ")?;
        }
        let flags = letters(self.flags);
        let Self { seq, len, .. } = self;
        write!(f, "{flags} {seq}:{}({len})", seq.wrapping_add(*len))?;
        if self.flags.has(Flags::ACK) {
            write!(f, " ack {}", self.ack)?;
        }
        if let Some(window) = self.window {
            write!(f, " win {window}")?;
        }
        match self.options.as_deref() {
            None => f.write_str(" <...>"),
            Some([]) => Ok(()),
            Some(list) => {
                f.write_str(" <")?;
                for (index, option) in list.iter().enumerate() {
                    if index > 0 {
                        f.write_char(',')?;
                    }
                    write!(f, "{option}")?;
                }
                f.write_char('>')
            }
        }
    }
}

impl fmt::Display for TcpOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mss(mss) => write!(f, "mss {mss}"),
            Self::WindowScale(shift) => write!(f, "wscale {shift}"),
            Self::SackPermitted => f.write_str("sackOK"),
            Self::Sack(blocks) => {
                f.write_str("sack")?;
                blocks.iter().try_for_each(|(left, right)| write!(f, " {left}:{right}"))
            }
            Self::Timestamps { value, echo } => write!(f, "TS val {value} ecr {echo}"),
            Self::Marks(Marks::Bits) => f.write_str("marks bits"),
            Self::Marks(Marks::Timestamps) => f.write_str("marks timestamps"),
            Self::Nop => f.write_str("nop"),
            Self::End => f.write_str("eol"),
        }
    }
}
