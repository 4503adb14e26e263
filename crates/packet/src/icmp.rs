//! ICMP errors about a host's packets (RFC 792 over IPv4, RFC 4443 over IPv6).

use core::net::{Ipv4Addr, Ipv6Addr};

use crate::checksum::Sum;
use crate::error::Error;
use crate::ip::{Addresses, Header, Packet, Version};
use crate::seq::Seq;
use crate::{ip, ipv4, ipv6, tcp};

/// The protocol number of ICMP in an IPv4 header.
pub const PROTOCOL_V4: u8 = 1;
/// The protocol number of ICMP in an IPv6 header.
pub const PROTOCOL_V6: u8 = 58;

/// Bytes of the message before the packet that it quotes.
const HEADER_LEN: usize = 8;
const CHECKSUM_OFFSET: usize = 2;
/// Messages of these types quote a packet: destination unreachable, source quench, time exceeded, parameter problem.
const ERRORS_V4: [u8; 4] = [3, 4, 11, 12];
/// The types below this one are errors (RFC 4443, section 2.1).
const FIRST_INFORMATIONAL_V6: u8 = 128;

/// An ICMP error and the segment that it quotes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ErrorMessage {
    /// The IP version. It decides how `kind` and `code` are read.
    pub version: Version,
    pub kind: u8,
    pub code: u8,
    /// The MTU, in a "too big" message. In other messages, the raw content of that field.
    pub mtu: u32,
    /// Source and destination of the quoted segment.
    pub addresses: Addresses,
    pub source_port: u16,
    pub destination_port: u16,
    pub seq: Seq,
}

/// An ICMP error and the packet that it quotes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quotation<'a> {
    /// The IP version. It decides how `kind` and `code` are read.
    pub version: Version,
    pub kind: u8,
    pub code: u8,
    /// The MTU, in a "too big" message. In other messages, the raw content of that field.
    pub mtu: u32,
    /// Source and destination of the quoted packet.
    pub addresses: Addresses,
    /// The protocol that the quoted packet carries.
    pub protocol: u8,
    /// The beginning of what it carries.
    pub payload: &'a [u8],
}

/// Reads a packet's ICMP message. Returns `None` if the message is not an error, or does not quote
/// the beginning of a TCP segment.
///
/// # Errors
/// [`Error::Truncated`] for a message without a whole header, [`Error::Checksum`] for a wrong checksum.
pub fn parse(packet: &Packet<'_>) -> Result<Option<ErrorMessage>, Error> {
    Ok(quotation(packet)?.and_then(|quoted| {
        let start = quoted.payload.first_chunk::<8>().filter(|_| quoted.protocol == tcp::PROTOCOL)?;
        let Quotation { version, kind, code, mtu, addresses, .. } = quoted;
        Some(ErrorMessage {
            version,
            kind,
            code,
            mtu,
            addresses,
            source_port: u16::from_be_bytes([start[0], start[1]]),
            destination_port: u16::from_be_bytes([start[2], start[3]]),
            seq: Seq(u32::from_be_bytes([start[4], start[5], start[6], start[7]])),
        })
    }))
}

