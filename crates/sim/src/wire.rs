//! Segments as bytes, for captures and for runs that carry every segment as bytes.

use crate::pattern;
use eifel_packet::datagram;
use eifel_packet::ip::{Addresses, Header, Version};
use eifel_packet::segment::Segment;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Returns the addresses of two nodes. They are private: from 10.0.0.1 on for IPv4, and from
/// fd00::1 on for IPv6 (RFC 4193).
pub fn addresses(ip: Version, (from, to): (u16, u16)) -> Addresses {
    let four = |node: u16| Ipv4Addr::from_bits(0x0a00_0001 + u32::from(node));
    let six = |node: u16| Ipv6Addr::from_bits((0xfd << 120) + 1 + u128::from(node));
    match ip {
        Version::V4 => Addresses::V4 { source: four(from), destination: four(to) },
        Version::V6 => Addresses::V6 { source: six(from), destination: six(to) },
    }
}

/// Returns the bytes of a segment from one node to another. If `payload` is `None`, the segment
/// carries the pattern at `offset`.
///
/// # Panics
/// Panics when a connection made a segment that no packet can carry.
pub fn bytes(ip: Version, segment: &Segment, path: (u16, u16), offset: u64, payload: Option<&[u8]>) -> Vec<u8> {
    let made;
    let payload = match payload {
        Some(payload) => payload,
        None => {
            made = pattern::bytes(offset, segment.payload_len as usize);
            &made
        }
    };
    let mut bytes = Vec::with_capacity(payload.len() + 80);
    if let Err(error) = datagram::emit(&Header::new(addresses(ip, path)), segment, payload, &mut bytes) {
        panic!("a connection made a segment that does not fit a packet: {error}");
    }
    bytes
}

/// Reads the segment and payload from bytes that [`bytes`] made.
///
/// # Panics
/// Panics when the bytes cannot be parsed.
pub fn read(bytes: &[u8]) -> (Segment, &[u8]) {
    match datagram::parse(bytes) {
        Ok((_, segment, payload)) => (segment, payload),
        Err(error) => panic!("a segment's own bytes cannot be read: {error}"),
    }
}
