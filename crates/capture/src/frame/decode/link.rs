//! Link layers, numbered as in tcpdump.org's registry.

use super::{Layer, Rest, Skipped, wireless};
use crate::frame::read::NO_PACKET;

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// VLAN tags: the standard one, the provider's, and two from before the standard.
const VLANS: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
const PPPOE_SESSION: u16 = 0x8864;
const MPLS: [u16; 2] = [0x8847, 0x8848];
const TRANSPARENT_ETHERNET: u16 = 0x6558;
const PPP: u16 = 0x880b;
/// The EtherType of a switch's tag with a type of its own.
const MARVELL: u16 = 0xdada;
/// Smaller EtherTypes are lengths of IEEE 802.3 frames.
const LEAST_TYPE: u16 = 0x0600;

const PPP_IPV4: u16 = 0x0021;
const PPP_IPV6: u16 = 0x0057;

const AF_INET: u32 = 2;

const PPI: u32 = 192;
const PKTAP: u32 = 258;

/// Link types that carry IP or are often captured, and that are not read.
const NAMES: [(u32, &str); 24] = [
    (6, "Token Ring"),
    (7, "ARCNET"),
    (8, "SLIP"),
    (129, "ARCNET of Linux"),
    (142, "MTP2"),
    (140, "MTP2"),
    (141, "MTP3"),
    (147, "private use"),
    (149, "private use"),
    (177, "LAPD"),
    (187, "Bluetooth"),
    (189, "USB"),
    (195, "IEEE 802.15.4"),
    (201, "Bluetooth"),
    (202, "AX.25"),
    (220, "USB"),
    (227, "CAN"),
    (230, "IEEE 802.15.4"),
    (242, "IP over InfiniBand"),
    (247, "InfiniBand"),
    (249, "USB"),
    (252, "Wireshark upper PDU"),
    (253, "netlink"),
    (254, "Bluetooth"),
];

/// Returns the name of a link type that is not read.
pub(super) fn name(link: u32) -> Option<&'static str> {
    NAMES.iter().find(|(number, _)| *number == link).map(|(_, name)| *name)
}

