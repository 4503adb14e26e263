//! Link layers, numbered as in tcpdump.org's registry.

use super::{Layer, Rest, Skipped};

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// VLAN tags: the standard one, the provider's, and two from before the standard.
const VLANS: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
const PPPOE_SESSION: u16 = 0x8864;
const MPLS: [u16; 2] = [0x8847, 0x8848];
const TRANSPARENT_ETHERNET: u16 = 0x6558;
const PPP: u16 = 0x880b;
/// Smaller EtherTypes are lengths of IEEE 802.3 frames.
const LEAST_TYPE: u16 = 0x0600;

const PPP_IPV4: u16 = 0x0021;
const PPP_IPV6: u16 = 0x0057;

const AF_INET: u32 = 2;

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
        number => Err(Skipped::Link(number)),
    }
}

/// Skips one header below IP.
pub(super) fn step(rest: Rest<'_>) -> Result<Rest<'_>, Skipped> {
    match rest.layer {
        Layer::Ethernet => {
            let kind = rest.u16(12)?;
            rest.skip(14, if kind < LEAST_TYPE { Layer::Llc } else { Layer::Type(kind) })
        }
        Layer::Type(IPV4) => Ok(Rest { layer: Layer::Ipv4, ..rest }),
        Layer::Type(IPV6) => Ok(Rest { layer: Layer::Ipv6, ..rest }),
        Layer::Type(kind) if VLANS.contains(&kind) => {
            let kind = rest.u16(2)?;
            rest.skip(4, if kind < LEAST_TYPE { Layer::Llc } else { Layer::Type(kind) })
        }
        Layer::Type(PPPOE_SESSION) => rest.skip(6, Layer::Ppp),
        Layer::Type(kind) if MPLS.contains(&kind) => {
            let bottom = rest.bytes.get(2).ok_or(Skipped::Cut)? & 1 != 0;
            rest.skip(4, if bottom { Layer::Ip } else { rest.layer })
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
