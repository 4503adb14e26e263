//! A whole packet on the wire: an IP header with a TCP segment.

use crate::error::Error;
use crate::ip::{self, Ecn, Header, Version};
use crate::segment::Segment;
use crate::tcp;

/// Returns the bytes of a segment on the wire, IP header included. Framing of the link layer does
/// not count.
pub const fn len(segment: &Segment, version: Version) -> u32 {
    version.header_len() + tcp::header_len(&segment.options) + segment.payload_len
}

/// Appends the packet to `out`. The IP header's ECN field is taken from the segment. As in
/// [`tcp::emit`], an empty `payload` writes no payload, while lengths and checksum count
/// `segment.payload_len` zeros.
///
/// # Errors
/// [`Error::TooLong`], with nothing written, if the SACK blocks do not fit the header or the
/// payload does not fit IP.
///
/// # Panics
/// If `payload` is neither empty nor `segment.payload_len` bytes long.
pub fn emit(header: &Header, segment: &Segment, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    emit_head(header, segment, [payload, &[]], out)?;
    out.extend_from_slice(payload);
    Ok(())
}

/// Appends the headers as [`emit`] does, for a payload in two pieces. The payload itself is not
/// copied.
///
/// # Errors
/// As [`emit`].
///
/// # Panics
/// As [`emit`].
pub fn emit_head(header: &Header, segment: &Segment, payload: [&[u8]; 2], out: &mut Vec<u8>) -> Result<(), Error> {
    let start = out.len();
    emit_ip(header, segment, out)?;
    tcp::emit_head(segment, payload, &header.addresses, out).inspect_err(|_| out.truncate(start))
}

/// Appends the headers without the payload's share of the TCP checksum: see
/// [`tcp::emit_head_unsummed`].
///
/// # Errors
/// As [`emit`].
pub fn emit_head_unsummed(header: &Header, segment: &Segment, out: &mut Vec<u8>) -> Result<(), Error> {
    let start = out.len();
    emit_ip(header, segment, out)?;
    tcp::emit_head_unsummed(segment, &header.addresses, out).inspect_err(|_| out.truncate(start))
}

fn emit_ip(header: &Header, segment: &Segment, out: &mut Vec<u8>) -> Result<(), Error> {
    let tcp_len = (segment.payload_len as usize).saturating_add(tcp::header_len(&segment.options) as usize);
    let traffic_class = header.traffic_class & !3 | segment.ecn as u8;
    ip::emit(&Header { traffic_class, ..*header }, tcp::PROTOCOL, tcp_len, out)
}

/// Reads a packet; the segment's payload is borrowed from `bytes`.
///
/// # Errors
/// Those of [`ip::parse`] and [`tcp::parse`], with offsets counted from the start of `bytes`.
/// [`Error::Invalid`] for a protocol other than TCP.
pub fn parse(bytes: &[u8]) -> Result<(Header, Segment, &[u8]), Error> {
    let packet = ip::parse(bytes)?;
    if packet.protocol != tcp::PROTOCOL {
        let (offset, found) = (packet.protocol_offset, u32::from(packet.protocol));
        return Err(Error::Invalid { what: "IP protocol", offset, expected: "6 (TCP)", found });
    }
    let (mut segment, payload) =
        tcp::parse(packet.payload, &packet.header.addresses).map_err(|error| error.beyond(packet.offset))?;
    segment.ecn = Ecn::of(packet.header.traffic_class);
    Ok((packet.header, segment, payload))
}