/// Skips the header that frames of a link type begin with.
pub(super) fn first(link: u32, rest: Rest<'_>) -> Result<Rest<'_>, Skipped> {
    match link {
        1 => Ok(Rest { layer: Layer::Ethernet, ..rest }),
        // Loopback of BSD, with the address family in the byte order of the capturing machine, and
        // of OpenBSD.
        0 | 108 => {
            let family = rest.bytes.first_chunk::<4>().ok_or(Skipped::Cut)?;
            let family = u32::from_ne_bytes(*family);
            let family = if family > 0xffff { family.swap_bytes() } else { family };
            rest.skip(4, if family == AF_INET { Layer::Ipv4 } else { Layer::Ip })
        }
        9 => Ok(Rest { layer: Layer::Ppp, ..rest }),
        // PPP in HDLC-like framing, and Cisco HDLC.
        50 | 104 => match rest.bytes.first().ok_or(Skipped::Cut)? {
            0xff => Ok(Rest { layer: Layer::Ppp, ..rest }),
            _ => {
                let kind = rest.u16(2)?;
                rest.skip(4, Layer::Type(kind))
            }
        },
        // PPPoE without Ethernet.
        51 => Ok(Rest { layer: Layer::Type(PPPOE_SESSION), ..rest }),
        // FDDI: frame control and two addresses.
        10 => rest.skip(13, Layer::Llc),
        11 => Ok(Rest { layer: Layer::Llc, ..rest }),
        12 | 14 | 101 => Ok(Rest { layer: Layer::Ip, ..rest }),
        228 => Ok(Rest { layer: Layer::Ipv4, ..rest }),
        229 => Ok(Rest { layer: Layer::Ipv6, ..rest }),
        // Linux cooked, both versions.
        113 => {
            let kind = rest.u16(14)?;
            rest.skip(16, Layer::Type(kind))
        }
        276 => {
            let kind = rest.u16(0)?;
            rest.skip(20, Layer::Type(kind))
        }
        number => rare(number, rest),
    }
}

/// Skips the header of a link type that another header names, unless that can name one again.
fn named(link: u32, rest: Rest<'_>) -> Result<Rest<'_>, Skipped> {
    if matches!(link, PPI | PKTAP) { Err(Skipped::Malformed) } else { first(link, rest) }
}

/// Skips the header of a link type that few captures have.
fn rare(link: u32, rest: Rest<'_>) -> Result<Rest<'_>, Skipped> {
    match link {
        // Frames of Cisco HDLC, PPP and Frame Relay behind a byte for their direction.
        204 => rest.skip(1, Layer::Ppp),
        205 => first(104, rest.skip(1, Layer::Ip)?),
        206 => rest.skip(1, Layer::FrameRelay),
        107 => Ok(Rest { layer: Layer::FrameRelay, ..rest }),
        166 => rest.skip(1, Layer::Ppp),
        105 => Ok(Rest { layer: Layer::Wireless, ..rest }),
        119 | 127 | 163 => wireless::first(link, rest),
        // PPI names the link type behind its header.
        PPI => {
            let header = rest.bytes.first_chunk::<8>().ok_or(Skipped::Cut)?;
            let length = usize::from(u16::from_le_bytes([header[2], header[3]]));
            let inner = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
            named(inner, rest.skip(length.max(8), Layer::Ip)?)
        }
        239 => nflog(rest),
        // OpenBSD's headers of IPsec and of the packet filter, and Solaris's of its IP hook.
        109 => rest.skip(12, Layer::Ip),
        117 => {
            let length = usize::from(*rest.bytes.first().ok_or(Skipped::Cut)?);
            rest.skip(length.next_multiple_of(4), Layer::Ip)
        }
        226 => rest.skip(24, Layer::Ip),
        // Apple's header names the link type behind it.
        PKTAP => {
            let header = rest.bytes.first_chunk::<12>().ok_or(Skipped::Cut)?;
            let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
            let (length, inner) = (word(0) as usize, word(8));
            named(inner, rest.skip(length.max(12), Layer::Ip)?)
        }
        // IP over Fibre Channel, and Apple's IP over IEEE 1394.
        122 => rest.skip(16, Layer::Llc),
        138 => {
            let kind = rest.u16(16)?;
            rest.skip(18, Layer::Type(kind))
        }
        // Ethernet with a switch's tag before the frame, or between the addresses and the type.
        281 | 284 => tagged(rest, 4),
        285 => tagged(rest, 8),
        282 => rest.skip(4, Layer::Ethernet),
        // Ethernet behind the header or the preamble of an analyser.
        240 => rest.skip(4, Layer::Ethernet),
        241 => rest.skip(12, Layer::Ethernet),
        274 => rest.skip(8, Layer::Ethernet),
        NO_PACKET => Err(Skipped::NoPacket),
        number => Err(Skipped::Link(number)),
    }
}

/// Skips the addresses of an Ethernet frame, and a switch's tag of `length` bytes behind them.
fn tagged(rest: Rest<'_>, length: usize) -> Result<Rest<'_>, Skipped> {
    let kind = rest.u16(12 + length)?;
    rest.skip(14 + length, if kind < LEAST_TYPE { Layer::Llc } else { Layer::Type(kind) })
}

/// Finds the packet among the attributes of a message of Linux's netfilter log. Their numbers are in
/// the byte order of the capturing machine.
fn nflog(rest: Rest<'_>) -> Result<Rest<'_>, Skipped> {
    const PAYLOAD: u16 = 9;
    let mut rest = rest.skip(4, Layer::Ip)?;
    let little = rest.u16(0)?.swap_bytes() <= rest.u16(0)?;
    let number = |value: u16| if little { value.swap_bytes() } else { value };
    loop {
        let (length, kind) = (usize::from(number(rest.u16(0)?)), number(rest.u16(2)?));
        if length < 4 {
            return Err(Skipped::Malformed);
        }
        if kind & 0x7fff == PAYLOAD {
            return rest.skip(4, Layer::Ip);
        }
        rest = rest.skip(length.next_multiple_of(4), Layer::Ip)?;
    }
}

/// Skips the address, the control byte and the protocol of Frame Relay (RFC 2427). Cisco's own frames
/// have an EtherType behind the address.
fn frame_relay(rest: Rest<'_>) -> Result<Rest<'_>, Skipped> {
    const UI: u8 = 3;
    let last = rest.bytes.iter().take(4).position(|byte| byte & 1 != 0).ok_or(Skipped::Malformed)?;
    let rest = rest.skip(last + 1, Layer::FrameRelay)?;
    if rest.bytes.first() != Some(&UI) {
        let kind = rest.u16(0)?;
        return rest.skip(2, Layer::Type(kind));
    }
    let at = if rest.bytes.get(1) == Some(&0) { 2 } else { 1 };
    match rest.bytes.get(at).ok_or(Skipped::Cut)? {
        0xcc => rest.skip(at + 1, Layer::Ipv4),
        0x8e => rest.skip(at + 1, Layer::Ipv6),
        0x80 => {
            let kind = rest.u16(at + 4)?;
            rest.skip(at + 6, Layer::Type(kind))
        }
        _ => Err(Skipped::NotTcp),
    }
}

/// Skips one header below IP. Adds the identifiers of VLAN tags to `tags`.
pub(super) fn step<'a>(rest: Rest<'a>, tags: &mut u32) -> Result<Rest<'a>, Skipped> {
    match rest.layer {
        Layer::Ethernet => {
            let kind = rest.u16(12)?;
            rest.skip(14, if kind < LEAST_TYPE { Layer::Llc } else { Layer::Type(kind) })
        }
        Layer::Type(IPV4) => Ok(Rest { layer: Layer::Ipv4, ..rest }),
        Layer::Type(IPV6) => Ok(Rest { layer: Layer::Ipv6, ..rest }),
        Layer::Wireless => wireless::data(rest),
        Layer::FrameRelay => frame_relay(rest),
        // In a cooked frame, this is no EtherType: IEEE 802.2 follows.
        Layer::Type(4) => Ok(Rest { layer: Layer::Llc, ..rest }),
        Layer::Type(kind) if VLANS.contains(&kind) => {
            // Identifier 0 is a priority only.
            if let tag @ 1.. = rest.u16(0)? & 0xfff {
                *tags = *tags << 12 | u32::from(tag);
            }
            let kind = rest.u16(2)?;
            rest.skip(4, if kind < LEAST_TYPE { Layer::Llc } else { Layer::Type(kind) })
        }
        Layer::Type(PPPOE_SESSION) => rest.skip(6, Layer::Ppp),
        Layer::Type(kind) if MPLS.contains(&kind) => {
            let bottom = rest.bytes.get(2).ok_or(Skipped::Cut)? & 1 != 0;
            rest.skip(4, if bottom { Layer::Ip } else { rest.layer })
        }
        Layer::Type(MARVELL) => {
            let kind = rest.u16(6)?;
            rest.skip(8, Layer::Type(kind))
        }
        Layer::Type(TRANSPARENT_ETHERNET) => Ok(Rest { layer: Layer::Ethernet, ..rest }),
        Layer::Type(PPP) => Ok(Rest { layer: Layer::Ppp, ..rest }),
        Layer::Ppp => ppp(rest),
        Layer::Llc => {
            let header = rest.bytes.first_chunk::<3>().ok_or(Skipped::Cut)?;
            // The header of SNAP contains an EtherType.
            if *header != [0xaa, 0xaa, 3] {
                return Err(Skipped::NotTcp);
            }
            let kind = rest.u16(6)?;
            rest.skip(8, Layer::Type(kind))
        }
        _ => Err(Skipped::NotTcp),
    }
}

/// Skips PPP's optional address and control bytes and its protocol number. The first byte of the
/// number may be left out (RFC 1661, section 6.5).
fn ppp(rest: Rest<'_>) -> Result<Rest<'_>, Skipped> {
    let rest = if rest.bytes.starts_with(&[0xff, 3]) { rest.skip(2, Layer::Ppp)? } else { rest };
    let first = *rest.bytes.first().ok_or(Skipped::Cut)?;
    let (protocol, length) = if first & 1 != 0 { (u16::from(first), 1) } else { (rest.u16(0)?, 2) };
    match protocol {
        PPP_IPV4 => rest.skip(length, Layer::Ipv4),
        PPP_IPV6 => rest.skip(length, Layer::Ipv6),
        _ => Err(Skipped::NotTcp),
    }
}
