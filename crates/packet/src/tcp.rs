//! A TCP segment as bytes (RFC 9293, section 3.1), with its checksum.

use crate::checksum::Sum;
use crate::error::Error;
use crate::ip::{Addresses, Ecn};
use crate::options;
use crate::segment::{Flags, Options, Segment};
use crate::seq::Seq;

/// The protocol number of TCP in an IP header.
pub const PROTOCOL: u8 = 6;

/// Bytes of a header without options.
const FIXED_LEN: usize = 20;
/// The longest segment, header included, in an IP packet. IPv6 reserves its 16-bit length for the
/// payload alone.
const LIMIT: usize = 65_535;
/// Offset of the checksum in the header.
pub const CHECKSUM_OFFSET: usize = 16;

/// Returns the bytes of the TCP header with these options. Takes a few additions, cheap enough for
/// each packet of a simulation.
pub const fn header_len(options: &Options) -> u32 {
    (FIXED_LEN + options::len(options)) as u32
}

/// Appends a segment to `out`: header and payload, without the IP header.
///
/// `payload` must be `segment.payload_len` bytes long, or empty if only the length is known. With
/// an empty `payload` only the header is written, as in a capture that cuts packets off. The
/// checksum is then valid for a payload of zeros.
///
/// # Errors
/// [`Error::TooLong`], with nothing written, for more SACK blocks than [`options::sack_room`], or
/// more payload than an IP packet carries.
///
/// # Panics
/// If `payload` is neither empty nor `segment.payload_len` bytes long.
pub fn emit(segment: &Segment, payload: &[u8], addresses: &Addresses, out: &mut Vec<u8>) -> Result<(), Error> {
    emit_head(segment, [payload, &[]], addresses, out)?;
    out.extend_from_slice(payload);
    Ok(())
}

/// Appends the header of a segment as [`emit`] does, for a payload in two pieces. The payload
/// itself is not copied.
///
/// # Errors
/// As [`emit`].
///
/// # Panics
/// As [`emit`].
pub fn emit_head(
    segment: &Segment,
    payload: [&[u8]; 2],
    addresses: &Addresses,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let given = payload[0].len() + payload[1].len();
    assert!(
        given == 0 || given == segment.payload_len as usize,
        "a payload of {given} bytes given for a segment of {}",
        segment.payload_len
    );
    let (start, tcp_len) = emit_fields(segment, out)?;
    // Zero bytes change no sum, so an omitted payload counts as zeros.
    let sum = addresses.pseudo_header(PROTOCOL, tcp_len as u32).bytes(&out[start..]).pieces(payload);
    out[start + CHECKSUM_OFFSET..][..2].copy_from_slice(&sum.finish().to_be_bytes());
    Ok(())
}

/// Appends the header of a segment for a device that computes checksums and may split the segment.
/// The checksum field holds the sum of the pseudo-header only.
///
/// # Errors
/// As [`emit`].
pub fn emit_head_unsummed(segment: &Segment, addresses: &Addresses, out: &mut Vec<u8>) -> Result<(), Error> {
    let (start, tcp_len) = emit_fields(segment, out)?;
    let sum = !addresses.pseudo_header(PROTOCOL, tcp_len as u32).finish();
    out[start + CHECKSUM_OFFSET..][..2].copy_from_slice(&sum.to_be_bytes());
    Ok(())
}

