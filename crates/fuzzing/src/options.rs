//! The options part of a TCP header.

use eifel_packet::Error;
use eifel_packet::ip::{Addresses, Ecn};
use eifel_packet::options::{LIMIT, len, parse, sack_room};
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::Seq;
use eifel_packet::tcp;

/// Reads any bytes as options, or refuses them with an offset inside them. Options that were read
/// are written in their own length, and read back equal.
///
/// # Panics
/// If an invariant does not hold.
pub fn options(data: &[u8]) {
    let options = match parse(data) {
        Ok(options) => options,
        Err(error) => return assert_one_line_within(error, data.len()),
    };
    if len(&options) > LIMIT {
        // Only SACK blocks can be too many, since they are written with padding that a peer may
        // omit.
        assert!(options.sack.len() > sack_room(&options), "{options:?}");
        return;
    }
    let [source, destination] = [[10, 0, 0, 1].into(), [10, 0, 0, 2].into()];
    let addresses = Addresses::V4 { source, destination };
    let segment = Segment {
        source_port: 1,
        destination_port: 2,
        seq: Seq(3),
        ack: Seq(4),
        flags: Flags::ACK,
        window: 5,
        options,
        payload_len: 0,
        ecn: Ecn::NotEct,
    };
    let mut bytes = Vec::new();
    tcp::emit(&segment, &[], &addresses, &mut bytes).expect("options that fit can be written");
    assert_eq!(bytes.len(), tcp::header_len(&options) as usize);
    assert_eq!(tcp::parse(&bytes, &addresses), Ok((segment, &[][..])));
}

/// Checks that an error's text fits on one line, and that its offset lies within the bytes.
pub fn assert_one_line_within(error: Error, length: usize) {
    let text = error.to_string();
    assert!(!text.is_empty() && !text.contains(['\n', '\r']), "{text:?}");
    let (Error::Truncated { offset, .. }
    | Error::Invalid { offset, .. }
    | Error::Checksum { offset, .. }
    | Error::Crc32c { offset, .. }
    | Error::Fragment { offset }) = error
    else {
        return;
    };
    assert!(offset <= length, "{text}: beyond the {length} bytes that there are");
}
