//! Reads the ICMP messages by which a router reports a packet that is too long for its next link
//! (RFC 792, RFC 1191, RFC 4443 section 3.2).

use super::ip::{self, TCP};
use super::{Layer, Rest};
use eifel_packet::ip::Addresses;
use eifel_packet::seq::Seq;

const DESTINATION_UNREACHABLE: u8 = 3;
const FRAGMENTATION_NEEDED: u8 = 4;
const PACKET_TOO_BIG: u8 = 2;

/// A router's report that it dropped a TCP segment, because the next link's MTU is smaller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooBig {
    /// Source and destination of the dropped segment.
    pub addresses: Addresses,
    /// Its source and destination ports.
    pub ports: (u16, u16),
    /// The tunnel of the message, as in [`Packet`](super::Packet).
    pub tunnel: u32,
    /// Sequence number of the dropped segment.
    pub seq: Seq,
    /// Length of its IP header with extensions, and of the whole packet, in bytes.
    pub lengths: (u32, u32),
    /// The longest IP packet that passes, in bytes. A router from before RFC 1191 does not name it.
    /// Then it is one byte less than the dropped packet.
    pub mtu: u32,
}

/// Reads the ICMP message in `rest`. Returns `None` for any other message, and if the quoted packet
/// is cut off or no TCP segment.
pub(super) fn too_big(rest: Rest<'_>, v6: bool, tunnel: u32) -> Option<TooBig> {
    let [kind, code] = rest.u16(0).ok()?.to_be_bytes();
    let mtu = if v6 { ip::word(rest, 4).ok()? } else { u32::from(rest.u16(6).ok()?) };
    let reports =
        if v6 { kind == PACKET_TOO_BIG } else { (kind, code) == (DESTINATION_UNREACHABLE, FRAGMENTATION_NEEDED) };
    if !reports {
        return None;
    }
    let (quoted, length) = ip::quoted(rest.skip(8, Layer::Ip).ok()?, v6).ok()?;
    if quoted.protocol != TCP || quoted.part.is_some() {
        return None;
    }
    Some(TooBig {
        addresses: quoted.addresses,
        ports: (quoted.rest.u16(0).ok()?, quoted.rest.u16(2).ok()?),
        tunnel,
        seq: Seq(ip::word(quoted.rest, 4).ok()?),
        lengths: (length.saturating_sub(quoted.rest.wire_len), length),
        mtu: if mtu == 0 { length.saturating_sub(1) } else { mtu },
    })
}