/// Appends the header with a checksum of 0. Returns its offset in `out`, and the length of the
/// segment.
fn emit_fields(segment: &Segment, out: &mut Vec<u8>) -> Result<(usize, usize), Error> {
    let options_len = options::len(&segment.options);
    if options_len > options::LIMIT {
        return Err(Error::TooLong { what: "TCP options", limit: options::LIMIT, found: options_len });
    }
    let tcp_len = FIXED_LEN + options_len + segment.payload_len.min(LIMIT as u32) as usize;
    check_len(tcp_len)?;
    let start = out.len();
    let words = (FIXED_LEN + options_len) / 4;
    // One write of the whole header: field by field, the vector would grow each time. The checksum
    // is filled in later. The urgent pointer is 0.
    let mut fixed = [0; FIXED_LEN];
    fixed[..2].copy_from_slice(&segment.source_port.to_be_bytes());
    fixed[2..4].copy_from_slice(&segment.destination_port.to_be_bytes());
    fixed[4..8].copy_from_slice(&segment.seq.0.to_be_bytes());
    fixed[8..12].copy_from_slice(&segment.ack.0.to_be_bytes());
    fixed[12..14].copy_from_slice(&((words as u16) << 12 | segment.flags.0 & Flags::ALL.0).to_be_bytes());
    fixed[14..16].copy_from_slice(&segment.window.to_be_bytes());
    out.extend_from_slice(&fixed);
    options::emit(&segment.options, out);
    Ok((start, tcp_len))
}

/// Reads the payload of an IP packet as a TCP segment. The segment's payload is borrowed from
/// `bytes`.
///
/// Reserved bits are passed on. The urgent pointer is ignored.
///
/// # Errors
/// [`Error::Truncated`] and [`Error::TooLong`] for a wrong number of bytes. [`Error::Invalid`] for
/// a data offset below 5 words. [`Error::Checksum`] for a checksum that is wrong with the
/// pseudo-header of `addresses`. Errors of [`options::parse`] for malformed options.
pub fn parse<'a>(bytes: &'a [u8], addresses: &Addresses) -> Result<(Segment, &'a [u8]), Error> {
    let truncated = |what, expected| Error::Truncated { what, offset: 0, expected, found: bytes.len() };
    let Some(header) = bytes.first_chunk::<FIXED_LEN>() else {
        return Err(truncated("TCP header", FIXED_LEN));
    };
    let words = header[12] >> 4;
    if words < 5 {
        let found = u32::from(words);
        return Err(Error::Invalid { what: "TCP data offset", offset: 12, expected: "at least 5 words", found });
    }
    let header_len = usize::from(words) * 4;
    let (Some(option_bytes), Some(payload)) = (bytes.get(FIXED_LEN..header_len), bytes.get(header_len..)) else {
        return Err(truncated("TCP header", header_len));
    };
    check_len(bytes.len())?;
    verify(bytes, header, addresses.pseudo_header(PROTOCOL, bytes.len() as u32))?;
    let options = options::parse(option_bytes).map_err(|error| error.beyond(FIXED_LEN))?;
    let segment = Segment {
        source_port: u16::from_be_bytes([header[0], header[1]]),
        destination_port: u16::from_be_bytes([header[2], header[3]]),
        seq: Seq(u32::from_be_bytes([header[4], header[5], header[6], header[7]])),
        ack: Seq(u32::from_be_bytes([header[8], header[9], header[10], header[11]])),
        flags: Flags(u16::from_be_bytes([header[12], header[13]]) & Flags::ALL.0),
        window: u16::from_be_bytes([header[14], header[15]]),
        options,
        payload_len: payload.len() as u32,
        ecn: Ecn::NotEct,
    };
    Ok((segment, payload))
}

fn check_len(found: usize) -> Result<(), Error> {
    if found > LIMIT {
        return Err(Error::TooLong { what: "TCP segment", limit: LIMIT, found });
    }
    Ok(())
}

fn verify(bytes: &[u8], header: &[u8; FIXED_LEN], pseudo_header: Sum) -> Result<(), Error> {
    let sum = pseudo_header.bytes(bytes);
    if sum.finish() == 0 {
        return Ok(());
    }
    let found = u16::from_be_bytes([header[CHECKSUM_OFFSET], header[CHECKSUM_OFFSET + 1]]);
    // In ones' complement arithmetic, adding the complement subtracts the found checksum from the
    // sum.
    Err(Error::Checksum { what: "TCP", offset: CHECKSUM_OFFSET, expected: sum.word(!found).finish(), found })
}
