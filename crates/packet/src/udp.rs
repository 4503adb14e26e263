//! The UDP header (RFC 768). SCTP is encapsulated in UDP where the network does not pass it over IP
//! (RFC 6951).

use crate::error::Error;
use crate::ip::Addresses;

/// The protocol number of UDP in an IP header.
pub const PROTOCOL: u8 = 17;
/// Bytes of the header.
pub const HEADER_LEN: usize = 8;

const CHECKSUM_OFFSET: usize = 6;
const LIMIT: usize = 65_535;

/// The ports of a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ports {
    /// The sender's port.
    pub source: u16,
    /// The receiver's port.
    pub destination: u16,
}

/// Appends a datagram, with its checksum, to `out`.
///
/// # Errors
/// [`Error::TooLong`], with nothing written, if the length does not fit its 16-bit field.
pub fn emit(ports: Ports, payload: &[u8], addresses: &Addresses, out: &mut Vec<u8>) -> Result<(), Error> {
    let found = HEADER_LEN + payload.len();
    if found > LIMIT {
        return Err(Error::TooLong { what: "UDP datagram", limit: LIMIT, found });
    }
    let start = out.len();
    out.extend(ports.source.to_be_bytes());
    out.extend(ports.destination.to_be_bytes());
    out.extend((found as u16).to_be_bytes());
    out.extend([0; 2]);
    out.extend_from_slice(payload);
    let sum = addresses.pseudo_header(PROTOCOL, found as u32).bytes(&out[start..]).finish();
    // A computed checksum of 0 is sent as all ones: a field of 0 means no checksum.
    let checksum = if sum == 0 { 0xffff } else { sum };
    out[start + CHECKSUM_OFFSET..][..2].copy_from_slice(&checksum.to_be_bytes());
    Ok(())
}

/// Reads the payload of an IP packet as a UDP datagram. Bytes beyond the datagram's length are
/// ignored.
///
/// # Errors
/// [`Error::Truncated`] and [`Error::Invalid`] for a length below 8 or beyond the end.
/// [`Error::Checksum`] for a wrong checksum. Over IPv4 a checksum of 0 is accepted unchecked.
pub fn parse<'a>(bytes: &'a [u8], addresses: &Addresses) -> Result<(Ports, &'a [u8]), Error> {
    let truncated = |expected| Error::Truncated { what: "UDP datagram", offset: 0, expected, found: bytes.len() };
    let Some(&[a, b, c, d, e, f, g, h]) = bytes.first_chunk() else { return Err(truncated(HEADER_LEN)) };
    let length = u16::from_be_bytes([e, f]);
    if usize::from(length) < HEADER_LEN {
        let found = u32::from(length);
        return Err(Error::Invalid { what: "UDP length", offset: 4, expected: "at least 8", found });
    }
    let Some(datagram) = bytes.get(..usize::from(length)) else { return Err(truncated(usize::from(length))) };
    let found = u16::from_be_bytes([g, h]);
    let none = found == 0 && matches!(addresses, Addresses::V4 { .. });
    let sum = addresses.pseudo_header(PROTOCOL, u32::from(length)).bytes(datagram);
    if !none && sum.finish() != 0 {
        let expected = match sum.word(!found).finish() {
            0 => 0xffff,
            sum => sum,
        };
        return Err(Error::Checksum { what: "UDP", offset: CHECKSUM_OFFSET, expected, found });
    }
    let ports = Ports { source: u16::from_be_bytes([a, b]), destination: u16::from_be_bytes([c, d]) };
    Ok((ports, &datagram[HEADER_LEN..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flips each bit in turn. The checksum that the error expects must make the datagram valid.
    #[test]
    fn an_error_names_the_sum_that_would_be_right() {
        let addresses = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() };
        let ports = Ports { source: 9899, destination: 5001 };
        let mut bytes = Vec::new();
        emit(ports, b"a payload", &addresses, &mut bytes).unwrap();
        for bit in 0..8 * bytes.len() {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let length = u16::from_be_bytes([changed[4], changed[5]]);
            match parse(&changed, &addresses) {
                Err(Error::Checksum { what: "UDP", offset: CHECKSUM_OFFSET, expected, found }) => {
                    assert_eq!(found.to_be_bytes(), changed[CHECKSUM_OFFSET..][..2], "bit {bit}");
                    changed[CHECKSUM_OFFSET..][..2].copy_from_slice(&expected.to_be_bytes());
                    assert!(parse(&changed, &addresses).is_ok(), "bit {bit}");
                }
                Err(Error::Invalid { offset: 4, found, .. }) => assert_eq!(found, u32::from(length)),
                Err(Error::Truncated { offset: 0, expected, found, .. }) => {
                    assert_eq!((expected, found), (usize::from(length), bytes.len()));
                    assert!(expected > found);
                }
                other => panic!("bit {bit}: {other:?}"),
            }
        }
        let none = [&bytes[..CHECKSUM_OFFSET], &[0, 0], &bytes[HEADER_LEN..]].concat();
        assert_eq!(parse(&none, &addresses), Ok((ports, &b"a payload"[..])), "over IPv4 there may be no sum");
    }
}
