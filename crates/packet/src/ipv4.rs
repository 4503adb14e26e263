//! The IPv4 header (RFC 791, section 3.1).

use core::net::Ipv4Addr;

use crate::checksum::Sum;
use crate::error::Error;
use crate::ip::{Addresses, Header, Packet};

/// Bytes of a header without options.
pub(crate) const HEADER_LEN: usize = 20;

const PROTOCOL_OFFSET: usize = 9;
const CHECKSUM_OFFSET: usize = 10;
const DO_NOT_FRAGMENT: u16 = 0x4000;
/// The MF bit and the fragment offset.
const FRAGMENTED: u16 = 0x3fff;

pub(crate) fn emit(
    header: &Header,
    (source, destination): (Ipv4Addr, Ipv4Addr),
    (protocol, payload_len): (u8, usize),
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let limit = usize::from(u16::MAX) - HEADER_LEN;
    let total_len = match u16::try_from(payload_len) {
        Ok(len) if payload_len <= limit => len + HEADER_LEN as u16,
        _ => return Err(Error::TooLong { what: "payload of IPv4", limit, found: payload_len }),
    };
    // One write of the whole header: field by field, the vector would grow each time.
    let mut fixed = [0; HEADER_LEN];
    fixed[..2].copy_from_slice(&[0x45, header.traffic_class]);
    fixed[2..4].copy_from_slice(&total_len.to_be_bytes());
    fixed[4..6].copy_from_slice(&header.identification.to_be_bytes());
    fixed[6..8].copy_from_slice(&DO_NOT_FRAGMENT.to_be_bytes());
    fixed[8..10].copy_from_slice(&[header.hop_limit, protocol]);
    fixed[12..16].copy_from_slice(&source.octets());
    fixed[16..].copy_from_slice(&destination.octets());
    let checksum = Sum::default().bytes(&fixed).finish();
    fixed[CHECKSUM_OFFSET..][..2].copy_from_slice(&checksum.to_be_bytes());
    out.extend_from_slice(&fixed);
    Ok(())
}

/// Recomputes the header checksum. The header may have options.
pub(crate) fn correct_checksum(packet: &mut [u8]) {
    packet[CHECKSUM_OFFSET..][..2].fill(0);
    let header = usize::from(packet[0] & 0x0f) * 4;
    let checksum = Sum::default().bytes(&packet[..header]).finish();
    packet[CHECKSUM_OFFSET..][..2].copy_from_slice(&checksum.to_be_bytes());
}

pub(crate) fn parse(bytes: &[u8]) -> Result<Packet<'_>, Error> {
    let truncated = |what, expected| Error::Truncated { what, offset: 0, expected, found: bytes.len() };
    let invalid = |what, offset, expected, found| Error::Invalid { what, offset, expected, found };
    let Some(fixed) = bytes.first_chunk::<HEADER_LEN>() else {
        return Err(truncated("IPv4 header", HEADER_LEN));
    };
    let words = fixed[0] & 0x0f;
    if words < 5 {
        return Err(invalid("IPv4 header length", 0, "at least 5 words", u32::from(words)));
    }
    let header_len = usize::from(words) * 4;
    let Some(whole_header) = bytes.get(..header_len) else {
        return Err(truncated("IPv4 header", header_len));
    };
    let sum = Sum::default().bytes(whole_header);
    if sum.finish() != 0 {
        let found = u16::from_be_bytes([fixed[CHECKSUM_OFFSET], fixed[CHECKSUM_OFFSET + 1]]);
        let expected = sum.word(!found).finish();
        return Err(Error::Checksum { what: "IPv4", offset: CHECKSUM_OFFSET, expected, found });
    }
    let total_len = u16::from_be_bytes([fixed[2], fixed[3]]);
    if usize::from(total_len) < header_len {
        return Err(invalid("IPv4 total length", 2, "at least the header's length", u32::from(total_len)));
    }
    let Some(payload) = bytes.get(header_len..usize::from(total_len)) else {
        return Err(truncated("IPv4 packet", usize::from(total_len)));
    };
    if u16::from_be_bytes([fixed[6], fixed[7]]) & FRAGMENTED != 0 {
        return Err(Error::Fragment { offset: 6 });
    }
    let header = Header {
        addresses: Addresses::V4 {
            source: Ipv4Addr::new(fixed[12], fixed[13], fixed[14], fixed[15]),
            destination: Ipv4Addr::new(fixed[16], fixed[17], fixed[18], fixed[19]),
        },
        traffic_class: fixed[1],
        hop_limit: fixed[8],
        identification: u16::from_be_bytes([fixed[4], fixed[5]]),
    };
    let protocol = fixed[PROTOCOL_OFFSET];
    Ok(Packet { header, protocol, protocol_offset: PROTOCOL_OFFSET, offset: header_len, payload })
}
