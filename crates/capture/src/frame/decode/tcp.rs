//! Reads a TCP header that may be captured only in part.

use super::Skipped;
use eifel_packet::ip::Ecn;
use eifel_packet::options;
use eifel_packet::segment::{Flags, Options, Segment, Timestamps};
use eifel_packet::seq::Seq;

/// Two no-operations and the head of a timestamps option: the usual options of segments with
/// timestamps.
pub(super) const ALIGNED_TIMESTAMPS: [u8; 4] = [1, 1, 8, 10];

/// The data offset, in words of four bytes, of a segment without options and of one with
/// [`ALIGNED_TIMESTAMPS`] only.
pub(super) const WITHOUT_OPTIONS: u8 = 5;
pub(super) const WITH_TIMESTAMPS: u8 = 8;

/// Reads the header of a segment of `wire_len` bytes. An option that is cut off or malformed is
/// left out, together with all options behind it.
#[inline(always)]
pub(super) fn parse(bytes: &[u8], wire_len: u32) -> Result<Segment, Skipped> {
    let header = bytes.first_chunk::<16>().ok_or(Skipped::Cut)?;
    let header_len = u32::from(header[12] >> 4) * 4;
    if header_len < 20 || header_len > wire_len {
        return Err(Skipped::Malformed);
    }
    let number = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let end = bytes.len().min(header_len as usize);
    let options = bytes.get(20..end).unwrap_or_default();
    let mut segment = Segment {
        source_port: u16::from_be_bytes([header[0], header[1]]),
        destination_port: u16::from_be_bytes([header[2], header[3]]),
        seq: Seq(number(4)),
        ack: Seq(number(8)),
        flags: Flags(u16::from_be_bytes([header[12], header[13]]) & Flags::ALL.0),
        window: u16::from_be_bytes([header[14], header[15]]),
        options: Options::default(),
        payload_len: wire_len - header_len,
        ecn: Ecn::NotEct,
    };
    if let Some(option) = options.first_chunk::<12>()
        && options.len() == 12
        && option[..4] == ALIGNED_TIMESTAMPS
    {
        let number = |at: usize| u32::from_be_bytes([option[at], option[at + 1], option[at + 2], option[at + 3]]);
        segment.options.timestamps = Some(Timestamps { value: number(4), echo: number(8) });
    } else if !options.is_empty() {
        segment.options = read_any_options(options);
    }
    Ok(segment)
}

/// Reads options. Drops bytes from the end until the rest is valid.
#[inline(never)]
fn read_any_options(bytes: &[u8]) -> Options {
    let mut end = bytes.len();
    loop {
        match options::parse(&bytes[..end]) {
            Ok(options) => return options,
            Err(_) if end == 0 => return Options::default(),
            Err(_) => end -= 1,
        }
    }
}
