//! IPv4 and IPv6 headers.

use eifel_packet::ip::{Packet, Version, emit, parse};

use crate::options::assert_one_line_within;
use crate::segment::repaired;

/// Reads any bytes as an IP packet, or refuses them with an offset inside them. The header is
/// written in the length of its version, and read back equal. If only a checksum is wrong, the
/// error gives the right one.
///
/// # Panics
/// If an invariant does not hold.
pub fn ip(data: &[u8]) {
    let bytes = repaired(data, |bytes| parse(bytes).err());
    let packet = match parse(&bytes) {
        Ok(packet) => packet,
        Err(error) => return assert_one_line_within(error, bytes.len()),
    };
    let Packet { header, protocol, protocol_offset, offset, payload } = packet;
    assert_eq!(bytes.get(protocol_offset), Some(&protocol));
    assert_eq!(bytes.get(offset..offset + payload.len()), Some(payload));
    let mut written = Vec::new();
    emit(&header, protocol, payload.len(), &mut written).expect("what was read is not too long");
    let version = header.addresses.version();
    assert_eq!(written.len(), version.header_len() as usize);
    written.extend_from_slice(payload);
    // An extension header may announce itself, and would be parsed as another one.
    if version == Version::V4 || protocol_offset == 6 {
        let again = parse(&written).expect("what was written can be read");
        assert_eq!((again.header, again.protocol, again.payload), (header, protocol, payload));
    }
}
