//! The IPv6 header (RFC 8200, section 3) and the extension headers that may follow it (section 4).

use core::net::Ipv6Addr;

use crate::error::Error;
use crate::ip::{Addresses, Header, Packet};

/// Bytes of the fixed header.
pub(crate) const HEADER_LEN: usize = 40;
const NEXT_HEADER_OFFSET: usize = 6;
/// Longer chains of extension headers are refused. Real packets have one or two, and each header
/// costs time.
const EXTENSION_LIMIT: usize = 8;

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION: u8 = 60;
const MOBILITY: u8 = 135;
const HOST_IDENTITY: u8 = 139;
const SHIM6: u8 = 140;

pub(crate) fn emit(
    header: &Header,
    (source, destination): (Ipv6Addr, Ipv6Addr),
    (protocol, payload_len): (u8, usize),
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let Ok(length) = u16::try_from(payload_len) else {
        return Err(Error::TooLong { what: "payload of IPv6", limit: usize::from(u16::MAX), found: payload_len });
    };
    let mut fixed = [0; HEADER_LEN];
    fixed[..4].copy_from_slice(&(6 << 28 | u32::from(header.traffic_class) << 20).to_be_bytes());
    fixed[4..6].copy_from_slice(&length.to_be_bytes());
    fixed[6..8].copy_from_slice(&[protocol, header.hop_limit]);
    fixed[8..24].copy_from_slice(&source.octets());
    fixed[24..].copy_from_slice(&destination.octets());
    out.extend_from_slice(&fixed);
    Ok(())
}

pub(crate) fn parse(bytes: &[u8]) -> Result<Packet<'_>, Error> {
    let truncated = |what, expected| Error::Truncated { what, offset: 0, expected, found: bytes.len() };
    let Some((fixed, _)) = bytes.split_first_chunk::<HEADER_LEN>() else {
        return Err(truncated("IPv6 header", HEADER_LEN));
    };
    let [v, class, _, _, high, low, next, hop_limit, addresses @ ..] = *fixed;
    let end = HEADER_LEN + usize::from(u16::from_be_bytes([high, low]));
    let Some(packet) = bytes.get(..end) else {
        return Err(truncated("IPv6 packet", end));
    };
    let Last { protocol, protocol_offset, offset } = skip_extensions(packet, next)?;
    let (source, destination) = halves(addresses);
    let header = Header {
        addresses: Addresses::V6 { source: source.into(), destination: destination.into() },
        traffic_class: v << 4 | class >> 4,
        hop_limit,
        identification: 0,
    };
    Ok(Packet { header, protocol, protocol_offset, offset, payload: packet.get(offset..).unwrap_or_default() })
}

fn halves(addresses: [u8; 32]) -> ([u8; 16], [u8; 16]) {
    let (mut source, mut destination) = ([0; 16], [0; 16]);
    source.copy_from_slice(&addresses[..16]);
    destination.copy_from_slice(&addresses[16..]);
    (source, destination)
}

/// The payload after the last extension header.
struct Last {
    protocol: u8,
    protocol_offset: usize,
    /// Offset of the payload, at most the packet's length.
    offset: usize,
}

fn skip_extensions(packet: &[u8], first: u8) -> Result<Last, Error> {
    let mut kind = first;
    let mut kind_offset = NEXT_HEADER_OFFSET;
    let mut offset = HEADER_LEN;
    for _ in 0..=EXTENSION_LIMIT {
        if !is_extension(kind) {
            return Ok(Last { protocol: kind, protocol_offset: kind_offset, offset });
        }
        let left = packet.get(offset..).unwrap_or_default();
        let truncated =
            |expected| Error::Truncated { what: "IPv6 extension header", offset, expected, found: left.len() };
        // No extension header is shorter than 8 bytes.
        let Some(start) = left.first_chunk::<8>() else { return Err(truncated(8)) };
        let len = match kind {
            FRAGMENT => 8,
            // RFC 4302, section 2.2: the length counts words of 4 bytes, minus 2.
            AUTHENTICATION => (usize::from(start[1]) + 2) * 4,
            _ => (usize::from(start[1]) + 1) * 8,
        };
        if left.len() < len {
            return Err(truncated(len));
        }
        // An atomic fragment (RFC 6946) has offset 0 and no more fragments, so it is a whole
        // packet.
        if kind == FRAGMENT && u16::from_be_bytes([start[2], start[3]]) & 0xfff9 != 0 {
            return Err(Error::Fragment { offset });
        }
        // While segments are left, the checksum covers the final destination, which the IP header
        // does not name yet (RFC 8200, section 8.1).
        if kind == ROUTING && start[3] != 0 {
            let found = u32::from(start[3]);
            let what = "segments left in IPv6 routing header";
            return Err(Error::Invalid { what, offset: offset + 3, expected: "0 (at the destination)", found });
        }
        kind = start[0];
        kind_offset = offset;
        offset += len;
    }
    let found = EXTENSION_LIMIT as u32 + 1;
    Err(Error::Invalid { what: "number of IPv6 extension headers", offset, expected: "at most 8", found })
}

const fn is_extension(kind: u8) -> bool {
    matches!(kind, HOP_BY_HOP | ROUTING | FRAGMENT | AUTHENTICATION | DESTINATION | MOBILITY | HOST_IDENTITY | SHIM6)
}
