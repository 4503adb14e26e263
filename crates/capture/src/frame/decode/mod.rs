//! Finds the TCP segment or SCTP packet in a frame, through link layers, IP with its fragments and
//! extension headers, and tunnels.
//!
//! A capture may hold only the first bytes of a packet, and a network card may fill in lengths and
//! checksums after the capture point. So this reader, unlike the one of `eifel-packet`, needs only
//! the bytes of the headers and checks no checksum.

pub(crate) mod common;
mod fragments;
mod icmp;
mod ip;
mod link;
pub mod sctp;
mod tcp;
mod wireless;

use core::fmt;

use eifel_packet::ip::Addresses;
use eifel_packet::segment::Segment;

pub use fragments::Fragments;
pub use icmp::TooBig;
pub(crate) use ip::plain;

/// Marks a network that VLAN tags name. Below it are the identifiers of the two innermost tags.
pub const VLAN: u32 = 1 << 31;

/// Returns the identifiers of a network's VLAN tags, the outer one first.
pub fn vlans(network: u32) -> impl Iterator<Item = u16> {
    let tags = if network & VLAN == 0 { 0 } else { network };
    [tags >> 12, tags].into_iter().map(|tag| tag as u16 & 0xfff).filter(|tag| *tag != 0)
}

/// Returns a network without its VLAN tags.
pub fn without_vlans(network: u32) -> u32 {
    if network & VLAN == 0 { network } else { 0 }
}

/// The most nested headers that are read: VLANs, labels, tunnels. Real networks use fewer.
const MOST_LAYERS: u32 = 16;

/// A captured TCP segment without the bytes of its payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Source and destination.
    pub addresses: Addresses,
    /// Identification of IPv4; 0 if unknown, as with IPv6.
    pub identification: u16,
    pub hop_limit: u8,
    /// Identifies the network: that of the innermost tunnel with a number (VXLAN's or Geneve's network,
    /// or GRE's key), or outside of tunnels that of its VLAN tags, with the flag [`VLAN`]. 0 without
    /// either.
    pub tunnel: u32,
    /// The TCP header, and the length of the payload according to IP.
    pub segment: Segment,
}

/// Why a frame is not analysed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Skipped {
    /// A protocol other than TCP and SCTP: ARP, UDP, ICMP and so on. An
    /// [`Analyzer`](crate::analysis::Analyzer) counts [`TooBig`] here too.
    NotTcp,
    /// A link type that this crate cannot read.
    Link(u32),
    /// The snapshot length cut the headers off.
    Cut,
    /// Contradictory headers.
    Malformed,
    /// A part of an IP packet that is still incomplete, or a part of a packet without TCP.
    Fragment,
    /// Too many nested headers.
    Deep,
    /// A block of the file that is no packet.
    NoPacket,
    /// A frame of IEEE 802.11 whose content is encrypted.
    Encrypted,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotTcp => f.write_str("neither TCP nor SCTP"),
            Self::Link(number) => match link::name(*number) {
                Some(name) => write!(f, "link type {number} ({name}) is not supported"),
                None => write!(f, "link type {number} is not supported"),
            },
            Self::NoPacket => f.write_str("custom or journal block of the file"),
            Self::Encrypted => f.write_str("encrypted by the wireless network"),
            Self::Cut => f.write_str("headers cut off by the snapshot length"),
            Self::Malformed => f.write_str("malformed headers"),
            Self::Fragment => f.write_str("IP fragment"),
            Self::Deep => f.write_str("too many nested headers"),
        }
    }
}

/// The kind of the next header in a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Layer {
    Ethernet,
    /// IEEE 802.11.
    Wireless,
    /// Frame Relay (RFC 2427).
    FrameRelay,
    /// The protocol that an EtherType names.
    Type(u16),
    /// The protocol that a PPP protocol number names.
    Ppp,
    /// IEEE 802.2.
    Llc,
    /// IP of either version, determined by its first four bits.
    Ip,
    Ipv4,
    Ipv6,
}