/// Reads a packet's ICMP message. Returns `None` if the message is not an error, or does not quote
/// a whole IP header.
///
/// # Errors
/// Those of [`parse`].
pub fn quotation<'a>(packet: &Packet<'a>) -> Result<Option<Quotation<'a>>, Error> {
    let bytes = packet.payload;
    let Some((header, quoted)) = bytes.split_first_chunk::<HEADER_LEN>() else {
        let (offset, expected, found) = (packet.offset, HEADER_LEN, bytes.len());
        return Err(Error::Truncated { what: "ICMP header", offset, expected, found });
    };
    let addresses = &packet.header.addresses;
    let version = addresses.version();
    let sum = match version {
        Version::V4 => Sum::default(),
        Version::V6 => addresses.pseudo_header(PROTOCOL_V6, bytes.len() as u32),
    };
    let sum = sum.bytes(bytes);
    let [kind, code, high, low, rest @ ..] = *header;
    if sum.finish() != 0 {
        let found = u16::from_be_bytes([high, low]);
        let (offset, expected) = (packet.offset + CHECKSUM_OFFSET, sum.word(!found).finish());
        return Err(Error::Checksum { what: "ICMP", offset, expected, found });
    }
    let (is_error, mtu) = match version {
        Version::V4 => (ERRORS_V4.contains(&kind), u32::from(u16::from_be_bytes([rest[2], rest[3]]))),
        Version::V6 => (kind < FIRST_INFORMATIONAL_V6, u32::from_be_bytes(rest)),
    };
    let quoted = if is_error { quoted_packet(quoted, version) } else { None };
    let message = |(addresses, protocol, payload)| Quotation { version, kind, code, mtu, addresses, protocol, payload };
    Ok(quoted.map(message))
}

/// Appends a router's message that a packet is too big for the next link, whose MTU is `mtu` bytes.
/// `header` is the message's own. `quoted` is the packet from its IP header on, and may be cut off.
///
/// # Errors
/// [`Error::TooLong`], with nothing written, when the message's length does not fit its 16-bit field.
pub fn emit_too_big(header: &Header, mtu: u32, quoted: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    let len = HEADER_LEN + quoted.len();
    let (protocol, kind, sum) = match header.addresses.version() {
        Version::V4 => (PROTOCOL_V4, [3, 4], Sum::default()),
        Version::V6 => (PROTOCOL_V6, [2, 0], header.addresses.pseudo_header(PROTOCOL_V6, len as u32)),
    };
    ip::emit(header, protocol, len, out)?;
    let kind = u16::from_be_bytes(kind);
    let checksum = sum.word(kind).double_word(mtu).bytes(quoted).finish();
    out.extend(kind.to_be_bytes());
    out.extend(checksum.to_be_bytes());
    out.extend(mtu.to_be_bytes());
    out.extend(quoted);
    Ok(())
}

