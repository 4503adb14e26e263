//! Reads IPv4 and IPv6, and tunnels that carry IP inside IP.

use core::net::{Ipv4Addr, Ipv6Addr};

use super::fragments::{Fragments, Part, Whole};
use super::icmp::{self, TooBig};
use super::{Layer, Packet, Rest, Skipped, sctp, tcp};
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{PROTOCOL as SCTP, UDP_PORT as SCTP_OVER_UDP};

const ICMP: u8 = 1;
const IPV4: u8 = 4;
pub(super) const TCP: u8 = 6;
const UDP: u8 = 17;
const IPV6: u8 = 41;
const GRE: u8 = 47;
const ICMPV6: u8 = 58;

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION: u8 = 60;
const MOBILITY: u8 = 135;

const GTP_U: u16 = 2152;
const VXLAN: u16 = 4789;
/// The port that Linux used before one was registered, and still uses by default.
const VXLAN_OF_LINUX: u16 = 8472;
const ERSPAN: u16 = 0x88be;
const ERSPAN_3: u16 = 0x22eb;
const GENEVE: u16 = 6081;

/// The content behind an IP header.
pub(super) enum Step<'a> {
    Inside(Rest<'a>),
    Tcp(Packet),
    Sctp(sctp::Packet<'a>),
    TooBig(TooBig),
}

/// The fields of an IP header, and its payload.
pub(super) struct Carried<'a> {
    pub(super) addresses: Addresses,
    identification: u16,
    hop_limit: u8,
    pub(super) protocol: u8,
    pub(super) rest: Rest<'a>,
    pub(super) part: Option<Part>,
}

/// Skips the link header if an IPv4 header directly follows it.
#[inline(always)]
pub(super) fn ipv4(link: u32, bytes: &[u8]) -> Option<&[u8]> {
    // In this order the first test decides most cases.
    if bytes.get(12..14) == Some(&[8, 0]) && link == 1 {
        return bytes.get(14..);
    }
    matches!(link, 101 | 228).then_some(bytes)
}

/// Reads TCP over IPv4 without options, directly over Ethernet or raw: most packets of most
/// captures.
#[inline(always)]
pub(crate) fn plain(link: u32, bytes: &[u8]) -> Option<Packet> {
    let header = ipv4(link, bytes)?;
    let (fixed, rest) = header.split_first_chunk::<20>()?;
    let fragmented = u16::from_be_bytes([fixed[6], fixed[7]]) & 0x3fff != 0;
    let wire_len = u32::from(u16::from_be_bytes([fixed[2], fixed[3]])).checked_sub(20)?;
    if fixed[0] != 0x45 || fixed[9] != TCP || fragmented {
        return None;
    }
    let segment = tcp::parse(&rest[..rest.len().min(wire_len as usize)], wire_len).ok()?;
    let addresses = Addresses::V4 {
        source: Ipv4Addr::new(fixed[12], fixed[13], fixed[14], fixed[15]),
        destination: Ipv4Addr::new(fixed[16], fixed[17], fixed[18], fixed[19]),
    };
    let identification = u16::from_be_bytes([fixed[4], fixed[5]]);
    Some(Packet { addresses, identification, hop_limit: fixed[8], tunnel: 0, segment })
}

/// Reads an IP header. Sets `tunnel` to the number of a tunnel, and `outer` to the first fragment in
/// which further headers are.
pub(super) fn step<'a>(
    rest: Rest<'a>,
    (tunnel, outer): (&mut u32, &mut Option<(Addresses, Part)>),
    fragments: &mut Fragments,
) -> Result<Step<'a>, Skipped> {
    let carried = match (rest.layer, rest.bytes.first().ok_or(Skipped::Cut)? >> 4) {
        (Layer::Ip | Layer::Ipv4, 4) => v4(rest)?,
        (Layer::Ip | Layer::Ipv6, 6) => v6(rest)?,
        _ => return Err(Skipped::Malformed),
    };
    if carried.protocol != TCP
        && let Some(part) = carried.part
    {
        if part.offset > 0 {
            return fragments.take_later(&carried.addresses, part).map(Step::Tcp).ok_or(Skipped::Fragment);
        }
        // The first fragment has the headers inside, which are read as if the rest was cut off.
        *outer = Some((carried.addresses, part));
    }
    match carried.protocol {
        TCP => segment(&carried, *tunnel, fragments).map(Step::Tcp),
        SCTP => {
            sctp::Packet::read(carried.addresses, carried.identification, *tunnel, carried.rest.bytes).map(Step::Sctp)
        }
        UDP if over_udp(carried.rest) => {
            let rest = carried.rest.skip(8, Layer::Ip)?;
            sctp::Packet::read(carried.addresses, carried.identification, *tunnel, rest.bytes).map(Step::Sctp)
        }
        ICMP | ICMPV6 => {
            icmp::too_big(carried.rest, carried.protocol == ICMPV6, *tunnel).map(Step::TooBig).ok_or(Skipped::NotTcp)
        }
        _ => inside(&carried, tunnel).map(Step::Inside),
    }
}

