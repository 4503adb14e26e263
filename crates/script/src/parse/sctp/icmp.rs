//! Reads ICMP messages about packets: `icmp unreachable frag_needed mtu N [sctp(TAG)]`.

use std::net::IpAddr;

use crate::error::Fault;
use crate::parse::cursor::Cursor;
use crate::sctp::packet::Icmp;
use eifel_sctp::IcmpError;

/// The largest MTU.
const MOST_BYTES: u64 = 65_535;

/// Reads `icmp unreachable CODE [mtu N] [sctp(TAG)]`.
pub(super) fn read(cursor: &mut Cursor<'_>, to: Option<IpAddr>) -> Result<Icmp, Fault> {
    const CODES: &str = "unreachable, and frag_needed mtu N, protocol_unreachable, host_unreachable, net_unreachable or \
                         port_unreachable, then [sctp(TAG)]";
    if !cursor.take_word("unreachable") {
        return Err(cursor.unfit(CODES));
    }
    let known = ["net_unreachable", "host_unreachable", "protocol_unreachable", "port_unreachable", "frag_needed"];
    let Some(code) = known.iter().position(|code| cursor.take_word(code)) else {
        return Err(cursor.unfit(CODES));
    };
    let mut mtu = 0;
    if known[code] == "frag_needed" {
        if !cursor.take_word("mtu") {
            return Err(cursor.unfit("mtu N"));
        }
        mtu = cursor.number("the next hop's MTU", MOST_BYTES)?;
    }
    // The codes of ICMPv4's type 3 are the indices of the list.
    let error = IcmpError::v4(3, code as u8, mtu as u16);
    cursor.need('[')?;
    if !cursor.take_word("sctp") {
        return Err(cursor.unfit("sctp(TAG)"));
    }
    cursor.need('(')?;
    let tag = cursor.number("the packet's verification tag", u32::MAX.into())?;
    cursor.need(')')?;
    cursor.need(']')?;
    Ok(Icmp { tag, to, error })
}