/// Returns addresses, protocol and payload of a quoted packet. The payload may be cut off, so lengths
/// and checksums are not checked.
fn quoted_packet(quoted: &[u8], version: Version) -> Option<(Addresses, u8, &[u8])> {
    let (addresses, protocol, header_len) = match version {
        Version::V4 => {
            let fixed = quoted.first_chunk::<{ ipv4::HEADER_LEN }>().filter(|fixed| fixed[0] >> 4 == 4)?;
            let address = |at: usize| Ipv4Addr::new(fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]);
            let addresses = Addresses::V4 { source: address(12), destination: address(16) };
            (addresses, fixed[9], usize::from(fixed[0] & 0x0f) * 4)
        }
        Version::V6 => {
            let fixed = quoted.first_chunk::<{ ipv6::HEADER_LEN }>().filter(|fixed| fixed[0] >> 4 == 6)?;
            let address = |at: usize| fixed[at..].first_chunk::<16>().map(|octets| Ipv6Addr::from(*octets));
            let addresses = Addresses::V6 { source: address(8)?, destination: address(24)? };
            (addresses, fixed[6], ipv6::HEADER_LEN)
        }
    };
    let payload = quoted.get(header_len..).filter(|_| header_len >= ipv4::HEADER_LEN)?;
    Some((addresses, protocol, payload))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a message from router 10.0.0.9 to 10.0.0.1: segment 4660 -> 80 with sequence number
    /// 7 needs fragments of 1400 bytes. The quotation is cut by `cut` bytes.
    fn too_big(cut: usize) -> Vec<u8> {
        quoting(|quoted| quoted.truncate(quoted.len() - cut))
    }

    /// Returns the message of [`too_big`], uncut, after applying `change` to the quotation.
    fn quoting(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut quoted = vec![0x45, 0, 5, 220, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        quoted.extend([0x12, 0x34, 0, 80, 0, 0, 0, 7]);
        change(&mut quoted);
        let mut message = vec![3, 4, 0, 0, 0, 0, 0x05, 0x78];
        message.extend(&quoted);
        let checksum = Sum::default().bytes(&message).finish();
        message[2..4].copy_from_slice(&checksum.to_be_bytes());
        let addresses = Addresses::V4 { source: [10, 0, 0, 9].into(), destination: [10, 0, 0, 1].into() };
        let (mut bytes, mut emitted) = (Vec::new(), Vec::new());
        ip::emit(&Header::new(addresses), PROTOCOL_V4, message.len(), &mut bytes).unwrap();
        bytes.extend(message);
        emit_too_big(&Header::new(addresses), 1400, &quoted, &mut emitted).unwrap();
        assert_eq!(emitted, bytes);
        bytes
    }

    #[test]
    fn an_error_message_names_its_segment() {
        let bytes = too_big(0);
        let complaint = parse(&ip::parse(&bytes).unwrap()).unwrap().unwrap();
        assert_eq!((complaint.version, complaint.kind, complaint.code, complaint.mtu), (Version::V4, 3, 4, 1400));
        let addresses = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() };
        assert_eq!(complaint.addresses, addresses);
        assert_eq!((complaint.source_port, complaint.destination_port, complaint.seq), (0x1234, 80, Seq(7)));
    }

    #[test]
    fn a_message_that_is_cut_off_or_damaged_is_refused() {
        for cut in 1..28 {
            let bytes = too_big(cut);
            assert_eq!(parse(&ip::parse(&bytes).unwrap()).unwrap(), None, "{cut}");
        }
        let mut bytes = too_big(0);
        bytes[27] ^= 1;
        assert!(matches!(parse(&ip::parse(&bytes).unwrap()), Err(Error::Checksum { what: "ICMP", offset: 22, .. })));
    }

    #[test]
    fn only_a_segment_behind_a_whole_header_is_quoted() {
        let asked = |place: usize, byte: u8| {
            let bytes = quoting(|quoted| quoted[place] = byte);
            parse(&ip::parse(&bytes).unwrap()).unwrap().is_some()
        };
        assert!(asked(9, 6));
        // UDP, then a header of 16 bytes, below the minimum of 20.
        assert_eq!([asked(9, 17), asked(0, 0x44)], [false; 2]);
    }

    #[test]
    fn over_ipv6_the_addresses_are_in_the_sum() {
        let addresses = Addresses::V6 { source: "fd00::9".parse().unwrap(), destination: "fd00::1".parse().unwrap() };
        let own = Addresses::V6 { source: "fd00::1".parse().unwrap(), destination: "fd00::2".parse().unwrap() };
        let mut quoted = Vec::new();
        ip::emit(&Header::new(own), tcp::PROTOCOL, 20, &mut quoted).unwrap();
        quoted.extend([0x12, 0x34, 0, 80, 0, 0, 0, 7]);
        let mut message = vec![2, 0, 0, 0, 0, 0, 0x05, 0x78];
        message.extend(&quoted);
        let checksum = addresses.pseudo_header(PROTOCOL_V6, message.len() as u32).bytes(&message).finish();
        message[2..4].copy_from_slice(&checksum.to_be_bytes());
        let (mut bytes, mut emitted) = (Vec::new(), Vec::new());
        ip::emit(&Header::new(addresses), PROTOCOL_V6, message.len(), &mut bytes).unwrap();
        bytes.extend(message);
        emit_too_big(&Header::new(addresses), 1400, &quoted, &mut emitted).unwrap();
        assert_eq!(emitted, bytes);
        let complaint = parse(&ip::parse(&bytes).unwrap()).unwrap().unwrap();
        assert_eq!((complaint.mtu, complaint.addresses, complaint.seq), (1400, own, Seq(7)));
    }
}
