//! From a frame to the TCP segment or SCTP packet in it: link layers, IP with its fragments and extension headers, and tunnels.
//!
//! A capture may have cut the packet off, and a network card may still have had to fill in lengths and checksums. So this
//! reader, unlike the one of `eifel-packet`, asks for no more bytes than the headers have, and checks no checksum.

pub(crate) mod common;
mod fragments;
mod ip;
mod link;
pub mod sctp;
mod tcp;

use core::fmt;

use eifel_packet::ip::Addresses;
use eifel_packet::segment::Segment;

pub use fragments::Fragments;
pub(crate) use ip::plain;

/// Headers inside of headers: VLANs, labels, tunnels. Deeper than this no network sends.
const MOST_LAYERS: u32 = 16;

/// A TCP segment as a capture shows it. Its payload's bytes are not kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// From where to where.
    pub addresses: Addresses,
    /// IPv4's identification; 0 says nothing.
    pub identification: u16,
    /// Hops left.
    pub hop_limit: u8,
    /// Identifies the innermost tunnel: VXLAN's network, GTP-U's endpoint, GRE's key. 0 outside of tunnels.
    pub tunnel: u32,
    /// The header, and the length of the payload as IP has it.
    pub segment: Segment,
}

/// Why a frame holds no TCP segment to analyse.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Other {
    /// Another protocol than TCP and SCTP: ARP, UDP, ICMP and so on.
    NotTcp,
    /// A link type that has no reader here.
    Link(u32),
    /// The snapshot length cut the headers off.
    Cut,
    /// Headers that contradict themselves.
    Malformed,
    /// A part of an IP packet, without the TCP header or without the end.
    Fragment,
    /// Too many headers inside of headers.
    Deep,
}

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotTcp => f.write_str("neither TCP nor SCTP"),
            Self::Link(number) => write!(f, "link type {number} is not supported"),
            Self::Cut => f.write_str("headers cut off by the snapshot length"),
            Self::Malformed => f.write_str("malformed headers"),
            Self::Fragment => f.write_str("IP fragment"),
            Self::Deep => f.write_str("too many headers inside of headers"),
        }
    }
}

/// The next header of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Layer {
    Ethernet,
    /// The protocol that an EtherType names.
    Type(u16),
    /// The protocol that a PPP protocol number names.
    Ppp,
    /// IEEE 802.2.
    Llc,
    /// IP of either version, told by its first half byte.
    Ip,
    Ipv4,
    Ipv6,
}

/// The bytes that are left of a packet, and what they are.
#[derive(Clone, Copy, Debug)]
struct Rest<'a> {
    layer: Layer,
    bytes: &'a [u8],
    /// Bytes that followed on the wire, `bytes` among them.
    wire_len: u32,
}

impl<'a> Rest<'a> {
    fn skip(self, length: usize, layer: Layer) -> Result<Self, Other> {
        let bytes = self.bytes.get(length..).ok_or(Other::Cut)?;
        Ok(Self { layer, bytes, wire_len: self.wire_len.saturating_sub(length as u32) })
    }

    fn u16(&self, at: usize) -> Result<u16, Other> {
        let bytes = self.bytes.get(at..at + 2).ok_or(Other::Cut)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }
}

/// A frame's contents.
#[derive(Clone, Copy, Debug)]
pub enum Held<'a> {
    /// A TCP segment.
    Tcp(Packet),
    Sctp(sctp::Packet<'a>),
}

/// Finds the TCP segment in a frame of link type `link` that was `wire_len` bytes long. `fragments` remembers the parts of
/// packets whose other parts are still to come.
///
/// # Errors
/// Why there is none.
pub fn packet(link: u32, bytes: &[u8], wire_len: u32, fragments: &mut Fragments) -> Result<Packet, Other> {
    match held(link, bytes, wire_len, fragments)? {
        Held::Tcp(packet) => Ok(packet),
        Held::Sctp(_) => Err(Other::NotTcp),
    }
}

/// Finds what a frame holds, as [`packet`] does.
///
/// # Errors
/// Why it is nothing to analyse.
#[inline(never)]
pub fn held<'a>(link: u32, bytes: &'a [u8], wire_len: u32, fragments: &mut Fragments) -> Result<Held<'a>, Other> {
    let mut rest = link::first(link, Rest { layer: Layer::Ip, bytes, wire_len })?;
    let mut tunnel = 0;
    for _ in 0..MOST_LAYERS {
        rest = match rest.layer {
            Layer::Ip | Layer::Ipv4 | Layer::Ipv6 => match ip::step(rest, &mut tunnel, fragments)? {
                ip::Step::Inside(inside) => inside,
                ip::Step::Tcp(packet) => return Ok(Held::Tcp(packet)),
                ip::Step::Sctp(packet) => return Ok(Held::Sctp(packet)),
            },
            _ => link::step(rest)?,
        };
    }
    Err(Other::Deep)
}

#[cfg(test)]
mod tests;
