//! The IP header of a packet, of either version.

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
    /// Bytes of the header that [`emit`] writes: 20 or 40.
    pub const fn header_len(self) -> u32 {
        match self {
            Self::V4 => ipv4::HEADER_LEN as u32,
            Self::V6 => ipv6::HEADER_LEN as u32,
        }
    }
}

/// Where a packet comes from and where it goes; both in one version of IP.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Addresses {
    /// Over IPv4.
    V4 {
        /// The sender.
        source: Ipv4Addr,
        /// The receiver.
        destination: Ipv4Addr,
    },
    /// Over IPv6.
    V6 {
        /// The sender.
        source: Ipv6Addr,
        /// The receiver.
        destination: Ipv6Addr,
    },
}

impl Addresses {
    /// `None` where the versions differ.
    pub const fn new(source: IpAddr, destination: IpAddr) -> Option<Self> {
        match (source, destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => Some(Self::V4 { source, destination }),
            (IpAddr::V6(source), IpAddr::V6(destination)) => Some(Self::V6 { source, destination }),
            _ => None,
        }
    }

    /// The way back.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::V4 { source, destination } => Self::V4 { source: destination, destination: source },
            Self::V6 { source, destination } => Self::V6 { source: destination, destination: source },
        }
    }

    /// The sender.
    pub const fn source(&self) -> IpAddr {
        match self {
            Self::V4 { source, .. } => IpAddr::V4(*source),
            Self::V6 { source, .. } => IpAddr::V6(*source),
        }
    }

    /// The receiver.
    pub const fn destination(&self) -> IpAddr {
        match self {
            Self::V4 { destination, .. } => IpAddr::V4(*destination),
            Self::V6 { destination, .. } => IpAddr::V6(*destination),
        }
    }

    /// The pseudo-header that TCP and UDP put into their checksums: RFC 9293, section 3.1 for IPv4, and RFC 8200, section
    /// 8.1 for IPv6. The words differ in order only, and their sum not at all.
    pub(crate) fn pseudo_header(&self, protocol: u8, len: u32) -> Sum {
        let sum = Sum::default().word(u16::from(protocol)).double_word(len);
        match self {
            Self::V4 { source, destination } => sum.double_word(source.to_bits()).double_word(destination.to_bits()),
            Self::V6 { source, destination } => sum.bytes(&source.octets()).bytes(&destination.octets()),
        }
    }

    /// The version of IP that both belong to.
    pub const fn version(&self) -> Version {
        match self {
            Self::V4 { .. } => Version::V4,
            Self::V6 { .. } => Version::V6,
        }
    }
}

/// What this stack cares for in an IP header. IPv4 options, IPv6 extension headers and the IPv6 flow label are not
/// kept: none are written (the label as 0), and they are skipped in reading.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Header {
    /// From where to where.
    pub addresses: Addresses,
    /// DSCP in the upper six bits (RFC 2474), ECN in the lower two (RFC 3168).
    pub traffic_class: u8,
    /// Hops left: the time to live of IPv4, the hop limit of IPv6.
    pub hop_limit: u8,
    /// The identification field of IPv4, by which a reader of captures can tell a network's duplicate from a
    /// retransmission. IPv6 has none: it is not written there, and read as 0.
    pub identification: u16,
}

impl Header {
    /// A header with 64 hops left, and all else 0.
    pub const fn new(addresses: Addresses) -> Self {
        Self { addresses, traffic_class: 0, hop_limit: 64, identification: 0 }
    }
}

/// An IP packet as read: its header, and what it carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    /// The header.
    pub header: Header,
    /// The protocol of the payload: 6 is TCP, 17 UDP, 132 SCTP.
    pub protocol: u8,
    /// Where the byte stands that names the protocol: in the header, or in the last extension header.
    pub protocol_offset: usize,
    /// Where the payload starts in the bytes that were read.
    pub offset: usize,
    /// What the header carries, as long as the header says; padding of the link behind it is left out.
    pub payload: &'a [u8],
}

/// Appends the header of a packet that will carry `payload_len` bytes of `protocol`. An IPv4 packet forbids
/// fragmentation (DF), as path MTU discovery wants.
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
/// [`Error::Truncated`] when the header or the payload that it announces is cut off, [`Error::Invalid`] for another
/// version and for lengths that contradict each other, [`Error::Checksum`] for a wrong IPv4 header checksum, and
/// [`Error::Fragment`] for a part of a larger packet.
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