/// The remaining bytes of a packet, and their kind.
#[derive(Clone, Copy, Debug)]
struct Rest<'a> {
    layer: Layer,
    bytes: &'a [u8],
    /// Length of the remaining bytes on the wire, including those not captured.
    wire_len: u32,
}

impl<'a> Rest<'a> {
    fn skip(self, length: usize, layer: Layer) -> Result<Self, Skipped> {
        let bytes = self.bytes.get(length..).ok_or(Skipped::Cut)?;
        Ok(Self { layer, bytes, wire_len: self.wire_len.saturating_sub(length as u32) })
    }

    fn u16(&self, at: usize) -> Result<u16, Skipped> {
        let bytes = self.bytes.get(at..at + 2).ok_or(Skipped::Cut)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    Tcp(Packet),
    Sctp(sctp::Packet<'a>),
    /// A report about a TCP segment.
    TooBig(TooBig),
}

/// Finds the TCP segment in a frame of link type `link` and length `wire_len` on the wire.
/// `fragments` remembers incomplete IP packets.
///
/// # Errors
/// Returns why there is no segment.
pub fn packet(link: u32, bytes: &[u8], wire_len: u32, fragments: &mut Fragments) -> Result<Packet, Skipped> {
    match content(link, bytes, wire_len, fragments)? {
        Content::Tcp(packet) => Ok(packet),
        Content::Sctp(_) | Content::TooBig(_) => Err(Skipped::NotTcp),
    }
}

/// Finds the packet in a frame, as [`packet`] does.
///
/// # Errors
/// Returns why there is no packet to analyse.
#[inline(never)]
pub fn content<'a>(
    link: u32,
    bytes: &'a [u8],
    wire_len: u32,
    fragments: &mut Fragments,
) -> Result<Content<'a>, Skipped> {
    let mut rest = link::first(link, Rest { layer: Layer::Ip, bytes, wire_len })?;
    let (mut tunnel, mut tags, mut outer) = (0, 0, None);
    for _ in 0..MOST_LAYERS {
        rest = match rest.layer {
            Layer::Ip | Layer::Ipv4 | Layer::Ipv6 => match ip::step(rest, (&mut tunnel, &mut outer), fragments)? {
                ip::Step::Inside(inside) => {
                    tags = 0;
                    inside
                }
                ip::Step::Tcp(packet) => {
                    let packet = Packet { tunnel: network(packet.tunnel, tags), ..packet };
                    let Some((addresses, part)) = outer else { return Ok(Content::Tcp(packet)) };
                    return fragments
                        .take_tunnelled(&addresses, part, packet)
                        .map(Content::Tcp)
                        .ok_or(Skipped::Fragment);
                }
                // Verification tags distinguish associations.
                ip::Step::Sctp(packet) => return Ok(Content::Sctp(packet)),
                ip::Step::TooBig(message) => {
                    return Ok(Content::TooBig(TooBig { tunnel: network(message.tunnel, tags), ..message }));
                }
            },
            _ => link::step(rest, &mut tags)?,
        };
    }
    Err(Skipped::Deep)
}

/// The link type of packets that begin with an LLC header.
const LLC: u32 = 11;

/// Finds the packets in a frame, as [`content`] does, and calls `take` for each: a wireless network puts
/// several into one.
pub fn each<'a>(
    link: u32,
    bytes: &'a [u8],
    wire_len: u32,
    fragments: &mut Fragments,
    mut take: impl FnMut(Result<Content<'a>, Skipped>),
) {
    take(content(link, bytes, wire_len, fragments));
    for (bytes, wire_len) in wireless::others(link, Rest { layer: Layer::Wireless, bytes, wire_len }) {
        take(content(LLC, bytes, wire_len, fragments));
    }
}

/// Returns the network of a packet in a tunnel, or behind VLAN tags.
fn network(tunnel: u32, tags: u32) -> u32 {
    if tunnel == 0 && tags != 0 { VLAN | tags & 0xff_ffff } else { tunnel }
}

#[cfg(test)]
mod tests;
