//! The IP header of a packet, IPv4 or IPv6.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::checksum::Sum;
use crate::error::Error;
use crate::{ipv4, ipv6};

/// A version of IP.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Version {
    /// IPv4 (RFC 791).
    V4,
    /// IPv6 (RFC 8200).
    V6,
}

impl Version {
    /// Returns the bytes of the header that [`emit`] writes: 20 or 40.
    pub const fn header_len(self) -> u32 {
        match self {
            Self::V4 => ipv4::HEADER_LEN as u32,
            Self::V6 => ipv6::HEADER_LEN as u32,
        }
    }
}

/// The ECN field of an IP header (RFC 3168, section 5).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable: congestion drops the packet.
    #[default]
    NotEct = 0,
    /// ECN-capable. Use beside [`Ect0`](Self::Ect0) is reserved for experiments (RFC 8311).
    Ect1 = 1,
    /// ECN-capable.
    Ect0 = 2,
    /// Congestion experienced.
    Ce = 3,
}

impl Ecn {
    /// Reads the ECN field from the lower two bits of a traffic class.
    pub const fn of(traffic_class: u8) -> Self {
        match traffic_class & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// Returns whether a queue may mark the packet instead of dropping it.
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}

/// Writes the ECN field of a packet, and corrects the IPv4 header checksum.
///
/// # Panics
/// If `packet` does not contain a whole header.
pub fn remark(packet: &mut [u8], ecn: Ecn) {
    if packet[0] >> 4 == 4 {
        packet[1] = packet[1] & !3 | ecn as u8;
        ipv4::correct_checksum(packet);
    } else {
        packet[1] = packet[1] & !0x30 | (ecn as u8) << 4;
    }
}

/// Sender and receiver of a packet, in one version of IP.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Addresses {
    V4 { source: Ipv4Addr, destination: Ipv4Addr },
    V6 { source: Ipv6Addr, destination: Ipv6Addr },
}

impl Addresses {
    /// Combines two addresses. Returns `None` if their versions differ.
    pub const fn new(source: IpAddr, destination: IpAddr) -> Option<Self> {
        match (source, destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => Some(Self::V4 { source, destination }),
            (IpAddr::V6(source), IpAddr::V6(destination)) => Some(Self::V6 { source, destination }),
            _ => None,
        }
    }

    /// Swaps sender and receiver.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::V4 { source, destination } => Self::V4 { source: destination, destination: source },
            Self::V6 { source, destination } => Self::V6 { source: destination, destination: source },
        }
    }

    /// Returns the sender.
    pub const fn source(&self) -> IpAddr {
        match self {
            Self::V4 { source, .. } => IpAddr::V4(*source),
            Self::V6 { source, .. } => IpAddr::V6(*source),
        }
    }

    /// Returns the receiver.
    pub const fn destination(&self) -> IpAddr {
        match self {
            Self::V4 { destination, .. } => IpAddr::V4(*destination),
            Self::V6 { destination, .. } => IpAddr::V6(*destination),
        }
    }

    /// Returns the sum of the pseudo-header of TCP and UDP: RFC 9293, section 3.1 for IPv4, and RFC
    /// 8200, section 8.1 for IPv6. The order of the words does not change the sum.
    pub(crate) fn pseudo_header(&self, protocol: u8, len: u32) -> Sum {
        let sum = Sum::default().word(u16::from(protocol)).double_word(len);
        match self {
            Self::V4 { source, destination } => sum.double_word(source.to_bits()).double_word(destination.to_bits()),
            Self::V6 { source, destination } => sum.bytes(&source.octets()).bytes(&destination.octets()),
        }
    }

    /// Returns the version of IP of both addresses.
    pub const fn version(&self) -> Version {
        match self {
            Self::V4 { .. } => Version::V4,
            Self::V6 { .. } => Version::V6,
        }
    }
}

/// The fields of an IP header that this stack uses. Readers skip IPv4 options, IPv6 extension
/// headers and the flow label. Writers leave out options and extension headers, and set the label
/// to 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Header {
    pub addresses: Addresses,
    /// DSCP in the upper six bits (RFC 2474), ECN in the lower two (RFC 3168).
    pub traffic_class: u8,
    /// Hops left: the time to live of IPv4, the hop limit of IPv6.
    pub hop_limit: u8,
    /// Identification field of IPv4. It lets a reader of captures tell a packet duplicated in the
    /// network from a retransmission. IPv6 has none: it is read as 0.
    pub identification: u16,
}

impl Header {
    /// Makes a header with a hop limit of 64 and all other fields 0.
    pub const fn new(addresses: Addresses) -> Self {
        Self { addresses, traffic_class: 0, hop_limit: 64, identification: 0 }
    }
}

/// A parsed IP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    pub header: Header,
    /// The protocol of the payload: 6 is TCP, 17 UDP, 132 SCTP.
    pub protocol: u8,
    /// Offset of the byte that names the protocol, in the header or in the last extension header.
    pub protocol_offset: usize,
    /// Offset of the payload from the start of the packet.
    pub offset: usize,
    /// The payload, without the link's padding.
    pub payload: &'a [u8],
}

/// Appends the header of a packet that will carry `payload_len` bytes of `protocol`. An IPv4 header
/// has DF set, as path MTU discovery requires.
///
/// # Errors
/// [`Error::TooLong`], with nothing written, when the packet's length does not fit its 16-bit field.
pub fn emit(header: &Header, protocol: u8, payload_len: usize, out: &mut Vec<u8>) -> Result<(), Error> {
    match header.addresses {
        Addresses::V4 { source, destination } => {
            ipv4::emit(header, (source, destination), (protocol, payload_len), out)
        }
        Addresses::V6 { source, destination } => {
            ipv6::emit(header, (source, destination), (protocol, payload_len), out)
        }
    }
}

/// Reads an IP packet of either version.
///
/// # Errors
/// [`Error::Truncated`] if the header, or the payload that it announces, is cut off.
/// [`Error::Invalid`] for another version and for lengths that contradict each other.
/// [`Error::Checksum`] for a wrong IPv4 header checksum. [`Error::Fragment`] for a fragment of a
/// larger packet.
pub fn parse(bytes: &[u8]) -> Result<Packet<'_>, Error> {
    match bytes.first().map(|byte| byte >> 4) {
        Some(4) => ipv4::parse(bytes),
        Some(6) => ipv6::parse(bytes),
        Some(version) => {
            Err(Error::Invalid { what: "IP version", offset: 0, expected: "4 or 6", found: u32::from(version) })
        }
        None => Err(Error::Truncated { what: "IP header", offset: 0, expected: ipv4::HEADER_LEN, found: 0 }),
    }
}
