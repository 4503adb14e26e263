//! Reads ICMP messages about packets: `icmp unreachable frag_needed mtu N [sctp(TAG)]`.

use std::net::IpAddr;

use crate::error::Fault;
use crate::parse::cursor::Cursor;
use eifel_sctp::IcmpError;

/// The largest MTU.
const MOST_BYTES: u64 = 65_535;

/// An ICMP message about a packet of this end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Icmp {
    /// The verification tag of that packet.
    pub(crate) tag: u32,
    /// Where it went; the peer's first address if it is not written.
    pub(crate) to: Option<IpAddr>,
    pub(crate) error: IcmpError,
}

/// Reads `icmp unreachable CODE [mtu N] [sctp(TAG)]`.
pub(super) fn read(cursor: &mut Cursor<'_>, to: Option<IpAddr>) -> Result<Icmp, Fault> {
    const CODES: &str = "unreachable, and frag_needed mtu N, protocol_unreachable, host_unreachable, net_unreachable or \
                         port_unreachable, then [sctp(TAG)]";
    if !cursor.take_word("unreachable") {
        return Err(cursor.unfit(CODES));
    }
    let error = if cursor.take_word("frag_needed") {
        if !cursor.take_word("mtu") {
            return Err(cursor.unfit("mtu N"));
        }
        IcmpError::TooBig { mtu: cursor.number("the next hop's MTU", MOST_BYTES)? }
    } else if cursor.take_word("protocol_unreachable") {
        IcmpError::NoSctp
    } else if ["host_unreachable", "net_unreachable", "port_unreachable"].iter().any(|code| cursor.take_word(code)) {
        IcmpError::Unreachable
    } else {
        return Err(cursor.unfit(CODES));
    };
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