/// Reads the packet that an ICMP message quotes. Returns its fields, and its length in bytes before
/// it was cut off.
pub(super) fn quoted(rest: Rest<'_>, is_v6: bool) -> Result<(Carried<'_>, u32), Skipped> {
    match (is_v6, rest.u16(0)? >> 12) {
        (false, 4) => Ok((v4(rest)?, u32::from(rest.u16(2)?))),
        (true, 6) => Ok((v6(rest)?, 40 + u32::from(rest.u16(4)?))),
        _ => Err(Skipped::Malformed),
    }
}

fn v4(rest: Rest<'_>) -> Result<Carried<'_>, Skipped> {
    let header = rest.bytes.first_chunk::<20>().ok_or(Skipped::Cut)?;
    let header_len = usize::from(header[0] & 0x0f) * 4;
    let total = u32::from(u16::from_be_bytes([header[2], header[3]]));
    // Length 0: the packet is for segmentation offload, and its length does not fit into the field.
    let total = if total == 0 { rest.wire_len } else { total };
    if header_len < 20 || total < header_len as u32 {
        return Err(Skipped::Malformed);
    }
    let word = u16::from_be_bytes([header[6], header[7]]);
    let identification = u16::from_be_bytes([header[4], header[5]]);
    let part = (word & 0x3fff != 0).then(|| Part {
        identification: u32::from(identification),
        offset: u32::from(word & 0x1fff) * 8,
        length: total - header_len as u32,
        more: word & 0x2000 != 0,
    });
    let addresses = Addresses::V4 {
        source: Ipv4Addr::new(header[12], header[13], header[14], header[15]),
        destination: Ipv4Addr::new(header[16], header[17], header[18], header[19]),
    };
    let rest = within(rest, header_len, total)?;
    Ok(Carried { addresses, identification, hop_limit: header[8], protocol: header[9], rest, part })
}

fn v6(rest: Rest<'_>) -> Result<Carried<'_>, Skipped> {
    let header = rest.bytes.first_chunk::<40>().ok_or(Skipped::Cut)?;
    let length = u32::from(u16::from_be_bytes([header[4], header[5]]));
    // Length 0: a jumbogram, or a packet for segmentation offload.
    let total = if length == 0 { rest.wire_len } else { 40 + length };
    let address = |at: usize| {
        let mut octets = [0; 16];
        octets.copy_from_slice(&header[at..at + 16]);
        Ipv6Addr::from(octets)
    };
    let addresses = Addresses::V6 { source: address(8), destination: address(24) };
    let (mut protocol, hop_limit) = (header[6], header[7]);
    let mut rest = within(rest, 40, total)?;
    let mut part = None;
    loop {
        let field = |at: usize| rest.bytes.get(at).copied().ok_or(Skipped::Cut);
        let length = match protocol {
            HOP_BY_HOP | ROUTING | DESTINATION | MOBILITY => (usize::from(field(1)?) + 1) * 8,
            AUTHENTICATION => (usize::from(field(1)?) + 2) * 4,
            FRAGMENT => {
                let word = rest.u16(2)?;
                let identification = u32::from(rest.u16(4)?) << 16 | u32::from(rest.u16(6)?);
                let length = rest.wire_len.saturating_sub(8);
                // A packet with a single fragment is whole (RFC 6946).
                part = (word & 0xfff9 != 0).then_some(Part {
                    identification,
                    offset: u32::from(word & 0xfff8),
                    length,
                    more: word & 1 != 0,
                });
                8
            }
            _ => break,
        };
        protocol = field(0)?;
        rest = rest.skip(length, rest.layer)?;
        if part.is_some_and(|part| part.offset > 0) {
            break;
        }
    }
    Ok(Carried { addresses, identification: 0, hop_limit, protocol, rest, part })
}

/// Returns the payload behind a header of `header_len` bytes in a packet of `total` bytes, without
/// link padding.
fn within(rest: Rest<'_>, header_len: usize, total: u32) -> Result<Rest<'_>, Skipped> {
    let bytes = &rest.bytes[..rest.bytes.len().min(total as usize)];
    Rest { layer: rest.layer, bytes, wire_len: total }.skip(header_len, rest.layer)
}

fn segment(carried: &Carried<'_>, tunnel: u32, fragments: &mut Fragments) -> Result<Packet, Skipped> {
    let of_tcp = |bytes, wire_len| {
        Ok(Packet {
            addresses: carried.addresses,
            identification: carried.identification,
            hop_limit: carried.hop_limit,
            tunnel,
            segment: tcp::parse(bytes, wire_len)?,
        })
    };
    let Some(part) = carried.part else { return of_tcp(carried.rest.bytes, carried.rest.wire_len) };
    let first = if part.offset == 0 { Some(of_tcp(carried.rest.bytes, part.length)?) } else { None };
    match fragments.take(&carried.addresses, part, first) {
        Some(Whole { mut first, length }) => {
            first.segment.payload_len += length;
            Ok(first)
        }
        None => Err(Skipped::Fragment),
    }
}

/// Returns whether a UDP datagram carries SCTP (RFC 6951): one of its ports is the registered one.
fn over_udp(rest: Rest<'_>) -> bool {
    [0, 2].iter().any(|at| rest.u16(*at) == Ok(SCTP_OVER_UDP))
}

/// Finds IP inside IP, directly or in a tunnel.
fn inside<'a>(carried: &Carried<'a>, tunnel: &mut u32) -> Result<Rest<'a>, Skipped> {
    let rest = carried.rest;
    match carried.protocol {
        IPV4 => Ok(Rest { layer: Layer::Ipv4, ..rest }),
        IPV6 => Ok(Rest { layer: Layer::Ipv6, ..rest }),
        GRE => gre(rest, tunnel),
        UDP => {
            let (source, destination) = (rest.u16(0)?, rest.u16(2)?);
            let payload = rest.skip(8, Layer::Ip)?;
            match (source, destination) {
                (_, VXLAN | VXLAN_OF_LINUX) if payload.bytes.first().is_some_and(|flags| flags & 8 != 0) => {
                    *tunnel = word(payload, 4)? >> 8;
                    payload.skip(8, Layer::Ethernet)
                }
                (_, GENEVE) => {
                    let options = usize::from(payload.bytes.first().ok_or(Skipped::Cut)? & 0x3f) * 4;
                    let kind = payload.u16(2)?;
                    *tunnel = word(payload, 4)? >> 8;
                    payload.skip(8 + options, Layer::Type(kind))
                }
                (GTP_U, _) | (_, GTP_U) => gtp(payload),
                _ => Err(Skipped::NotTcp),
            }
        }
        _ => Err(Skipped::NotTcp),
    }
}

pub(super) fn word(rest: Rest<'_>, at: usize) -> Result<u32, Skipped> {
    Ok(u32::from(rest.u16(at)?) << 16 | u32::from(rest.u16(at + 2)?))
}

/// Skips a GRE header (RFC 2784, RFC 2890); version 1 is PPTP's.
fn gre<'a>(rest: Rest<'a>, tunnel: &mut u32) -> Result<Rest<'a>, Skipped> {
    let (flags, kind) = (rest.u16(0)?, rest.u16(2)?);
    let mut length = 4;
    let checksum_or_routing = flags & 0xc000 != 0;
    if checksum_or_routing {
        length += 4;
    }
    if flags & 0x2000 != 0 {
        *tunnel = word(rest, length)?;
        length += 4;
    }
    for bit in [0x1000, 0x0080] {
        if flags & bit != 0 {
            length += 4;
        }
    }
    let is_numbered = flags & 0x1000 != 0;
    match kind {
        // Mirrored frames: without a number there is no header, else one of eight or twelve bytes, and
        // perhaps eight bytes more.
        ERSPAN => rest.skip(length + if is_numbered { 8 } else { 0 }, Layer::Ethernet),
        ERSPAN_3 => {
            let last = *rest.bytes.get(length + 11).ok_or(Skipped::Cut)?;
            rest.skip(length + if last & 1 != 0 { 20 } else { 12 }, Layer::Ethernet)
        }
        _ => rest.skip(length, Layer::Type(kind)),
    }
}

/// Skips a GTP-U header, version 1 (3GPP TS 29.281). Its tunnel number is not used: the two
/// directions of a connection have different numbers.
fn gtp(rest: Rest<'_>) -> Result<Rest<'_>, Skipped> {
    let header = rest.bytes.first_chunk::<8>().ok_or(Skipped::Cut)?;
    let (flags, message) = (header[0], header[1]);
    if flags >> 5 != 1 || message != 0xff {
        return Err(Skipped::NotTcp);
    }
    if flags & 7 == 0 {
        return rest.skip(8, Layer::Ip);
    }
    let mut length = 12;
    let mut next = *rest.bytes.get(11).ok_or(Skipped::Cut)?;
    while flags & 4 != 0 && next != 0 {
        let words = usize::from(*rest.bytes.get(length).ok_or(Skipped::Cut)?);
        if words == 0 {
            return Err(Skipped::Malformed);
        }
        length += words * 4;
        next = *rest.bytes.get(length - 1).ok_or(Skipped::Cut)?;
    }
    rest.skip(length, Layer::Ip)
}
