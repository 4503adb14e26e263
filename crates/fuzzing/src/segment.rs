//! Whole packets: a TCP segment in its IP header.

use eifel_packet::Error;
use eifel_packet::datagram::{emit, len, parse};
use eifel_packet::options::{self, LIMIT};

use crate::options::assert_one_line_within;

/// Reads any bytes as a packet, or refuses them with an offset inside them. Segments that were read
/// are written in the announced length, and read back equal. If only checksums are wrong, the
/// errors give the right ones.
///
/// # Panics
/// If an invariant does not hold.
pub fn segment(data: &[u8]) {
    let bytes = repaired(data, |bytes| parse(bytes).err());
    let (header, segment, payload) = match parse(&bytes) {
        Ok(read) => read,
        Err(error) => return assert_one_line_within(error, bytes.len()),
    };
    assert_eq!(payload.len(), segment.payload_len as usize);
    if options::len(&segment.options) > LIMIT {
        return;
    }
    let mut written = vec![0xee];
    if let Err(error) = emit(&header, &segment, payload, &mut written) {
        // Padding of the options may make the packet longer than the input.
        assert!(matches!(error, Error::TooLong { .. }), "{error}");
        return assert_eq!(written, [0xee]);
    }
    assert_eq!(written.len() - 1, len(&segment, header.addresses.version()) as usize);
    assert_eq!(parse(&written[1..]), Ok((header, segment, payload)));
}

/// Replaces wrong checksums by those that the errors give, so that a fuzzer need not guess them.
///
/// # Panics
/// If a corrected checksum is still wrong.
pub fn repaired(data: &[u8], wrong: impl Fn(&[u8]) -> Option<Error>) -> Vec<u8> {
    let mut bytes = data.to_vec();
    let mut last = None;
    while let Some(Error::Checksum { offset, expected, .. }) = wrong(&bytes) {
        assert_ne!(last, Some(offset), "{expected:#06x} is not the checksum at byte {offset}");
        last = Some(offset);
        bytes[offset..offset + 2].copy_from_slice(&expected.to_be_bytes());
    }
    bytes
}
