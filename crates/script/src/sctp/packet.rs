//! Packets and ICMP messages, as scripts write them.

use super::item::Item;
use eifel_sctp::IcmpError;
use std::net::IpAddr;

/// A packet over SCTP, as scripts write it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Packet {
    /// The verification tag, if it is written.
    pub(crate) tag: Option<u32>,
    pub(crate) bad_checksum: bool,
    /// From and to, if they are written.
    pub(crate) addresses: Option<(IpAddr, IpAddr)>,
    pub(crate) body: Body,
}

/// The part behind the common header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Body {
    /// Chunks, and whether more may follow.
    Chunks(Vec<Item>, bool),
    Bytes(Vec<u8>),
}

/// An ICMP message about a packet of this end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Icmp {
    /// The verification tag of that packet.
    pub(crate) tag: u32,
    /// The packet's destination; `None` stands for the peer's first address.
    pub(crate) to: Option<IpAddr>,
    /// `None` if the message is ignored.
    pub(crate) error: Option<IcmpError>,
}
