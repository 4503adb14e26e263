//! IEEE 802.11, and the headers that drivers put before its frames.

use super::{Layer, Rest, Skipped};

const PLAIN: u32 = 105;
const PRISM: u32 = 119;
const RADIOTAP: u32 = 127;
const AVS: u32 = 163;
/// The first bytes of an AVS header, without its version.
const AVS_MAGIC: [u8; 3] = [0x80, 0x21, 0x10];
/// Flags of radiotap: the header of the frame is padded to four bytes; the frame is damaged.
const PADDED: u8 = 0x20;
const DAMAGED: u8 = 0x40;

/// Two addresses and a length, before each packet of a frame that aggregates several.
const SUBFRAME_HEADER: usize = 14;

/// Skips the driver's header.
pub(super) fn first(link: u32, rest: Rest<'_>) -> Result<Rest<'_>, Skipped> {
    let (frame, align) = driver(link, rest)?;
    if align > 1 { data_behind(frame, align) } else { Ok(frame) }
}

/// Skips the driver's header. Returns the frame, and the bytes to which its header is padded.
fn driver(link: u32, rest: Rest<'_>) -> Result<(Rest<'_>, usize), Skipped> {
    let header = rest.bytes.first_chunk::<8>().ok_or(Skipped::Cut)?;
    let [.., a, b, c, d] = *header;
    if link == RADIOTAP {
        let length = usize::from(u16::from_le_bytes([header[2], header[3]]));
        let flags = radiotap_flags(rest.bytes).unwrap_or(0);
        if flags & DAMAGED != 0 {
            return Err(Skipped::Malformed);
        }
        return Ok((rest.skip(length, Layer::Wireless)?, if flags & PADDED != 0 { 4 } else { 1 }));
    }
    let length = match link {
        // The length is in the byte order of the capturing machine.
        PRISM if !header.starts_with(&AVS_MAGIC) => match u32::from_le_bytes([a, b, c, d]) {
            length @ 0..0x1_0000 => length,
            length => length.swap_bytes(),
        },
        _ => u32::from_be_bytes([a, b, c, d]),
    };
    Ok((rest.skip(length as usize, Layer::Wireless)?, 1))
}

/// Returns the flags of a radiotap header, if it has them.
fn radiotap_flags(bytes: &[u8]) -> Option<u8> {
    let present = |word: usize| Some(u32::from_le_bytes(*bytes.get(4 + 4 * word..)?.first_chunk()?));
    let first = present(0)?;
    let mut words = 1;
    while present(words - 1)? >> 31 != 0 {
        words += 1;
    }
    let at = 4 + 4 * words;
    // A time of eight bytes, aligned, comes before the flags.
    let at = if first & 1 != 0 { at.next_multiple_of(8) + 8 } else { at };
    bytes.get(at).copied().filter(|_| first & 2 != 0)
}

/// Skips the header of a data frame.
pub(super) fn data(rest: Rest<'_>) -> Result<Rest<'_>, Skipped> {
    data_behind(rest, 1)
}

/// Skips the header of a data frame, padded to a multiple of `align` bytes.
fn data_behind(rest: Rest<'_>, align: usize) -> Result<Rest<'_>, Skipped> {
    let (body, aggregates) = body(rest, align)?;
    if aggregates { body.skip(SUBFRAME_HEADER, Layer::Llc) } else { Ok(body) }
}

/// Returns the packets behind the first of a frame that aggregates several (A-MSDU), each from its LLC
/// header on, and with its length on the wire.
pub(super) fn others(link: u32, rest: Rest<'_>) -> impl Iterator<Item = (&[u8], u32)> {
    let frame = match link {
        PLAIN => Ok((rest, 1)),
        PRISM | RADIOTAP | AVS => driver(link, rest),
        _ => Err(Skipped::Link(link)),
    };
    let body = frame.and_then(|(frame, align)| body(frame, align)).ok();
    let mut bytes = body.filter(|(_, aggregates)| *aggregates).map_or(&[][..], |(body, _)| body.bytes);
    let next = move || {
        let header = bytes.first_chunk::<SUBFRAME_HEADER>()?;
        let length = usize::from(u16::from_be_bytes([header[12], header[13]]));
        let end = SUBFRAME_HEADER + length;
        let packet = &bytes[SUBFRAME_HEADER..end.min(bytes.len())];
        bytes = bytes.get(end.next_multiple_of(4)..).unwrap_or_default();
        (length > 0).then_some((packet, length as u32))
    };
    std::iter::from_fn(next).skip(1)
}

/// Skips the header of a data frame, padded to a multiple of `align` bytes. Returns whether the frame
/// aggregates several packets.
fn body(rest: Rest<'_>, align: usize) -> Result<(Rest<'_>, bool), Skipped> {
    let header = rest.bytes.first_chunk::<24>().ok_or(Skipped::Cut)?;
    let ([control, flags], is_set) = ([header[0], header[1]], |byte: u8, mask: u8| byte & mask == mask);
    // Data frames with content.
    if control & 0x4f != 0x08 {
        return Err(Skipped::NotTcp);
    }
    if is_set(flags, 0x40) {
        return Err(Skipped::Encrypted);
    }
    let is_later_fragment = header[22] & 0x0f != 0;
    if is_later_fragment {
        return Err(Skipped::Fragment);
    }
    let addresses: usize = if is_set(flags, 3) { 30 } else { 24 };
    if !is_set(control, 0x80) {
        return Ok((rest.skip(addresses.next_multiple_of(align), Layer::Llc)?, false));
    }
    let quality = *rest.bytes.get(addresses).ok_or(Skipped::Cut)?;
    let length = addresses + if is_set(flags, 0x80) { 6 } else { 2 };
    Ok((rest.skip(length.next_multiple_of(align), Layer::Llc)?, is_set(quality, 0x80)))
}
